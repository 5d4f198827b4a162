// Texts that others wrote, in messages: VS Code makes a link of `[text](command:…)`, and a click runs the command.

/** The text without links in brackets and without control characters. */
export function plain(text: string): string {
  return text.replaceAll('](', '] (').replace(/[\p{Cc}\p{Cf}]/gu, (each) => (each === '\n' ? each : '�'));
}
