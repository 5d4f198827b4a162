// Tables in hovers and in tooltips of hints: VS Code leaves one pixel between their columns.
import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient/node';

export const spacedTables: Pick<Middleware, 'provideHover' | 'resolveInlayHint'> = {
  provideHover: async (document, position, token, next) => {
    const hover = await next(document, position, token);
    hover?.contents.forEach(space);
    return hover;
  },
  resolveInlayHint: async (hint, token, next) => {
    const resolved = await next(hint, token);
    space(resolved?.tooltip);
    return resolved;
  },
};

/** Puts a wide space before each cell but the first of its row. */
function space(content: unknown): void {
  if (!(content instanceof vscode.MarkdownString)) return;
  content.value = content.value.replace(/^\| .*$/gm, (row) => row.replace(/ \| (?=\S)/g, ' | &emsp;'));
}
