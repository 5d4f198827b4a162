// Choosing of the run that another one is compared with.
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { inStatusBar } from '../foreign';
import type { ComparisonParams } from '../server/protocol/comparison';
import type { RunRow } from '../server/protocol/results';
import { comparable, descriptionOf, labelOf, sidesOf } from './list_texts';

/** What to compare; undefined where nothing was chosen. */
export async function compareWith(client: LanguageClient, row: RunRow): Promise<ComparisonParams | undefined> {
  const rows = comparable(await client.sendRequest<RunRow[]>('kinetoscope/runs', {}), row);
  if (rows.length === 0) {
    void vscode.window.showInformationMessage('There is no other run yet.');
    return undefined;
  }
  const now = new Date();
  const items = rows.map((other) => ({
    label: inStatusBar(labelOf(other, now)),
    description: inStatusBar(descriptionOf(other, now)),
    other,
  }));
  const title = inStatusBar(`Compare ${labelOf(row, now)} with`);
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
  return chosen && sidesOf(row, chosen.other);
}
