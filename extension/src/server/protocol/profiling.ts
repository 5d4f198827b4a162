// Messages about a run that is asked for, chosen, or on its way: docs/lsp.md, "For richer clients".

/** `kinetoscope/warm`: the interpreter that is prepared for the next run. */
export interface WarmParams {
  state: 'none' | 'preparing' | 'ready';
  gpu: boolean;
  memory_bytes: number | null;
}

export interface ProgressParams {
  uri: string;
  title: string;
  phase: string | null;
}

/** What runs: `script` is a path, unless there is a `module`. */
export interface Command {
  script: string | null;
  module: string | null;
  arguments: string[];
  environment: Record<string, string>;
  interpreter: string | null;
  folder: string;
  envFile: string | null;
}

/** Of `kinetoscope/interpreters`. `has_torch` is null where it is not known. */
export interface InterpreterRow {
  path: string;
  where: string;
  text: string;
  has_torch: boolean | null;
  is_used: boolean;
}

/** Whether a person is asked for all of it, or for a part. */
export type Choose = 'run' | 'arguments' | 'script' | 'interpreter';

/** `kinetoscope/choose`: `command` is what a part of it is changed of. */
export interface ChooseParams {
  uri: string;
  what: Choose;
  question: string;
  choices: Choice[];
  command: Command;
}

/** `name` is that of its arguments, if they have one; those of another script than the command's are null. */
export interface Choice {
  label: string;
  why: string;
  name: string | null;
  arguments: string[] | null;
}

export type ChooseAnswer = { choice: number } | { command: Partial<Command> } | null;

export interface ProfileParams {
  uri: string;
  line: number | null;
  name: string | null;
  arguments: string[] | null;
  choose?: Choose | null;
  command?: Partial<Command> | null;
  plain?: boolean;
  times?: number;
  more?: boolean;
  /** Modules are measured, too: those of the classes, or down to the depth. */
  modules?: { depth?: number; classes?: string[] } | false;
  /** What varies, such as `size=64,1024`: a sweep, `repeat` runs of each setting. */
  vary?: string[];
  repeat?: number;
  replace: boolean;
  workDoneToken?: string;
}

export interface ProfileAnswer {
  how: 'measured' | 'failed' | 'cancelled' | 'nothing' | 'refused' | 'none';
  message: string;
  /** The result's id, null where none was stored. */
  run: string | null;
  offers: Offer[];
}

/** The same again, otherwise: what goes into another `kinetoscope/profile`. */
export interface Offer {
  title: string;
  command: Partial<Command> | null;
  choose: Choose | null;
  plain: boolean;
}
