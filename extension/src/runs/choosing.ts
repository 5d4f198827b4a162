// What is to run, where a person chooses: what the server offers, launch.json's configurations, and what is typed.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { joinArguments, splitArguments } from './arguments';
import { inStatusBar } from '../foreign';
import type { ChooseAnswer, ChooseParams, Command } from '../server/protocol/profiling';
import { launches } from './launches';

type Item = vscode.QuickPickItem & { choose?: () => Promise<ChooseAnswer> | ChooseAnswer };

/** Answers a `kinetoscope/choose`; null where nothing was chosen. */
export async function choose(params: ChooseParams): Promise<ChooseAnswer> {
  if (params.what === 'arguments') return typed(params);
  const items: Item[] = params.choices.map(({ label, why }, choice) => ({
    label: inStatusBar(label),
    description: inStatusBar(why),
    choose: () => ({ choice }),
  }));
  const configured = ofLaunchJson(params);
  if (configured.length) {
    items.push({ label: 'launch.json', kind: vscode.QuickPickItemKind.Separator });
    for (const { name, command } of configured) {
      const script = command.module ? ['-m', command.module] : [vscode.workspace.asRelativePath(command.script ?? '')];
      const text = joinArguments([...script, ...(command.arguments ?? [])]);
      items.push({ label: inStatusBar(name), description: inStatusBar(text), choose: () => ({ command }) });
    }
  }
  items.push({ label: '', kind: vscode.QuickPickItemKind.Separator });
  if (params.what === 'run') items.push({ label: 'Other Arguments…', choose: () => typed(params) });
  items.push({ label: 'Another Script…', choose: () => script(params) });
  const chosen = await vscode.window.showQuickPick(items, {
    title: inStatusBar(params.question),
    matchOnDescription: true,
  });
  return chosen?.choose?.() ?? null;
}

async function typed({ uri, command }: ChooseParams): Promise<ChooseAnswer> {
  const what = command.module ?? vscode.workspace.asRelativePath(command.script ?? vscode.Uri.parse(uri));
  const text = await vscode.window.showInputBox({
    title: `Profile ${what}`,
    prompt: "The script's arguments, as in a shell",
    placeHolder: '--size 4096',
    value: joinArguments(command.arguments),
    validateInput: (value) => {
      try {
        splitArguments(value);
        return null;
      } catch (error) {
        return (error as SyntaxError).message;
      }
    },
  });
  return text === undefined ? null : { command: { arguments: splitArguments(text) } };
}

async function script({ uri }: ChooseParams): Promise<ChooseAnswer> {
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.parse(uri))?.uri;
  const [chosen] =
    (await vscode.window.showOpenDialog({
      title: 'The script to run',
      openLabel: 'Run',
      filters: { Python: ['py'] },
      ...(folder && { defaultUri: folder }),
    })) ?? [];
  return chosen ? { command: { script: chosen.fsPath } } : null;
}

function ofLaunchJson({ uri, what, command }: ChooseParams): { name: string; command: Partial<Command> }[] {
  const file = vscode.Uri.parse(uri);
  const folder = vscode.workspace.getWorkspaceFolder(file);
  const configurations = vscode.workspace
    .getConfiguration('launch', folder?.uri ?? null)
    .get<unknown[]>('configurations');
  const root = folder?.uri.fsPath;
  const variables = {
    file: file.fsPath,
    fileBasename: path.basename(file.fsPath),
    fileBasenameNoExtension: path.basename(file.fsPath, '.py'),
    fileDirname: path.dirname(file.fsPath),
    ...(root && { workspaceFolder: root, workspaceRoot: root, relativeFile: path.relative(root, file.fsPath) }),
  };
  const found = launches(configurations ?? [], variables);
  // Other arguments for a script are those that launch.json has for it; what reaches a module may be any script.
  const same = ({ command: each }: { command: Partial<Command> }): boolean =>
    each.module !== undefined
      ? each.module === command.module
      : path.resolve(root ?? '', each.script ?? '') === command.script;
  return what === 'run' ? found.filter(same) : found;
}
