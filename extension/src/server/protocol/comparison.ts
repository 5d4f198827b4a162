// What changed between two runs: docs/lsp.md, `kinetoscope/comparison`, and kinetoscope_core/results/comparison.py.
import type { Bound } from './measures';

/** A value on both sides of a comparison: `a` is before, `b` now. */
export interface Sides<Value> {
  a: Value;
  b: Value;
}

/** A time on both sides; `change` is b/a - 1 and lies between `low` and `high`. */
export interface Change extends Sides<number | null> {
  change: number | null;
  low: number | null;
  high: number | null;
  verdict: 'faster' | 'slower' | 'same' | 'unknown';
  /** How many more runs would give a verdict where there is none. */
  more_runs: number | null;
}

/** What one call has of a kernel or an operator. */
export interface Share {
  count: number;
  total_ns: number;
}

export interface ShareChange extends Sides<Share | null> {
  name: string;
  short: string;
}

/** `same` counts those without a difference; unless it `is_whole`, the cheapest ones are not compared. */
export interface Shares {
  new: ShareChange[];
  gone: ShareChange[];
  changed: ShareChange[];
  same: number;
  is_whole: boolean;
}

export interface RegionName {
  name: string;
  file: string | null;
  line: number | null;
}

/** Name and place are those of now, if it is there now; `was` is its name before where that differs. */
export interface RegionComparison extends RegionName {
  in: 'both' | 'a' | 'b';
  was: RegionName | null;
  cpu_total_ns: Change;
  cpu_self_ns: Change;
  cuda_total_ns: Change | null;
  cuda_self_ns: Change | null;
  launches: Sides<number | null>;
  bound: Sides<Bound | null>;
  kernels: Shares | null;
  operators: Shares | null;
  findings_new: string[];
  findings_gone: string[];
}

/** The newest of its runs first. */
export interface ComparedSide {
  title: string;
  runs: string[];
  processes: number;
  started: string | null;
}

/** Without `other` the baseline. */
export interface ComparisonParams {
  run: string;
  other: string | null;
}

/** Answer of `kinetoscope/comparison`. */
export interface Comparison extends Sides<ComparedSide> {
  differences: string[];
  code_changed: string[];
  regions: RegionComparison[];
}
