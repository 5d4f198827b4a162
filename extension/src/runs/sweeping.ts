// A sweep as a person asks for it: what varies, and how many runs there are of each setting.
import * as vscode from 'vscode';
import { splitArguments } from './arguments';
import { whyNoSweep } from './sweep_text';

export interface SweepAsked {
  vary: string[];
  repeat: number;
}

const MANY = 5;
let last = '';

/** What a person types and chooses; undefined where that was put aside. */
export async function askForSweep(): Promise<SweepAsked | undefined> {
  const text = await vscode.window.showInputBox({
    title: 'Sweep (1/2): what varies',
    prompt:
      'Arguments with their values. yes gives the bare flag; an empty value leaves the argument out. ' +
      '$ begins an environment variable.',
    placeHolder: 'size=64,1024,4096 compile=,yes $OMP_NUM_THREADS=1,4',
    value: last,
    validateInput: whyNoSweep,
  });
  if (text === undefined) return undefined;
  last = text;
  const chosen = await vscode.window.showQuickPick(
    [
      { label: 'Run each setting once', repeat: 1 },
      { label: `Run each setting ${String(MANY)} times`, description: 'for a verdict beyond noise', repeat: MANY },
    ],
    { title: 'Sweep (2/2): how many runs' },
  );
  return chosen && { vary: splitArguments(text), repeat: chosen.repeat };
}
