// Entry point: creates the parts of the extension and connects them.
import { join } from 'node:path';
import * as vscode from 'vscode';
import {
  MessageType,
  type LanguageClient,
  type LanguageClientOptions,
  type LogMessageParams,
} from 'vscode-languageclient/node';
import { executeCommand, type Services } from './commands';
import { Decorations } from './editor/decorations';
import { spacedTables } from './editor/hover_tables';
import { Details } from './details/panel';
import { openExample } from './example';
import { Interpreters } from './server/interpreter';
import { showDocument } from './editor/pages';
import type { ProgressParams, WarmParams } from './server/protocol/profiling';
import type { ResultsParams, RunRow } from './server/protocol/results';
import { Results } from './editor/results';
import { choose } from './runs/choosing';
import { compareWith } from './runs/compare_with';
import type { Loading } from './runs/loading';
import { RunList } from './runs/list';
import { isTrusted, Runs } from './runs/run';
import { save } from './runs/saving';
import { TraceFiles, TRACE_FILE } from './runs/trace_file';
import { chooseInterpreter } from './server/picker';
import { Server } from './server/process';
import { serverProgress } from './server/progress';
import { completed } from './server/settings';
import { Status } from './editor/status';
import { Traces } from './editor/trace';
import { wrappingCommands } from './editor/wrapping';

/** The commands that links of a hover may run. */
const LINKED = ['profileRegion', 'openTrace', 'openTraceAt', 'showDetails', 'clear'].map((id) => `kinetoscope.${id}`);

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Kinetoscope Log', { log: true });
  const output = vscode.window.createOutputChannel('Kinetoscope');
  const interpreters = new Interpreters();
  const results = new Results();
  const finder = context.asAbsolutePath(join('extension', 'bundled', 'kinetoscope_core', 'run', 'pythons.py'));
  const pick = (uri: vscode.Uri | undefined): Promise<string | undefined> =>
    chooseInterpreter(client(), interpreters, finder, uri);
  const runs = new Runs(log, output, context.workspaceState, async (uri) => {
    const path = await pick(vscode.Uri.parse(uri));
    if (!path) return undefined;
    await server.start(); // in that one
    const started = client();
    return started && { path, client: started };
  });
  const traces = new Traces();
  const client = (): LanguageClient | undefined => server.client;
  const details = new Details(context, {
    fetch: (params) => client()?.sendRequest('kinetoscope/run', params),
    compare: (params) => client()?.sendRequest('kinetoscope/comparison', params),
    openTrace: (place) => {
      const running = client();
      if (running) void traces.open(running, place);
    },
    explain: (code) => {
      void vscode.commands.executeCommand('kinetoscope.explain', code);
    },
    profileModules: (uri) => {
      void vscode.commands.executeCommand('kinetoscope.profileModules', uri);
    },
    sweep: (sweep) => client()?.sendRequest('kinetoscope/sweep', { sweep }),
    showSetting: async (...of) =>
      (await vscode.commands.executeCommand<string | undefined>('kinetoscope.showSetting', ...of)) ?? null,
  });
  const list = new RunList(client);
  const loading: Loading = { client: () => server.whenStarted(), show: (id) => details.showOne(id) };
  const openTrace = (id: string): unknown => {
    const running = client();
    return running && traces.open(running, { run: id, region: null });
  };
  const services: Services = { runs, results, traces, details, loading, client };
  const run = executeCommand(services);

  let starts = 0;
  const options = (start = ++starts): LanguageClientOptions => ({
    documentSelector: [{ language: 'python', scheme: 'file' }],
    outputChannel: log,
    markdown: { isTrusted: { enabledCommands: LINKED } },
    middleware: {
      executeCommand: (command, args, next) => run(command, args, next),
      ...spacedTables,
      workspace: {
        // A client whose server was replaced would start it again and show a stack; the next server asks by itself.
        didChangeConfiguration: async (sections, next) => {
          await new Promise(setImmediate); // the change may be one for which the server is replaced
          await server.whenStarted();
          if (client() && start === starts) await next(sections);
        },
        configuration: async (params, token, next) => {
          const answer = await next(params, token);
          return Array.isArray(answer) ? completed(params, answer, interpreters) : answer;
        },
      },
      handleWorkDoneProgress: serverProgress(client, (token) => runs.shows(token)),
      window: { showDocument },
    },
  });
  const prepare = (started: LanguageClient): void => {
    // The client would put time and level before each line of a script.
    started.onNotification('window/logMessage', ({ type, message }: LogMessageParams) => {
      if (type === MessageType.Log) output.appendLine(message);
      else if (type === MessageType.Error) log.error(message);
      else if (type === MessageType.Warning) log.warn(message);
      else log.info(message);
    });
    started.onNotification('kinetoscope/results', (params: ResultsParams) => results.take(params));
    started.onNotification('kinetoscope/progress', (params: ProgressParams) => runs.take(params));
    started.onNotification('kinetoscope/warm', (params: WarmParams) => status.takeWarm(params));
    started.onRequest('kinetoscope/choose', choose);
    started.onNotification('kinetoscope/swept', ({ sweep }: { sweep: string }) => details.showSweep(sweep));
    started.onNotification('kinetoscope/runsChanged', () => {
      list.refresh();
      details.compareAgain();
    });
    started.onRequest('kinetoscope/save', async ({ uris }: { uris: string[] }) => {
      const isSaved = await save(uris);
      if (isSaved === undefined) runs.cancel();
      return isSaved ?? false;
    });
  };
  const server = new Server(context, interpreters, log, options, prepare);
  const status = new Status(server, runs, results);
  const readSettings = async (): Promise<void> => {
    await client()?.sendNotification('workspace/didChangeConfiguration', { settings: null });
  };

  context.subscriptions.push(
    log,
    output,
    interpreters,
    results,
    runs,
    list,
    traces,
    details,
    server,
    new Decorations(results),
    status,
    interpreters.onDidChange(async () => {
      await server.start();
      await readSettings();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(readSettings),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('kinetoscope.importStrategy')) void server.start(true);
      if (change.affectsConfiguration('editor.inlayHints.enabled')) void readSettings();
    }),
    results.onDidChange(() => details.update()),
    server.onDidChangeState(({ kind }) => {
      list.refresh();
      if (kind === 'running') {
        details.update();
      } else {
        results.clear();
        runs.end();
      }
    }),
    ...wrappingCommands(),
    vscode.commands.registerCommand('kinetoscope.restartServer', () => server.start(true)),
    vscode.commands.registerCommand('kinetoscope.showLog', () => log.show()),
    vscode.commands.registerCommand('kinetoscope.showRun', (row: RunRow) => details.showOne(row.id)),
    vscode.commands.registerCommand('kinetoscope.compareRun', async (row: RunRow) => {
      const running = client();
      const sides = running && (await compareWith(running, row));
      if (sides?.other) await details.showCompared(sides.run, sides.other);
    }),
    vscode.commands.registerCommand('kinetoscope.openRunTrace', (row: RunRow) => openTrace(row.id)),
    vscode.commands.registerCommand('kinetoscope.loadTraceFile', async (uri: vscode.Uri, chosen?: vscode.Uri[]) => {
      await server.whenStarted();
      const files = (chosen ?? [uri]).map((each) => each.toString());
      await vscode.commands.executeCommand('kinetoscope.loadTrace', files, []);
    }),
    vscode.window.registerCustomEditorProvider(TRACE_FILE, new TraceFiles(loading, openTrace)),
    vscode.commands.registerCommand('kinetoscope.unpinBaseline', (row?: RunRow) =>
      vscode.commands.executeCommand('kinetoscope.pinBaseline', row, false),
    ),
    vscode.commands.registerCommand('kinetoscope.unpinRun', (row: RunRow) =>
      vscode.commands.executeCommand('kinetoscope.pinRun', row, false),
    ),
    vscode.commands.registerCommand(
      'kinetoscope.selectInterpreter',
      async () => (await isTrusted()) && pick(vscode.window.activeTextEditor?.document.uri),
    ),
    vscode.commands.registerCommand('kinetoscope.openExample', () => openExample(context)),
  );
  void server.start();
}
