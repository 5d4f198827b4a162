// What is to run, where a person chooses: what the server offers, launch.json's configurations, and what is typed.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { joinArguments, splitArguments } from './arguments';
import { inStatusBar, plain } from '../foreign';
import type { Choice, ChooseAnswer, ChooseParams, Command } from '../server/protocol/profiling';
import { launches, questionFor, type Launch } from './launches';

type Item = vscode.QuickPickItem & { choose?: () => Promise<ChooseAnswer> | ChooseAnswer; choice?: Choice };

const NAME = { iconPath: new vscode.ThemeIcon('bookmark'), tooltip: 'Give These Arguments a Name…' };
const FORGET = { iconPath: new vscode.ThemeIcon('trash'), tooltip: 'Forget This Name' };

/** Answers a `kinetoscope/choose`; null where nothing was chosen. */
export async function choose(params: ChooseParams): Promise<ChooseAnswer> {
  if (params.what === 'arguments') return typed(params);
  const items: Item[] = params.choices.map((choice, index) => ({
    label: inStatusBar(choice.label),
    description: inStatusBar(choice.why),
    choose: () => ({ choice: index }),
    choice,
    buttons: choice.name !== null ? [FORGET] : choice.arguments ? [NAME] : [],
  }));
  const configured = ofLaunchJson(params);
  if (configured.length) {
    items.push({ label: 'launch.json', kind: vscode.QuickPickItemKind.Separator });
    for (const { launch, choose: chosen } of configured) {
      items.push({ label: inStatusBar(launch.name), description: inStatusBar(textOf(launch)), choose: chosen });
    }
  }
  items.push({ label: '', kind: vscode.QuickPickItemKind.Separator });
  if (params.what === 'run') items.push({ label: 'Other Arguments…', choose: () => typed(params) });
  if (params.what === 'run') {
    const description = 'several values of arguments, in one table';
    items.push({ label: 'Sweep…', description, choose: () => sweep(params) });
  }
  items.push({ label: 'Another Script…', choose: () => script(params) });
  const picked = await pick(inStatusBar(params.question), items);
  if (picked?.button && picked.item.choice) return choose(await renamed(params, picked.item.choice));
  return picked?.item.choose?.() ?? null;
}

/** The item that was chosen, or whose button was clicked. */
function pick(title: string, items: Item[]): Promise<{ item: Item; button?: vscode.QuickInputButton } | undefined> {
  const picker = vscode.window.createQuickPick<Item>();
  Object.assign(picker, { title, items, matchOnDescription: true });
  return new Promise((resolve) => {
    picker.onDidTriggerItemButton((clicked) => {
      resolve(clicked);
      picker.hide();
    });
    picker.onDidAccept(() => {
      const [item] = picker.selectedItems;
      if (item) resolve({ item });
      picker.hide();
    });
    picker.onDidHide(() => {
      resolve(undefined);
      picker.dispose();
    });
    picker.show();
  });
}

/** The same question once the arguments of a choice have another name, or none. */
async function renamed(params: ChooseParams, choice: Choice): Promise<ChooseParams> {
  let name: string | undefined;
  if (choice.name === null) {
    const title = inStatusBar(choice.label);
    name = (
      await vscode.window.showInputBox({ title, prompt: 'A name for these arguments', placeHolder: 'large' })
    )?.trim();
    if (!name) return params;
  }
  const given = name === undefined ? null : choice.arguments;
  await vscode.commands.executeCommand('kinetoscope.nameArguments', params.uri, name ?? choice.name, given);
  const text = choice.name === null ? choice.label : choice.label.slice(`${choice.name}: `.length);
  const now = { ...choice, name: name ?? null, label: name === undefined ? text : `${name}: ${text}` };
  return { ...params, choices: params.choices.map((each) => (each === choice ? now : each)) };
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

/** A sweep in place of the run that the question is about. */
function sweep({ uri }: ChooseParams): ChooseAnswer {
  void vscode.commands.executeCommand('kinetoscope.sweep', uri, null, null);
  return null;
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

function textOf({ command, asks }: Launch): string {
  if (asks.length) return `asks for ${asks.map((each) => `\${${each}}`).join(', ')}`;
  const script = command.module ? ['-m', command.module] : [vscode.workspace.asRelativePath(command.script ?? '')];
  return joinArguments([...script, ...(command.arguments ?? [])]);
}

interface Configured {
  launch: Launch;
  choose: () => Promise<ChooseAnswer>;
}

function ofLaunchJson({ uri, what, command }: ChooseParams): Configured[] {
  const file = vscode.Uri.parse(uri);
  const folder = vscode.workspace.getWorkspaceFolder(file);
  const launchJson = vscode.workspace.getConfiguration('launch', folder?.uri ?? null);
  const inputs = launchJson.get<unknown[]>('inputs') ?? [];
  const root = folder?.uri.fsPath;
  const variables = {
    file: file.fsPath,
    fileBasename: path.basename(file.fsPath),
    fileBasenameNoExtension: path.basename(file.fsPath, '.py'),
    fileDirname: path.dirname(file.fsPath),
    ...(root && { workspaceFolder: root, workspaceRoot: root, relativeFile: path.relative(root, file.fsPath) }),
  };
  // Other arguments for a script are those that launch.json has for it; what reaches a module may be any script.
  const same = ({ command: each }: { command: Partial<Command> }): boolean =>
    each.module !== undefined
      ? each.module === command.module
      : path.resolve(root ?? '', each.script ?? '') === command.script;
  const found = (launchJson.get<unknown[]>('configurations') ?? []).flatMap((configuration): Configured[] => {
    const [launch] = launches([configuration], variables);
    if (!launch) return [];
    const chosen = async (): Promise<ChooseAnswer> => {
      const answers = await answered(launch, inputs);
      const [filled] = answers ? launches([configuration], { ...variables, ...answers }) : [];
      return filled ? { command: filled.command } : null;
    };
    return [{ launch, choose: chosen }];
  });
  return what === 'run' ? found.filter(({ launch }) => same(launch)) : found;
}

/** What a person answers to all that a configuration asks for; undefined where that cannot be asked, or was not answered. */
async function answered(
  { name, asks }: Launch,
  inputs: readonly unknown[],
): Promise<Record<string, string> | undefined> {
  const answers: Record<string, string> = {};
  for (const variable of asks) {
    const question = questionFor(variable, inputs);
    if (!question) {
      const why = `needs \${${variable}}, which only VS Code's debugger can fill. Choose Other Arguments… instead.`;
      void vscode.window.showWarningMessage(plain(`“${name}” ${why}`));
      return undefined;
    }
    const { description, value, isSecret, options } = question;
    const answer = options
      ? await vscode.window.showQuickPick(options, { title: inStatusBar(name), placeHolder: inStatusBar(description) })
      : await vscode.window.showInputBox({
          title: inStatusBar(name),
          prompt: plain(description),
          value,
          password: isSecret,
        });
    if (answer === undefined) return undefined;
    answers[variable] = answer;
  }
  return answers;
}
