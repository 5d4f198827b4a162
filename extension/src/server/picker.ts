// The picker of interpreters. The server knows which there are; where there is none, its finder runs in any Python.
import { execFile } from 'node:child_process';
import { sep } from 'node:path';
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { inStatusBar } from '../foreign';
import { inFolder, ON_PATH, type Interpreters } from './interpreter';
import type { InterpreterRow } from './protocol/profiling';

const FINDS_WITHIN_MS = 30_000;

/** Has a person choose one, writes the setting, and gives its path; `finder` is the server's file that looks for them. */
export async function chooseInterpreter(
  client: LanguageClient | undefined,
  interpreters: Interpreters,
  finder: string,
  uri: vscode.Uri | undefined,
): Promise<string | undefined> {
  const folder = (uri && vscode.workspace.getWorkspaceFolder(uri)) ?? vscode.workspace.workspaceFolders?.[0];
  const scope = uri ?? folder?.uri;
  const finding = client
    ? found(client, interpreters, scope)
    : foundWithoutServer(finder, folder?.uri.fsPath, (await interpreters.choose(scope)).path);
  const item = await vscode.window.showQuickPick<Item>(finding.then(items), {
    title: 'Python that runs the scripts',
    placeHolder: 'Read from files; none of them was started',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  const path = item && (item.path ?? (await typed(scope)));
  if (!path) return undefined;
  await write(path, folder, scope);
  return inFolder(path, scope);
}

type Item = vscode.QuickPickItem & { path?: string };

function items(rows: readonly InterpreterRow[]): Item[] {
  const kinds = [
    ['with torch', true],
    ['torch not known', null],
    ['without torch', false],
  ] as const;
  const of = kinds.flatMap(([label, hasTorch]): Item[] => {
    const own = rows.filter((row) => row.has_torch === hasTorch);
    return own.length ? [separator(label), ...own.map(itemOf)] : [];
  });
  return [...of, separator(''), { label: '$(edit) Enter a path…', alwaysShow: true }];
}

function separator(label: string): Item {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

function itemOf(row: InterpreterRow): Item {
  const label = inStatusBar(row.where);
  return {
    label: row.is_used ? `$(check) ${label}` : label,
    description: inStatusBar(row.text),
    detail: inStatusBar(vscode.workspace.asRelativePath(row.path, false)),
    path: row.path,
  };
}

async function found(
  client: LanguageClient,
  interpreters: Interpreters,
  scope: vscode.Uri | undefined,
): Promise<InterpreterRow[]> {
  const selected = await interpreters.selected(scope);
  const params = { uri: scope?.toString() ?? null, named: selected ? [selected] : [] };
  return client.sendRequest<InterpreterRow[]>('kinetoscope/interpreters', params);
}

/** By a Python on PATH; nothing where there is none that can. */
async function foundWithoutServer(finder: string, folder: string | undefined, used: string): Promise<InterpreterRow[]> {
  const args = ['-I', finder, ...(folder ? [folder] : [])];
  const said = await new Promise<string>((resolve) => {
    execFile(ON_PATH, args, { timeout: FINDS_WITHIN_MS }, (error, stdout) => resolve(error ? '[]' : stdout));
  });
  return (JSON.parse(said) as InterpreterRow[]).map((row) => ({ ...row, is_used: row.path === used }));
}

async function typed(scope: vscode.Uri | undefined): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: 'Python that runs the scripts',
    prompt: 'Path of an interpreter, or the name of one on PATH',
    value: vscode.workspace.getConfiguration('kinetoscope', scope ?? null).get<string | null>('interpreter') ?? '',
  });
}

/** Into the settings of the workspace, or of its folder that has one of its own; without a workspace, the user's. */
async function write(
  path: string,
  folder: vscode.WorkspaceFolder | undefined,
  scope: vscode.Uri | undefined,
): Promise<void> {
  const settings = vscode.workspace.getConfiguration('kinetoscope', scope ?? null);
  const isOfFolder = settings.inspect('interpreter')?.workspaceFolderValue !== undefined;
  const where = isOfFolder ? vscode.ConfigurationTarget.WorkspaceFolder : vscode.ConfigurationTarget.Workspace;
  const start = folder ? `${folder.uri.fsPath}${sep}` : '';
  const isInside = vscode.workspace.workspaceFolders?.length === 1 && path.startsWith(start);
  const value = isInside ? ['${workspaceFolder}', path.slice(start.length)].join(sep) : path;
  await settings.update('interpreter', value, folder ? where : vscode.ConfigurationTarget.Global);
}
