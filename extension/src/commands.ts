// What the commands do in VS Code. The server's own ids come through the client's middleware, with the arguments that
// its lenses, hints and actions carry, or with none from palette and menus.
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Details } from './details/panel';
import type { RegionPlace } from './server/protocol';
import type { Results } from './editor/results';
import { isTrusted, type Runs } from './runs/run';
import type { Traces } from './editor/trace';

type Next = (command: string, args: unknown[]) => unknown;

export interface Rooms {
  readonly runs: Runs;
  readonly results: Results;
  readonly traces: Traces;
  readonly details: Details;
  readonly client: () => LanguageClient | undefined;
}

/** The client's middleware for `workspace/executeCommand`. */
export function executeCommand(rooms: Rooms): (command: string, args: unknown[], next: Next) => Promise<unknown> {
  return async (command, args, next) => {
    const client = rooms.client();
    if (!client) return undefined;
    switch (command) {
      case 'kinetoscope.profileFile': {
        const uri = uriIn(args) ?? active()?.document.uri.toString();
        return uri ? rooms.runs.profile(client, { uri, line: null, name: null, arguments: null }) : tellNoFile();
      }
      case 'kinetoscope.profileRegion': {
        const target = placeIn(args) ?? cursor();
        return target ? rooms.runs.profile(client, { ...target, arguments: null }) : tellNoFile();
      }
      case 'kinetoscope.profileWithArguments':
        return profileWithArguments(rooms, client, args);
      case 'kinetoscope.profilePlain':
        return (await isTrusted()) && next(command, args);
      case 'kinetoscope.cancel':
        return rooms.runs.cancel() || next(command, []);
      case 'kinetoscope.openTrace': {
        const place = placeIn(args) ?? measuredPlace(rooms.results);
        return place ? rooms.traces.open(client, place) : tellNothingMeasured();
      }
      case 'kinetoscope.openTraceAt': {
        const [place, finding] = [placeIn(args), args[3]];
        return place && typeof finding === 'string' && rooms.traces.open(client, { ...place, finding });
      }
      case 'kinetoscope.showDetails': {
        const place = placeIn(args) ?? measuredPlace(rooms.results);
        return rooms.details.show(place);
      }
      case 'kinetoscope.clear':
        return next(command, args.length === 3 ? args : [active()?.document.uri.toString() ?? null, null, null]);
      case 'kinetoscope.loadTrace':
        return loadTrace(args, next);
      case 'kinetoscope.doctor':
        return next(command, args.length === 1 ? args : [active()?.document.uri.toString() ?? null]);
      default:
        return next(command, args);
    }
  };
}

async function profileWithArguments(rooms: Rooms, client: LanguageClient, args: unknown[]): Promise<void> {
  const [uri, line, given] = args;
  if (typeof uri === 'string' && Array.isArray(given)) {
    const values = given as string[];
    await rooms.runs.profile(client, {
      uri,
      line: typeof line === 'number' ? line : null,
      name: null,
      arguments: values,
    });
    return;
  }
  const file = uriIn(args) ?? active()?.document.uri.toString();
  if (!file) return tellNoFile();
  const settings = vscode.workspace.getConfiguration('kinetoscope', vscode.Uri.parse(file));
  const values = await rooms.runs.askForArguments(file, settings.get<string[]>('arguments') ?? []);
  if (values) await rooms.runs.profile(client, { uri: file, line: null, name: null, arguments: values });
}

async function loadTrace(args: unknown[], next: Next): Promise<unknown> {
  if (Array.isArray(args[0])) return next('kinetoscope.loadTrace', args);
  const chosen = await vscode.window.showOpenDialog({
    title: 'Show the times of Kineto traces at the regions of the open files',
    openLabel: 'Load',
    canSelectMany: true,
    filters: { 'Kineto traces': ['json', 'gz'] },
  });
  return chosen && next('kinetoscope.loadTrace', [chosen.map((each) => each.toString()), []]);
}

async function tellNoFile(): Promise<void> {
  const EXAMPLE = 'Open the Example';
  const message = 'Open a Python file with record_function regions first.';
  const answer = await vscode.window.showInformationMessage(message, EXAMPLE);
  if (answer === EXAMPLE) await vscode.commands.executeCommand('kinetoscope.openExample');
}

async function tellNothingMeasured(): Promise<void> {
  if (!active()) return tellNoFile();
  await vscode.window.showInformationMessage('Nothing is measured in this file yet: click “▷ Profile” above a region.');
}

function active(): vscode.TextEditor | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor?.document.languageId === 'python' ? editor : undefined;
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

function placeIn([uri, line, name]: unknown[]): RegionPlace | undefined {
  return typeof uri === 'string' && typeof line === 'number' && typeof name === 'string'
    ? { uri, line, name }
    : undefined;
}
