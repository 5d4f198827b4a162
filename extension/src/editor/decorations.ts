// Decorations of measured regions: a bar before the line and a mark in the overview ruler, by the share of the run.
import * as vscode from 'vscode';
import { heatOf, STEPS } from './heat';
import type { Results } from './results';

export class Decorations implements vscode.Disposable {
  // Not by colour alone: a hotter region has a wider bar, a stale one a dotted.
  private readonly fresh = STEPS.map((_, heat) => decoration(heat, 'solid'));
  private readonly stale = STEPS.map((_, heat) => decoration(heat, 'dotted'));
  private readonly watching: vscode.Disposable[];

  constructor(private readonly results: Results) {
    this.watching = [
      results.onDidChange(() => this.drawAll()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.drawAll()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('kinetoscope.decorations')) this.drawAll();
      }),
    ];
    this.drawAll();
  }

  private drawAll(): void {
    for (const editor of vscode.window.visibleTextEditors) this.draw(editor);
  }

  private draw(editor: vscode.TextEditor): void {
    const isOn = vscode.workspace.getConfiguration('kinetoscope', editor.document).get<boolean>('decorations');
    const regions = isOn ? this.results.of(editor.document) : [];
    for (const [kinds, isStale] of [
      [this.fresh, false],
      [this.stale, true],
    ] as const) {
      kinds.forEach((kind, heat) => {
        const here = regions.filter((each) => heatOf(each.share) === heat && each.stale.length > 0 === isStale);
        editor.setDecorations(
          kind,
          here.map((each) => new vscode.Range(each.line, 0, each.line, 0)),
        );
      });
    }
  }

  dispose(): void {
    for (const each of [...this.fresh, ...this.stale, ...this.watching]) each.dispose();
  }
}

function decoration(heat: number, style: 'solid' | 'dotted'): vscode.TextEditorDecorationType {
  const color = new vscode.ThemeColor(`kinetoscope.heat${heat + 1}`);
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderColor: color,
    borderStyle: `none none none ${style}`,
    borderWidth: `0 0 0 ${5 - heat}px`,
    overviewRulerColor: color,
    overviewRulerLane: vscode.OverviewRulerLane.Right,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
}
