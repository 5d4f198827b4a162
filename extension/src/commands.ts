// Commands of the extension. The server's own ids come through the client's middleware, with the arguments that its lenses,
// hints and actions carry, or with none from palette and menus.
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Details } from './details/panel';
import { chooseResult, openMeasured } from './editor/choosing';
import type { RegionPlace, RunRow } from './server/protocol/results';
import type { Results } from './editor/results';
import { isSureToDelete } from './runs/list';
import { chooseTraces, loadTraces, tellLoaded, type Loading } from './runs/loading';
import { isTrusted, type Runs } from './runs/run';
import { askForSweep } from './runs/sweeping';
import type { Traces } from './editor/trace';

/** How often *Profile 5 Times* runs: as many processes as two sides need for a verdict. */
const TIMES = 5;

type Next = (command: string, args: unknown[]) => unknown;

export interface Services {
  readonly runs: Runs;
  readonly results: Results;
  readonly traces: Traces;
  readonly details: Details;
  readonly loading: Loading;
  readonly client: () => LanguageClient | undefined;
}

/** The client's middleware for `workspace/executeCommand`. */
export function executeCommand(services: Services): (command: string, args: unknown[], next: Next) => Promise<unknown> {
  return async (command, args, next) => {
    const client = services.client();
    if (!client) return undefined;
    switch (command) {
      case 'kinetoscope.profileFile': {
        const uri = uriIn(args) ?? activeUri();
        return uri ? services.runs.profile(client, { uri, line: null, name: null, arguments: null }) : tellNoFile();
      }
      case 'kinetoscope.profileModules': {
        const uri = uriIn(args) ?? activeUri();
        if (!uri) return tellNoFile();
        const modules = args[1] === false ? false : {};
        return services.runs.profile(client, { uri, line: null, name: null, arguments: null, modules });
      }
      case 'kinetoscope.profileRegion': {
        const target = placeIn(args) ?? cursor();
        return target ? services.runs.profile(client, { ...target, arguments: null }) : tellNoFile();
      }
      case 'kinetoscope.profileWithArguments':
        return profileWithArguments(services, client, args);
      case 'kinetoscope.profileWith': {
        const uri = uriIn(args) ?? activeUri();
        if (!uri) return tellNoFile();
        const target = placeIn(args) ?? { uri, line: null, name: null };
        return services.runs.profile(client, { ...target, arguments: null, choose: 'run' });
      }
      case 'kinetoscope.profileTimes': {
        const uri = uriIn(args) ?? activeUri();
        if (!uri) return tellNoFile();
        const target = placeIn(args) ?? { uri, line: null, name: null };
        return services.runs.profile(client, { ...target, arguments: null, times: timesIn(args) ?? TIMES });
      }
      case 'kinetoscope.measureMore': {
        const [place, times] = [placeIn(args), timesIn(args)];
        return place && times && services.runs.profile(client, { ...place, arguments: null, times, more: true });
      }
      case 'kinetoscope.sweep':
        return sweep(services, client, args);
      case 'kinetoscope.showSweep':
        return next(command, args.length === 1 ? args : ['last']);
      case 'kinetoscope.profilePlain':
        return (await isTrusted()) && next(command, args);
      case 'kinetoscope.chooseInterpreter':
        return typeof args[1] === 'string'
          ? next(command, args)
          : vscode.commands.executeCommand('kinetoscope.selectInterpreter');
      case 'kinetoscope.cancel':
        return services.runs.cancel() || next(command, []);
      case 'kinetoscope.openTrace': {
        const place = placeIn(args) ?? measuredPlace(services.results);
        return place ? services.traces.open(client, place) : tellNothingMeasured();
      }
      case 'kinetoscope.openTraceAt': {
        const [place, finding] = [placeIn(args), args[3]];
        return place && typeof finding === 'string' && services.traces.open(client, { ...place, finding });
      }
      case 'kinetoscope.showDetails': {
        const place = placeIn(args) ?? measuredPlace(services.results);
        const other = place && services.results.otherRun(place);
        return other ? services.details.showAt(place, other) : services.details.show(place);
      }
      case 'kinetoscope.chooseResult': {
        const uri = uriIn(args) ?? activeUri();
        return uri ? chooseResult(client, uri) : tellNoFile();
      }
      case 'kinetoscope.clear':
        return next(command, args.length === 3 ? args : [activeUri() ?? null, null, null]);
      case 'kinetoscope.loadTrace':
        return load(services.loading, args);
      case 'kinetoscope.showResult': {
        const row = rowIn(args);
        if (!row) return next(command, args);
        await next(command, [null, row.id]);
        return openMeasured(client, row.id);
      }
      case 'kinetoscope.pinRun': {
        const row = rowIn(args);
        return next(command, row ? [row.id, args[1] !== false] : args);
      }
      case 'kinetoscope.pinBaseline': {
        const row = rowIn(args);
        if (args.length === 3) return next(command, args);
        const uri = activeUri();
        if (!row && !uri) return tellNoFile();
        return next(command, [row ? null : uri, row?.id ?? null, args[1] !== false]);
      }
      case 'kinetoscope.deleteRun': {
        const row = rowIn(args);
        if (!row) return next(command, args);
        return (await isSureToDelete(row)) && next(command, [row.id, true]);
      }
      case 'kinetoscope.doctor':
        return next(command, args.length === 1 ? args : [active()?.document.uri.toString() ?? null]);
      default:
        return next(command, args);
    }
  };
}

async function profileWithArguments(services: Services, client: LanguageClient, args: unknown[]): Promise<void> {
  const [, row, given] = args;
  const uri = uriIn(args) ?? activeUri();
  if (!uri) return tellNoFile();
  const target = { uri, line: typeof row === 'number' ? row : null, name: null };
  const values = Array.isArray(given) ? (given as string[]) : null;
  await services.runs.profile(client, {
    ...target,
    arguments: values,
    ...(!values && { choose: 'arguments' as const }),
  });
}

async function sweep(services: Services, client: LanguageClient, args: unknown[]): Promise<void> {
  const uri = uriIn(args) ?? activeUri();
  if (!uri) return tellNoFile();
  if (!(await isTrusted())) return;
  const [, , , vary, repeat] = args;
  const given = Array.isArray(vary) ? { vary: vary as string[], repeat: Number(repeat) } : await askForSweep();
  const target = placeIn(args) ?? { uri, line: null, name: null };
  if (given) await services.runs.profile(client, { ...target, arguments: null, ...given });
}

async function load(loading: Loading, [traces, sources]: unknown[]): Promise<void> {
  const given = Array.isArray(traces) ? (traces as string[]) : (await chooseTraces())?.map((each) => each.toString());
  if (!given) return;
  const answer = await loadTraces(loading, given, Array.isArray(sources) ? (sources as string[]) : []);
  if (answer) await tellLoaded(loading, given, answer);
}

async function tellNoFile(): Promise<void> {
  const EXAMPLE = 'Open the Example';
  const message = 'Open a Python file with record_function regions first.';
  const answer = await vscode.window.showInformationMessage(message, EXAMPLE);
  if (answer === EXAMPLE) await vscode.commands.executeCommand('kinetoscope.openExample');
}

async function tellNothingMeasured(): Promise<void> {
  if (!active()) return tellNoFile();
  await vscode.window.showInformationMessage(
    'Nothing has been measured in this file yet. Click “▷ Profile” above a region.',
  );
}

function active(): vscode.TextEditor | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor?.document.languageId === 'python' ? editor : undefined;
}

function activeUri(): string | undefined {
  return active()?.document.uri.toString();
}

function cursor(): { uri: string; line: number; name: null } | undefined {
  const editor = active();
  return editor && { uri: editor.document.uri.toString(), line: editor.selection.active.line, name: null };
}

function measuredPlace(results: Results): RegionPlace | undefined {
  const editor = active();
  return editor && results.placeNear(editor.document, editor.selection.active.line);
}

/** Menus give a URI as an object, lenses as text. */
function uriIn([uri]: unknown[]): string | undefined {
  if (uri instanceof vscode.Uri) return uri.toString();
  return typeof uri === 'string' ? uri : undefined;
}

/** The list of runs gives its rows. */
function rowIn([row]: unknown[]): RunRow | undefined {
  return typeof row === 'object' && row !== null && 'id' in row ? (row as RunRow) : undefined;
}

function timesIn(args: unknown[]): number | undefined {
  return typeof args[3] === 'number' ? args[3] : undefined;
}

function placeIn([uri, line, name]: unknown[]): RegionPlace | undefined {
  return typeof uri === 'string' && typeof line === 'number' && typeof name === 'string'
    ? { uri, line, name }
    : undefined;
}
