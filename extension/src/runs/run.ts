// Run as the user sees it: trust, the notification with phases and Cancel, and how it ended.
import * as vscode from 'vscode';
import {
  ErrorCodes,
  LSPErrorCodes,
  ResponseError,
  WorkDoneProgress,
  type LanguageClient,
} from 'vscode-languageclient/node';
import { harmless, inStatusBar, plain } from '../foreign';
import { showProgress, type ProgressNotification } from '../server/notification';
import type { Offer, ProfileAnswer, ProfileParams, ProgressParams } from '../server/protocol/profiling';

const DETAILS = 'Details';
const SHOW_OUTPUT = 'Show Output';
const MANAGE_TRUST = 'Manage Workspace Trust';
const OPEN_SETTING = 'Open Setting';
const EXPLAINED_THE_END = 'explainedTheEarlyEnd';
const SECONDS_SHOWN = 8;

/** What to profile. Without a line the whole file; without a name the region that holds the line. */
export type Target = Omit<ProfileParams, 'replace' | 'workDoneToken'>;

export class Runs implements vscode.Disposable {
  private readonly phaseChanged = new vscode.EventEmitter<ProgressParams>();
  private begun = 0;
  private readonly tokens = new Set<string | number>();
  private readonly sources = new Set<vscode.CancellationTokenSource>();

  readonly onDidChangePhase = this.phaseChanged.event;

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly output: vscode.OutputChannel,
    private readonly memory: vscode.Memento,
    private readonly interpreterFor: (uri: string) => Promise<{ path: string; client: LanguageClient } | undefined>,
  ) {}

  /** Takes a `kinetoscope/progress`. */
  take(progress: ProgressParams): void {
    void vscode.commands.executeCommand('setContext', 'kinetoscope.isProfiling', progress.phase !== null);
    this.phaseChanged.fire(progress);
  }

  /** Whether the progress of this token is shown by the run's own notification. */
  shows(token: string | number): boolean {
    return this.tokens.has(token);
  }

  /** The server has gone, and the run with it. */
  end(): void {
    this.take({ uri: '', title: '', phase: null });
  }

  async profile(client: LanguageClient, target: Target): Promise<void> {
    if (!(await isTrusted())) return;
    this.warnOfTheEarlyEnd();
    const name = plain(target.name ?? vscode.workspace.asRelativePath(vscode.Uri.parse(target.uri)));
    const source = new vscode.CancellationTokenSource();
    // Without a token the server would show a progress of its own beside this one.
    const workDoneToken = `run-${String(++this.begun)}`;
    this.tokens.add(workDoneToken);
    this.sources.add(source);
    // Not before the run has begun: what is asked until then may never be answered.
    let notification: ProgressNotification | undefined;
    const watching = client.onProgress(WorkDoneProgress.type, workDoneToken, (report) => {
      if (report.kind === 'begin') notification = showProgress(report.title, () => source.cancel());
      if (report.kind === 'report' && report.message) notification?.report(report.message);
      if (report.kind === 'end') notification?.end();
    });
    const end = (): void => {
      notification?.end();
      watching.dispose();
      this.tokens.delete(workDoneToken);
      this.sources.delete(source);
      source.dispose();
    };
    try {
      const params: ProfileParams = { ...target, replace: false, workDoneToken };
      const answer = await client.sendRequest<ProfileAnswer>('kinetoscope/profile', params, source.token).finally(end);
      const offer = await this.tell(answer);
      if (offer) await this.accept(client, target, offer);
    } catch (error) {
      const code = error instanceof ResponseError ? error.code : undefined;
      if (code === LSPErrorCodes.RequestCancelled) {
        vscode.window.setStatusBarMessage('The run was cancelled.', SECONDS_SHOWN * 1000);
      } else if (code === ErrorCodes.PendingResponseRejected) {
        void vscode.window.showErrorMessage(
          `Kinetoscope's server ended while it was profiling ${name}. Profile it again.`,
        );
      } else {
        throw harmless(error);
      }
    }
  }

  private async accept(client: LanguageClient, target: Target, { command, choose, plain }: Offer): Promise<void> {
    const same = { ...target, arguments: null };
    if (choose !== 'interpreter') return this.profile(client, { ...same, command, choose, plain });
    const chosen = await this.interpreterFor(target.uri); // the server may be another one then
    if (!chosen) return undefined;
    const again = { ...command, interpreter: chosen.path };
    return this.profile(chosen.client, { ...same, command: again, choose: null });
  }

  /** Shown once, with the first run: what a script saves on Ctrl-C it saves then, too. */
  private warnOfTheEarlyEnd(): void {
    if (this.memory.get(EXPLAINED_THE_END) || vscode.workspace.getConfiguration('kinetoscope').get('toTheEnd')) return;
    void this.memory.update(EXPLAINED_THE_END, true);
    const answered = vscode.window.showInformationMessage(
      'Kinetoscope ends a script once enough is measured, as Ctrl-C would: its finally blocks and exit handlers run, ' +
        'even if they save a checkpoint. The setting kinetoscope.toTheEnd lets scripts run to the end.',
      OPEN_SETTING,
    );
    void answered.then((answer) => {
      if (answer) void vscode.commands.executeCommand('workbench.action.openSettings', 'kinetoscope.toTheEnd');
    });
  }

  /** Cancels what was asked for here, begun or not; false if there is nothing. */
  cancel(): boolean {
    for (const source of this.sources) source.cancel();
    return this.sources.size > 0;
  }

  /** Says how it ended; gives what was chosen of what can be done about it. */
  private async tell(answer: ProfileAnswer): Promise<Offer | undefined> {
    const { how, message, offers } = answer;
    if (how === 'none') return undefined;
    if (how === 'measured' && offers.length > 0) return this.offer(answer);
    if (how === 'measured' || how === 'cancelled') {
      this.log.info(message);
      vscode.window.setStatusBarMessage(inStatusBar(message), SECONDS_SHOWN * 1000);
      return undefined;
    }
    this.log[how === 'failed' ? 'error' : 'warn'](message);
    const show = how === 'failed' ? vscode.window.showErrorMessage : vscode.window.showWarningMessage;
    const chosen = await show(plain(message), ...offers.map((each) => each.title), SHOW_OUTPUT);
    if (chosen === SHOW_OUTPUT) this.output.show();
    return offers.find((each) => each.title === chosen);
  }

  /** What was measured stands at no line, and more can be. */
  private async offer({ message, offers, run }: ProfileAnswer): Promise<Offer | undefined> {
    this.log.info(message);
    const titles = offers.map((each) => each.title);
    const chosen = await vscode.window.showInformationMessage(plain(message), ...titles, DETAILS);
    if (chosen === DETAILS) void vscode.commands.executeCommand('kinetoscope.showRun', { id: run });
    return offers.find((each) => each.title === chosen);
  }

  dispose(): void {
    this.cancel();
    this.phaseChanged.dispose();
  }
}

/** Whether code of the workspace may run; says so where it may not. */
export async function isTrusted(): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const answer = await vscode.window.showWarningMessage(
    'Profiling runs the code of this workspace, which is not trusted.',
    MANAGE_TRUST,
  );
  if (answer === MANAGE_TRUST) await vscode.commands.executeCommand('workbench.trust.manage');
  return false;
}
