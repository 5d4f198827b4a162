// Settings that are the extension's alone. All others of the manifest are the server's: those of docs/lsp.md.
export const OWN_SETTINGS: readonly string[] = ['importStrategy', 'saveBeforeRun', 'decorations', 'openTraceIn'];

/** The settings for the server. */
export function withoutOwn(values: Record<string, unknown>, isTrusted: boolean): Record<string, unknown> {
  const known = Object.fromEntries(Object.entries(values).filter(([name]) => !OWN_SETTINGS.includes(name)));
  // Nothing of an untrusted workspace begins by itself: its interpreter may be one of its files.
  if (known.prepare === 'onOpen' && !isTrusted) known.prepare = 'afterRun';
  return known;
}

/** Where the editor shows no hints, the times stand in the lenses. */
export function withHintsSeen(values: Record<string, unknown>, areShown: boolean): Record<string, unknown> {
  return areShown || values.hints === 'off' ? values : { ...values, hints: 'lens' };
}
