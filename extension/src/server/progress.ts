// Progress that the server begins by itself, such as a script's own clean-up: a notification with Cancel. The client would
// put it into the status bar, where it is cut and cannot be cancelled.
import * as vscode from 'vscode';
import { WorkDoneProgressCancelNotification, type LanguageClient, type Middleware } from 'vscode-languageclient/node';
import { plain } from '../foreign';

interface Shown {
  report: (message: string) => void;
  end: () => void;
}

/** The client's middleware; progress that the extension shows by itself is left to it. */
export function serverProgress(
  client: () => LanguageClient | undefined,
  isOurs: (token: string | number) => boolean,
): NonNullable<Middleware['handleWorkDoneProgress']> {
  const shown = new Map<string | number, Shown>();
  return (token, params, next) => {
    if (isOurs(token)) {
      next(token, params);
      return;
    }
    if (params.kind === 'begin') {
      show(token, plain(params.title));
      return;
    }
    if (params.message) shown.get(token)?.report(plain(params.message));
    if (params.kind === 'end') {
      shown.get(token)?.end();
      shown.delete(token);
      next(token, params);
    }
  };

  function show(token: string | number, title: string): void {
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title };
    let isOver = false;
    let last: string | undefined;
    let tell = (message: string): void => {
      last = message;
    };
    let resolve = (): void => {
      isOver = true;
    };
    shown.set(token, {
      report: (message) => tell(message),
      end: () => resolve(),
    });
    void vscode.window.withProgress(options, (progress, cancelled) => {
      if (isOver) return Promise.resolve();
      tell = (message) => {
        progress.report({ message });
      };
      if (last !== undefined) tell(last);
      cancelled.onCancellationRequested(() => {
        void client()?.sendNotification(WorkDoneProgressCancelNotification.type, { token });
      });
      return new Promise<void>((done) => {
        resolve = done;
      });
    });
  }
}
