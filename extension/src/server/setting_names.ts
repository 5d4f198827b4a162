/** The settings that the server knows: those of docs/lsp.md. The other ones of the manifest are the extension's. */
export const SERVER_SETTINGS: readonly string[] = [
  'interpreter',
  'arguments',
  'environment',
  'folder',
  'runs',
  'warmup',
  'active',
  'toTheEnd',
  'budgetSeconds',
  'timeLimitSeconds',
  'prepare',
  'prepared',
  'hints',
  'lenses',
  'severities',
  'perfetto',
];

/** Those of these settings that the server knows. */
export function ofServer(values: Record<string, unknown>, isTrusted: boolean): Record<string, unknown> {
  const known = Object.fromEntries(Object.entries(values).filter(([name]) => SERVER_SETTINGS.includes(name)));
  // Nothing of an untrusted workspace begins by itself: its interpreter may be one of its files.
  if (known.prepare === 'onOpen' && !isTrusted) known.prepare = 'afterRun';
  return known;
}
