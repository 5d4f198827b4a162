// The details panel on the side of VS Code: one for a window. It fetches runs and carries out what its web view asks for.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { plain } from '../foreign';
import type { RegionPlace, RunRegion, RunResult, TracePlace } from '../server/protocol/results';
import type { SweepAnswer } from '../server/protocol/sweep';
import { Comparing, type ComparingActions } from './comparing';
import { documentOf } from './document';
import { listed, regionAt, timesOf } from './listing';
import type { KeptState, ToPanel, ToView, View } from './messages';
import { savedPage } from './page';

const NO_SERVER = 'The language server is not running. Open a Python file to start it.';
export const VIEW_TYPE = 'kinetoscope.details';

export interface PanelActions extends ComparingActions {
  openTrace: (place: TracePlace) => void;
  /** Shows the page of a finding's code. */
  explain: (code: string) => void;
  /** Runs the file again, with a region for each module. */
  profileModules: (uri: string) => void;
  /** The sweep of that id, or the `last`. */
  sweep: (id: string) => Promise<SweepAnswer> | undefined;
  /** Shows a setting of a sweep at the lines; the run that it chose, null where it is no longer stored. */
  showSetting: (sweep: string, setting: number, region: number) => Promise<string | null>;
}

export class Details implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  /** Counts what was asked for. */
  private asking = 0;
  /** Shown in place of a run. */
  private sweep: string | null = null;
  private uri: string | null = null;
  /** Shown in place of the newest run of the file. */
  private runId: string | null = null;
  private run: RunResult | null = null;
  /** Asked for in place of the baseline. */
  private other: string | null = null;
  private readonly comparing: Comparing;
  /** Asked for and not yet shown. */
  private isToCompare = false;
  /** Whether the web view has what the run is compared with. */
  private hasComparison = false;
  /** Asked for and not yet chosen: its run was not there, or the web view not ready. */
  private wanted: RegionPlace | null = null;
  private isLoading = false;
  private isReady = false;
  private isOutdated = false;
  private readonly serializer: vscode.Disposable;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly actions: PanelActions,
  ) {
    this.comparing = new Comparing(actions);
    this.serializer = vscode.window.registerWebviewPanelSerializer(VIEW_TYPE, {
      deserializeWebviewPanel: (panel, state: unknown) => {
        const kept = state as KeptState | undefined;
        this.sweep = kept?.sweep ?? null;
        this.uri = kept?.uri ?? null;
        this.take(panel);
        return Promise.resolve();
      },
    });
  }

  dispose(): void {
    this.serializer.dispose();
    this.panel?.dispose();
  }

  /** Shows the newest run of a file and chooses the region; without a place, the newest run of all. */
  show(place?: RegionPlace): Promise<void> {
    return this.open(place?.uri ?? null, null, place ?? null);
  }

  /** Shows the run of that id. */
  showOne(id: string): Promise<void> {
    return this.open(null, id, null);
  }

  /** Shows a run beside another one, which was before it. */
  showCompared(run: string, other: string): Promise<void> {
    return this.open(null, run, null, other);
  }

  /** Shows the sweep of that id. */
  showSweep(sweep: string): Promise<void> {
    return this.open(null, null, null, null, sweep);
  }

  private open(
    uri: string | null,
    runId: string | null,
    wanted: RegionPlace | null,
    other: string | null = null,
    sweep: string | null = null,
  ): Promise<void> {
    this.asking += 1;
    this.sweep = sweep;
    this.uri = uri;
    this.runId = runId;
    this.other = other;
    this.isToCompare = other !== null;
    this.wanted = wanted;
    void vscode.commands.executeCommand('setContext', 'kinetoscope.hasShownDetails', true);
    if (this.panel) {
      this.panel.reveal(undefined, true);
      return this.load();
    }
    this.take(
      vscode.window.createWebviewPanel(
        VIEW_TYPE,
        'Kinetoscope',
        { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
        {},
      ),
    );
    return Promise.resolve(); // the web view says when it is ready
  }

  /** Shows a run and chooses the region that it measured at a place. */
  showAt(place: RegionPlace, run: string): Promise<void> {
    return this.open(place.uri, run, place);
  }

  /** Results have changed. */
  update(): void {
    if (this.panel?.visible) void this.load();
    else this.isOutdated = true;
  }

  /** Runs are stored, pinned or deleted: another one may be the baseline. */
  compareAgain(): void {
    this.comparing.forget();
    this.update();
  }

  private take(panel: vscode.WebviewPanel): void {
    this.panel?.dispose();
    this.panel = panel;
    this.isReady = false;
    const folder = vscode.Uri.joinPath(this.context.extensionUri, 'extension', 'dist');
    const { webview } = panel;
    webview.options = { enableScripts: true, localResourceRoots: [folder] };
    panel.onDidDispose(() => {
      if (this.panel === panel) this.panel = undefined;
    });
    panel.onDidChangeViewState(() => {
      // A hidden web view is made anew when it is shown, and says again when it listens.
      if (!panel.visible) this.isReady = false;
      else if (this.isOutdated) void this.load();
    });
    webview.onDidReceiveMessage((message: ToPanel) => this.answer(message));
    webview.html = documentOf({
      script: webview.asWebviewUri(vscode.Uri.joinPath(folder, 'details.js')).toString(),
      style: webview.asWebviewUri(vscode.Uri.joinPath(folder, 'details.css')).toString(),
      source: webview.cspSource,
      nonce: randomBytes(16).toString('hex'),
    });
  }

  /** Fetches the run and shows it. Changes that come meanwhile are fetched once, after it. */
  private async load(): Promise<void> {
    this.isOutdated = true;
    if (this.isLoading || !this.isReady) return; // what a web view is sent before it listens is lost
    this.isLoading = true;
    try {
      while (this.isOutdated) {
        this.isOutdated = false;
        await this.fetch();
      }
    } finally {
      this.isLoading = false;
    }
  }

  private async fetch(): Promise<void> {
    if (this.sweep !== null) return this.fetchSweep(this.sweep);
    const { asking, uri, runId: id } = this;
    try {
      const asked = this.actions.fetch({ uri, run: id });
      if (asked === undefined) {
        this.tell(NO_SERVER);
        return;
      }
      const run = await asked;
      if (asking !== this.asking) return; // something else was asked for meanwhile
      this.run = run;
    } catch (error) {
      this.tell(`The run could not be read: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    if (this.run === null && id !== null) this.tell('This run is no longer stored.');
    else if (this.run === null) this.tell('Nothing has been measured yet. Click “▷ Profile” above a region.');
    else {
      this.showRun(this.run, uri);
      await this.compare(this.run);
    }
  }

  private async fetchSweep(id: string): Promise<void> {
    const { asking } = this;
    try {
      const asked = this.actions.sweep(id);
      if (asked === undefined) {
        this.tell(NO_SERVER);
        return;
      }
      const sweep = await asked;
      if (asking !== this.asking) return;
      if (this.panel) this.panel.title = 'Kinetoscope: sweep';
      this.post({ kind: 'sweep', sweep });
    } catch (error) {
      this.tell(`The sweep could not be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private showRun(run: RunResult, uri: string | null): void {
    if (this.panel) this.panel.title = `Kinetoscope: ${run.title}`;
    const choose = this.wanted === null ? null : regionAt(run, this.wanted);
    this.wanted = null;
    this.post({ kind: 'run', uri, run: listed(run), choose });
  }

  private async compare(run: RunResult): Promise<void> {
    const { other } = this;
    try {
      const isNew = await this.comparing.ask({ run: run.id, other });
      if (!isNew && this.hasComparison) return;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (this.isToCompare) void vscode.window.showErrorMessage(`The runs cannot be compared: ${plain(why)}`);
    }
    const { comparison } = this.comparing;
    this.post({ kind: 'comparison', run: run.id, comparison, isAskedFor: this.isToCompare });
    this.hasComparison = true;
    this.isToCompare = false;
  }

  private tell(message: string): void {
    this.post({ kind: 'nothing', message });
  }

  private post(message: ToView): void {
    void this.panel?.webview.postMessage(message);
  }

  private async answer(message: ToPanel): Promise<void> {
    switch (message.kind) {
      case 'ready':
        this.isReady = true;
        this.hasComparison = false;
        return this.load();
      case 'times': {
        const times = this.run?.id === message.run ? timesOf(this.run, message.region) : null;
        if (times) this.post({ kind: 'times', run: message.run, region: message.region, times });
        return;
      }
      case 'before':
        return this.answerBefore(message.run, message.region);
      case 'reveal':
        return reveal(regionOf(this.run, message.region), this.panel?.viewColumn, message.focus);
      case 'setting':
        return this.showSetting(message.sweep, message.setting, message.region);
      case 'trace':
        if (this.run) {
          const { region, finding } = message;
          this.actions.openTrace({ run: this.run.id, region, ...(finding === undefined ? {} : { finding }) });
        }
        return;
      case 'explain':
        this.actions.explain(message.code);
        return;
      case 'modules':
        if (this.run?.script) this.actions.profileModules(this.run.script);
        return;
      case 'copy':
        await vscode.env.clipboard.writeText(message.text);
        vscode.window.setStatusBarMessage(`Copied ${message.what}`, 4000);
        return;
      case 'save':
        return this.save(message.view);
    }
  }

  private async answerBefore(run: string, index: number): Promise<void> {
    const region = this.run?.id === run ? regionOf(this.run, index) : undefined;
    if (!region) return;
    const before = await this.comparing.regionBefore(region).catch(() => null); // what has no lanes says so
    this.post({ kind: 'before', run, region: index, before });
  }

  /** Shows a setting of a sweep at the lines, and the line of a region. */
  private async showSetting(id: string, setting: number, region: number): Promise<void> {
    const run = await this.actions.showSetting(id, setting, region);
    if (run === null) return; // the server has said why
    const [shown, sweep] = await Promise.all([this.actions.fetch({ uri: null, run }), this.actions.sweep(id)]);
    const name = sweep?.sweep.regions[region]?.cells[setting]?.name;
    const found = shown?.regions.find((each) => each.measures.name === name);
    await reveal(found, this.panel?.viewColumn, false);
  }

  private async save(view: View): Promise<void> {
    const { run } = this;
    if (!run) return;
    const { comparison } = this.comparing;
    const known = comparison && { comparison, before: await this.comparing.runBefore().catch(() => null) };
    const name = `${run.title.replace(/[^\w.-]+/g, '_')}.html`;
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const target = await vscode.window.showSaveDialog({
      title: 'Save what the panel shows as a web page',
      filters: { 'Web page': ['html'] },
      ...(folder ? { defaultUri: vscode.Uri.joinPath(folder, name) } : {}),
    });
    if (!target) return;
    const style = vscode.Uri.joinPath(this.context.extensionUri, 'extension', 'dist', 'details.css');
    const css = new TextDecoder().decode(await vscode.workspace.fs.readFile(style));
    await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(savedPage(run, view, css, known)));
    const open = 'Open';
    if ((await vscode.window.showInformationMessage(`Saved ${plain(target.fsPath)}`, open)) === open) {
      await vscode.env.openExternal(target);
    }
  }
}

function regionOf(run: RunResult | null, index: number): RunRegion | undefined {
  return run?.regions.find((each) => each.index === index);
}

/** Shows the line of a region in an editor, which the panel in that column does not cover. */
async function reveal(
  region: RunRegion | undefined,
  panel: vscode.ViewColumn | undefined,
  focus: boolean,
): Promise<void> {
  if (region?.uri == null || region.row === null) return;
  const uri = vscode.Uri.parse(region.uri, true);
  const place = new vscode.Position(region.row, 0);
  const shown = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
  await vscode.window.showTextDocument(uri, {
    viewColumn: shown?.viewColumn ?? besides(panel),
    preserveFocus: !focus,
    selection: new vscode.Range(place, place),
  });
}

/** A column that the panel does not cover. */
function besides(column: vscode.ViewColumn | undefined): vscode.ViewColumn {
  return column === vscode.ViewColumn.One ? vscode.ViewColumn.Beside : vscode.ViewColumn.One;
}
