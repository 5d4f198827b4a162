// Foreign text in messages: VS Code makes a link of `[text](command:…)`, and a click runs the command.

/** The text without links in brackets and without control characters. */
export function plain(text: string): string {
  return text.replaceAll('](', '] (').replace(/[\p{Cc}\p{Cf}]/gu, (each) => (each === '\n' ? each : '�'));
}

/** The text without icons: the status bar draws one for `$(name)`. */
export function inStatusBar(text: string): string {
  return plain(text).replaceAll('$(', '\\$(');
}

/** The text in HTML. */
export function escaped(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return plain(text).replace(/[&<>"]/g, (each) => entities[each] ?? each);
}

/** An error that VS Code may show as it is. */
export function harmless(error: unknown): Error {
  return new Error(plain(error instanceof Error ? error.message : String(error)), { cause: error });
}
