// View "Kinetoscope Runs": what was measured, the newest first, as the server lists it.
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { plain } from '../foreign';
import type { RunRow } from '../server/protocol/results';
import { contextOf, descriptionOf, iconOf, labelOf, tooltipOf } from './list_texts';

export class RunList implements vscode.TreeDataProvider<RunRow>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly view: vscode.TreeView<RunRow>;

  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly client: () => LanguageClient | undefined) {
    this.view = vscode.window.createTreeView('kinetoscope.runs', { treeDataProvider: this });
  }

  /** The list of the server is another one; VS Code asks for it while the view is visible. */
  refresh(): void {
    this.changed.fire();
  }

  async getChildren(row?: RunRow): Promise<RunRow[]> {
    return row ? [] : ((await this.client()?.sendRequest<RunRow[]>('kinetoscope/runs', {})) ?? []);
  }

  getTreeItem(row: RunRow): vscode.TreeItem {
    const now = new Date();
    const item = new vscode.TreeItem(plain(labelOf(row, now)));
    item.id = row.id;
    item.description = plain(descriptionOf(row, now));
    item.tooltip = plain(tooltipOf(row));
    item.contextValue = contextOf(row);
    item.iconPath = new vscode.ThemeIcon(iconOf(row));
    if (row.problem === null) {
      item.command = { command: 'kinetoscope.showRun', title: 'Show Details', arguments: [row] };
    }
    return item;
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }
}

/** Whether a person agrees that a run is deleted. */
export async function isSureToDelete(row: RunRow): Promise<boolean> {
  const DELETE = 'Delete';
  const detail = row.is_loaded
    ? 'Its times are no longer shown. The trace itself stays.'
    : 'Its times and its trace are removed.';
  const question = `Delete the run ${plain(row.title || row.id)}?`;
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, DELETE)) === DELETE;
}
