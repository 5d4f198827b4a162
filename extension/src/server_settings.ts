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
