// Notification of progress with Cancel, which stays until it is ended.
import * as vscode from 'vscode';
import { plain } from '../foreign';

export interface ProgressNotification {
  report: (message: string) => void;
  end: () => void;
}

/** Shows a notification; `cancel` is called when a person cancels it. */
export function showProgress(title: string, cancel: () => void): ProgressNotification {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  let start: (progress: vscode.Progress<{ message: string }>) => void;
  const started = new Promise<vscode.Progress<{ message: string }>>((resolve) => (start = resolve));
  const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: plain(title) };
  void vscode.window.withProgress(options, async (progress, token) => {
    start(progress);
    token.onCancellationRequested(cancel);
    await ended;
  });
  return {
    report: (message) => void started.then((progress) => progress.report({ message: plain(message) })),
    end,
  };
}
