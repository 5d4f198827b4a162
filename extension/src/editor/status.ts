// Status bar (last run, device, stale or not) and language status (the server, its log, its restart).
import * as vscode from 'vscode';
import { inStatusBar, plain } from '../foreign';
import type { WarmParams } from '../server/protocol/profiling';
import type { ShownRegion } from '../server/protocol/results';
import type { Results } from './results';
import type { Runs } from '../runs/run';
import type { Server, ServerState } from '../server/process';
import { baselineText, runTooltip, statusText, warmText } from './status_text';

const PYTHON: vscode.DocumentSelector = { language: 'python', scheme: 'file' };

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('kinetoscope.run', vscode.StatusBarAlignment.Right, 90);
  private readonly server = vscode.languages.createLanguageStatusItem('kinetoscope.server', PYTHON);
  private readonly restart = vscode.languages.createLanguageStatusItem('kinetoscope.restart', PYTHON);
  private readonly watching: vscode.Disposable[];
  private phase: string | null = null;
  /** There only while something is made ready, or is. */
  private nextRun: vscode.LanguageStatusItem | undefined;

  constructor(
    server: Server,
    runs: Runs,
    private readonly results: Results,
  ) {
    this.item.name = 'Kinetoscope: Last Run';
    this.server.name = 'Kinetoscope: Server';
    this.restart.name = 'Kinetoscope: Restart';
    this.restart.text = 'Kinetoscope server';
    this.restart.command = { command: 'kinetoscope.restartServer', title: 'Restart' };
    this.watching = [
      server.onDidChangeState((state) => this.showServer(state)),
      runs.onDidChangePhase(({ phase }) => {
        this.phase = phase;
        this.showRun();
      }),
      results.onDidChange(() => this.showRun()),
      vscode.window.onDidChangeActiveTextEditor(() => this.showRun()),
    ];
    this.showRun();
  }

  /** Takes a `kinetoscope/warm`. */
  takeWarm(notice: WarmParams): void {
    if (notice.state === 'none') {
      this.nextRun?.dispose();
      this.nextRun = undefined;
      return;
    }
    this.nextRun ??= vscode.languages.createLanguageStatusItem('kinetoscope.nextRun', PYTHON);
    this.nextRun.name = 'Kinetoscope: Next Run';
    this.nextRun.busy = notice.state === 'preparing';
    this.nextRun.text = warmText(notice);
    this.nextRun.command = {
      command: 'workbench.action.openSettings',
      title: 'Setting',
      arguments: ['kinetoscope.prepare'],
    };
  }

  private showServer(state: ServerState): void {
    if (state.kind !== 'running') this.takeWarm({ state: 'none', gpu: false, memory_bytes: null });
    const isBad = 'message' in state;
    this.server.busy = state.kind === 'starting';
    this.server.severity = isBad ? vscode.LanguageStatusSeverity.Error : vscode.LanguageStatusSeverity.Information;
    this.server.text = isBad ? 'Kinetoscope is not running' : `Kinetoscope: ${state.kind}`;
    this.server.detail = plain(isBad ? state.message : state.interpreter); // links would be links there
    this.server.command =
      state.kind === 'refused'
        ? { command: 'kinetoscope.selectInterpreter', title: 'Choose Interpreter…' }
        : { command: 'kinetoscope.showLog', title: 'Show Log' };
  }

  private showRun(): void {
    if (this.phase !== null) {
      this.item.text = `$(sync~spin) ${inStatusBar(this.phase)}`;
      this.item.tooltip = 'Kinetoscope: profiling. Click to cancel.';
      this.item.command = 'kinetoscope.cancel';
      this.item.show();
      return;
    }
    const editor = vscode.window.activeTextEditor;
    const newest = editor && newestOf(this.results.of(editor.document));
    if (!editor || !newest) {
      this.item.hide();
      return;
    }
    const isStale = this.results.of(editor.document).some((each) => each.stale.length > 0);
    const baseline = this.results.baselineOf(editor.document);
    const texts = [statusText(newest, isStale), ...baselineText(baseline, new Date())];
    this.item.text = `$(dashboard) ${inStatusBar(texts.join(' · '))}`;
    this.item.tooltip = runTooltip(newest, isStale, new Date());
    this.item.command = 'kinetoscope.showDetails';
    this.item.show();
  }

  dispose(): void {
    this.nextRun?.dispose();
    for (const each of [this.item, this.server, this.restart, ...this.watching]) each.dispose();
  }
}

/** The region that was measured last. One without times does not tell what it ran on. */
function newestOf(shown: readonly ShownRegion[]): ShownRegion | undefined {
  const regions = shown.filter((each) => each.measures.cpu_total_ns !== null);
  return regions.reduce<ShownRegion | undefined>(
    (newest, each) => (newest && (newest.started ?? '') >= (each.started ?? '') ? newest : each),
    undefined,
  );
}
