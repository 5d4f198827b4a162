// Launch configurations of the Python debugger (launch.json) that run a script, as commands for Kinetoscope.
import type { Command } from '../server/protocol/profiling';
import { splitArguments } from './arguments';

/** A `kinetoscope/choose` offers it by its name. `asks` are the variables in it that are not known: `input:size`. */
export interface Launch {
  name: string;
  command: Partial<Command>;
  asks: string[];
}

/** How a person is asked for a variable; `options` where it is one of these. */
export interface Question {
  description: string;
  value: string;
  isSecret: boolean;
  options: string[] | null;
}

interface Configuration {
  type?: unknown;
  request?: unknown;
  name?: unknown;
  program?: unknown;
  module?: unknown;
  args?: unknown;
  env?: unknown;
  envFile?: unknown;
  cwd?: unknown;
  python?: unknown;
}

interface Input {
  id?: unknown;
  type?: unknown;
  description?: unknown;
  default?: unknown;
  password?: unknown;
  options?: unknown;
}

/** `variables` has `workspaceFolder`, `file` and the like, and what was answered. */
export function launches(configurations: readonly unknown[], variables: Record<string, string>): Launch[] {
  return configurations.flatMap((each) => {
    const found = launch(each as Configuration | null, variables);
    return found ? [found] : [];
  });
}

/** The question for one of `asks`, by the `inputs` of launch.json; undefined where only the debugger can fill it. */
export function questionFor(variable: string, inputs: readonly unknown[]): Question | undefined {
  if (variable === 'command:pickArgs') {
    return { description: "The script's arguments, as in a shell", value: '', isSecret: false, options: null };
  }
  const input = (inputs as (Input | null)[]).find((each) => variable === `input:${String(each?.id)}`);
  if (!input || (input.type !== 'promptString' && input.type !== 'pickString')) return undefined;
  const options = Array.isArray(input.options) ? (input.options as unknown[]).map(textOf) : null;
  return {
    description: typeof input.description === 'string' ? input.description : variable,
    value: typeof input.default === 'string' ? input.default : '',
    isSecret: input.password === true,
    options: input.type === 'pickString' ? (options ?? []) : null,
  };
}

/** Options are texts, or have a label for each. */
function textOf(option: unknown): string {
  return String(typeof option === 'object' && option !== null && 'value' in option ? option.value : option);
}

function launch(given: Configuration | null, variables: Record<string, string>): Launch | undefined {
  if (given?.request !== 'launch' || (given.type !== 'python' && given.type !== 'debugpy')) return undefined;
  const asks = new Set<string>();
  const filled = (value: unknown): string | undefined =>
    typeof value === 'string' ? substituted(value, variables, asks) : undefined;
  const [script, module] = [filled(given.program), filled(given.module)];
  if (script === undefined && module === undefined) return undefined;
  const command: Partial<Command> = { arguments: argumentsOf(given.args, filled), environment: {} };
  for (const [name, value] of Object.entries((given.env ?? {}) as Record<string, unknown>)) {
    const text = filled(typeof value === 'number' || typeof value === 'boolean' ? String(value) : value);
    if (text !== undefined) command.environment = { ...command.environment, [name]: text };
  }
  if (module !== undefined) command.module = module;
  else if (script !== undefined) command.script = script;
  // The interpreter that is selected is the one that runs anyway.
  const python = String(given.python).startsWith('${command:python.') ? undefined : filled(given.python);
  const [folder, envFile] = [filled(given.cwd), filled(given.envFile)];
  if (folder) command.folder = folder;
  if (envFile) command.envFile = envFile;
  if (python) command.interpreter = python;
  return { name: String(given.name), command, asks: [...asks] };
}

/** A list, or one text as in a shell. */
function argumentsOf(args: unknown, filled: (value: unknown) => string | undefined): string[] {
  if (typeof args === 'string') return splitArguments(filled(args) ?? '');
  return Array.isArray(args) ? args.map((each) => filled(String(each)) ?? '') : [];
}

/** The text with the variables that are known; the others are noted, and leave nothing. */
function substituted(text: string, variables: Record<string, string>, unknown: Set<string>): string {
  return text.replace(/\$\{([^}]*)\}/g, (_, name: string) => {
    const value = variables[name] ?? (name.startsWith('env:') ? (process.env[name.slice(4)] ?? '') : undefined);
    if (value === undefined) unknown.add(name);
    return value ?? '';
  });
}
