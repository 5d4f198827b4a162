// Decorations of measured regions: a bar beside the line number and a mark in the overview ruler, by the share of the run.
import * as vscode from 'vscode';
import { barStyle, heatOf, STEPS } from './heat';
import type { Results } from './results';

export class Decorations implements vscode.Disposable {
  // Not by colour alone: a hotter region has a wider bar, a stale one a dotted, that of another result a dashed.
  private readonly kinds = (['solid', 'dotted', 'dashed'] as const).flatMap((style) =>
    STEPS.map((_, heat) => ({ heat, style, type: decoration(heat, style) })),
  );
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
    for (const { heat, style, type } of this.kinds) {
      const here = regions.filter((each) => heatOf(each.share) === heat && barStyle(each) === style);
      editor.setDecorations(
        type,
        here.map((each) => new vscode.Range(each.line, 0, each.line, 0)),
      );
    }
  }

  dispose(): void {
    for (const each of [...this.kinds.map(({ type }) => type), ...this.watching]) each.dispose();
  }
}

/** In the margin, where code and indent guides are not. VS Code has only icons there, whose size takes more of CSS. */
function decoration(heat: number, style: ReturnType<typeof barStyle>): vscode.TextEditorDecorationType {
  // Right after the extension was installed, CSS does not know its colours until the theme changes or VS Code starts.
  const colour = `var(--vscode-kinetoscope-heat${heat + 1}, var(--vscode-editorLineNumber-activeForeground))`;
  const bar = `${5 - heat}px ${style} ${colour}`;
  return vscode.window.createTextEditorDecorationType({
    gutterIconPath: vscode.Uri.parse('data:,'),
    gutterIconSize: `0; box-sizing: border-box; border-right: ${bar}`,
    overviewRulerColor: new vscode.ThemeColor(`kinetoscope.heat${heat + 1}`),
    overviewRulerLane: vscode.OverviewRulerLane.Right,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
}
