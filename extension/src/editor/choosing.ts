// Which result a file shows: all that there are, to choose from.
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { plain } from '../foreign';
import type { FileResult, RunResult } from '../server/protocol/results';

/** Asks which one, and has it shown. */
export async function chooseResult(client: LanguageClient, uri: string): Promise<void> {
  const results = await client.sendRequest<FileResult[]>('kinetoscope/resultsOf', { uri });
  const entries = results.map(({ run, title, when, device, is_shown }) => ({
    run,
    label: plain(title),
    description: plain([when, device, ...(is_shown ? ['shown'] : [])].join(' · ')),
  }));
  const chosen = await vscode.window.showQuickPick(entries, {
    title: 'Result to show in this file',
    placeHolder: entries.length ? 'Script and arguments, time, device' : 'Nothing has been measured in this file yet',
    matchOnDescription: true,
  });
  if (chosen) await vscode.commands.executeCommand('kinetoscope.showResult', uri, chosen.run);
}

/** Opens the file of a run's largest region, at its line. */
export async function openMeasured(client: LanguageClient, run: string): Promise<void> {
  const result = await client.sendRequest<RunResult | null>('kinetoscope/run', { uri: null, run });
  const [largest] = (result?.regions ?? [])
    .filter((region) => region.uri !== null && region.row !== null)
    .sort((a, b) => (b.share ?? 0) - (a.share ?? 0));
  if (largest?.uri == null) return;
  const line = new vscode.Position(largest.row ?? 0, 0);
  await vscode.window.showTextDocument(vscode.Uri.parse(largest.uri, true), {
    selection: new vscode.Range(line, line),
  });
}
