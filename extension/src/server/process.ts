// Process of the language server: started in the interpreter of the first folder, restarted when that changes.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import {
  LanguageClient,
  State,
  type Executable,
  type LanguageClientOptions,
  type StaticFeature,
} from 'vscode-languageclient/node';
import { plain } from '../foreign';
import { probe, type Interpreter, type Interpreters } from './interpreter';
import { refusalOfBundled, refusalOfInstalled, type Refusal } from './probing';

export type ServerState =
  | { readonly kind: 'starting' | 'running' | 'stopped'; readonly interpreter: string }
  | { readonly kind: 'refused' | 'failed'; readonly message: string };

const CHOOSE = 'Choose Interpreter…';
const SETTINGS = 'Open Settings';
const LOG = 'Show Log';

export class Server implements vscode.Disposable {
  private readonly stateChanged = new vscode.EventEmitter<ServerState>();
  private running: LanguageClient | undefined;
  private interpreter: string | undefined;
  private lastMessage: string | undefined;
  private changing: Promise<void> = Promise.resolve();

  readonly onDidChangeState = this.stateChanged.event;

  /** `prepare` is called with each new client before it starts. */
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly interpreters: Interpreters,
    private readonly log: vscode.LogOutputChannel,
    private readonly options: () => LanguageClientOptions,
    private readonly prepare: (client: LanguageClient) => void,
  ) {}

  /** The client, if the server is up. */
  get client(): LanguageClient | undefined {
    return this.running?.isRunning() ? this.running : undefined;
  }

  /** The client once a start that is going on is over; undefined if it failed. */
  async whenStarted(): Promise<LanguageClient | undefined> {
    await this.changing;
    return this.client;
  }

  /** Starts it, or starts it again if another interpreter is to be taken; `isForced`: in any case. */
  async start(isForced = false): Promise<void> {
    const next = this.changing.then(() => this.change(isForced));
    this.changing = next.catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      this.log.error(message);
      this.set({ kind: 'failed', message: `The language server did not start: ${message}` });
      void this.tell(`Kinetoscope's language server did not start: ${message}`, [LOG]);
    });
    await this.changing;
  }

  private async change(isForced: boolean): Promise<void> {
    const chosen = await this.interpreters.choose(vscode.workspace.workspaceFolders?.[0]?.uri);
    if (!isForced && chosen.path === this.interpreter) return;
    await this.stop();
    this.interpreter = chosen.path;
    this.set({ kind: 'starting', interpreter: chosen.path });
    const command = await this.commandFor(chosen);
    if ('setting' in command) {
      this.log.error(command.message);
      this.set({ kind: 'refused', message: command.message });
      void this.tell(command.message, [CHOOSE, SETTINGS], `kinetoscope.${command.setting}`);
      return;
    }
    this.log.info(`starting the language server: ${[command.command, ...(command.args ?? [])].join(' ')}`);
    const client = new LanguageClient('kinetoscope', 'Kinetoscope', command, this.options());
    client.registerFeature(CAPABILITIES);
    client.onDidChangeState(({ newState }) => {
      if (client !== this.running) return;
      const kind = newState === State.Running ? 'running' : newState === State.Starting ? 'starting' : 'stopped';
      this.set({ kind, interpreter: chosen.path });
    });
    this.running = client;
    this.prepare(client);
    await client.start();
  }

  private async commandFor(chosen: Interpreter): Promise<Executable | Refusal> {
    const found = await probe(chosen.path);
    if ('setting' in found) return found;
    const strategy = vscode.workspace.getConfiguration('kinetoscope').get<string>('importStrategy');
    const folder = this.context.asAbsolutePath(join('extension', 'bundled'));
    const isInstalled = strategy === 'fromEnvironment';
    const refusal = isInstalled
      ? refusalOfInstalled(chosen.path, found)
      : refusalOfBundled(chosen.path, found, minorsIn(folder));
    if (refusal) return refusal;
    const args = ['-I', ...(isInstalled ? ['-m', 'kinetoscope_server'] : [join(folder, 'serve.py')])];
    // Not in the workspace, which the client would take: Windows looks for a bare `python` there first.
    return { command: chosen.path, args, options: { cwd: this.context.extensionPath } };
  }

  private async stop(): Promise<void> {
    const client = this.running;
    this.running = undefined;
    this.interpreter = undefined;
    if (client?.needsStop()) await client.stop();
  }

  private set(state: ServerState): void {
    void vscode.commands.executeCommand('setContext', 'kinetoscope.isReady', state.kind === 'running');
    this.stateChanged.fire(state);
  }

  /** Says what is wrong, once as long as it stays the same. */
  private async tell(message: string, buttons: string[], settings = ''): Promise<void> {
    if (message === this.lastMessage) return;
    this.lastMessage = message;
    const answer = await vscode.window.showErrorMessage(plain(message), ...buttons);
    if (answer === CHOOSE) await vscode.commands.executeCommand('kinetoscope.selectInterpreter');
    if (answer === SETTINGS) await openSettings(settings);
    if (answer === LOG) this.log.show();
  }

  dispose(): void {
    void this.stop();
    this.stateChanged.dispose();
  }
}

/** Those of the workspace where there is one: in a remote window, the user's tab has none of a machine's paths. */
async function openSettings(query: string): Promise<void> {
  const where = vscode.workspace.workspaceFolders ? 'openWorkspaceSettings' : 'openSettings';
  await vscode.commands.executeCommand(`workbench.action.${where}`, { query });
}

/** The CPython minors whose libraries the extension carries. */
function minorsIn(folder: string): readonly string[] {
  const file = join(folder, 'bundled.json');
  if (!existsSync(file)) return [];
  return (JSON.parse(readFileSync(file, 'utf8')) as { minors: string[] }).minors;
}

/** What of docs/lsp.md, "For richer clients", we take. */
const WISHES = {
  results: true,
  progress: true,
  save: true,
  choose: true,
  warm: true,
  runsChanged: true,
  swept: true,
  diagnosticsInHover: true,
  commandLinks: true,
};

const CAPABILITIES: StaticFeature = {
  fillClientCapabilities(capabilities) {
    const others = capabilities.experimental as object | undefined;
    capabilities.experimental = { ...others, kinetoscope: WISHES };
  },
  initialize() {
    // nothing to set up
  },
  getState: () => ({ kind: 'static' }),
  clear() {
    // nothing to take down
  },
};
