// Results of the open files: the newest `kinetoscope/results` of each.
import * as vscode from 'vscode';
import type { Baseline, RegionPlace, ResultsParams, ShownRegion } from '../server/protocol/results';

export class Results implements vscode.Disposable {
  private readonly byUri = new Map<string, ResultsParams>();
  private readonly changed = new vscode.EventEmitter<string | undefined>();

  /** With the file's URI as text; undefined: all have changed. */
  readonly onDidChange = this.changed.event;

  /** They come after each pause in typing; most say nothing new. */
  take(results: ResultsParams): void {
    const uri = vscode.Uri.parse(results.uri).toString();
    const known = this.byUri.get(uri);
    if (isSame(results.regions, known?.regions ?? []) && isSame(results.baseline, known?.baseline ?? null)) return;
    this.byUri.set(uri, results);
    // Of what ran here: torch was there, and something was measured.
    if (results.regions.some((each) => each.started !== null)) {
      void vscode.commands.executeCommand('setContext', 'kinetoscope.hasProfiled', true);
    }
    this.changed.fire(uri);
  }

  /** The server has gone, and what it said with it. */
  clear(): void {
    this.byUri.clear();
    this.changed.fire(undefined);
  }

  of(document: vscode.TextDocument): readonly ShownRegion[] {
    return this.byUri.get(document.uri.toString())?.regions ?? [];
  }

  baselineOf(document: vscode.TextDocument): Baseline | null {
    return this.byUri.get(document.uri.toString())?.baseline ?? null;
  }

  /** The measured region at a place or nearest above it, else the first of the file; as commands name it. */
  placeNear(document: vscode.TextDocument, line: number): RegionPlace | undefined {
    const regions = this.of(document);
    const above = regions.filter((region) => region.line <= line);
    const found = above.at(-1) ?? regions[0];
    return found && { uri: document.uri.toString(), line: found.line, name: found.pattern };
  }

  /** The run whose times stand at a place, if it is not the one that the file shows. */
  otherRun({ uri, line }: RegionPlace): string | undefined {
    const regions = this.byUri.get(vscode.Uri.parse(uri).toString())?.regions;
    return regions?.find((region) => region.line === line && region.origin !== '')?.run;
  }

  dispose(): void {
    this.changed.dispose();
  }
}

function isSame(some: unknown, others: unknown): boolean {
  return JSON.stringify(some) === JSON.stringify(others);
}
