// Launch configurations of the Python debugger (launch.json) that run a script, as commands for Kinetoscope.
import type { Command } from '../server/protocol/profiling';

/** A `kinetoscope/choose` offers it by its name. */
export interface Launch {
  name: string;
  command: Partial<Command>;
}

interface Configuration {
  type?: unknown;
  request?: unknown;
  name?: unknown;
  program?: unknown;
  module?: unknown;
  args?: unknown;
  env?: unknown;
  cwd?: unknown;
  python?: unknown;
}

/** Those whose variables are all known here: `variables` has `workspaceFolder`, `file` and the like. */
export function launches(configurations: readonly unknown[], variables: Record<string, string>): Launch[] {
  return configurations.flatMap((each) => {
    const found = launch(each as Configuration | null, variables);
    return found ? [found] : [];
  });
}

function launch(given: Configuration | null, variables: Record<string, string>): Launch | undefined {
  if (given?.request !== 'launch' || (given.type !== 'python' && given.type !== 'debugpy')) return undefined;
  const filled = (value: unknown): string | undefined =>
    typeof value === 'string' ? substituted(value, variables) : undefined;
  const script = filled(given.program);
  const module = filled(given.module);
  const wanted = Array.isArray(given.args) ? given.args.map(String) : [];
  const args = wanted.flatMap((each) => filled(each) ?? []);
  if (script === undefined && module === undefined) return undefined;
  if (args.length < wanted.length) return undefined; // one that asks, such as ${command:pickArgs}
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries((given.env ?? {}) as Record<string, unknown>)) {
    const text = filled(typeof value === 'number' || typeof value === 'boolean' ? String(value) : value);
    if (text !== undefined) environment[name] = text;
  }
  const command: Partial<Command> = { arguments: args, environment };
  if (module !== undefined) command.module = module;
  else if (script !== undefined) command.script = script;
  const [folder, interpreter] = [filled(given.cwd), filled(given.python)];
  if (folder) command.folder = folder;
  if (interpreter) command.interpreter = interpreter;
  return { name: String(given.name), command };
}

/** The text with the variables that are known; undefined where one is not. */
function substituted(text: string, variables: Record<string, string>): string | undefined {
  const unknown: string[] = [];
  const found = text.replace(/\$\{([^}]*)\}/g, (_, name: string) => {
    const value = variables[name] ?? (name.startsWith('env:') ? (process.env[name.slice(4)] ?? '') : undefined);
    if (value === undefined) unknown.push(name);
    return value ?? '';
  });
  return unknown.length ? undefined : found;
}
