// Messages about what was measured: results at the lines, runs, traces. docs/lsp.md, "For richer clients". Fields that the
// extension does not read are left out.
import type { Finding, KernelShare, Measures, OperatorShare, RegionTimes, Spread, Unmeasured } from './measures';
import type { ProfileAnswer } from './profiling';

export interface RunInfo {
  started: string;
  has_own_profiler: boolean;
}

export interface Device {
  name: string;
  count: number;
}

export interface Problem {
  message: string;
  file: string | null;
  line: number | null;
}

/** A region of a run. `row` counts from 0, in the text as it is now where the file is open; `share` is from 0 to 1, of
 * what was recorded; `parent` is the index of the region that holds all of its calls. A name that a series stands for
 * has the index of that row as `series`; `inside` is the name of a series that it is a part of: `layers.3` of
 * `layers.3.mlp`. */
export interface RunRegion {
  index: number;
  measures: (Measures | Unmeasured) & RegionTimes;
  uri: string | null;
  row: number | null;
  share: number | null;
  parent: number | null;
  series: number | null;
  inside: number | null;
  stale: string[];
}

/** A part of the steps of a script: docs/measures.md, *Phases of a step*. */
export interface Phase {
  name: string;
  calls: number | null;
  cpu_ns: number;
  cuda_ns: number | null;
  launches: number | null;
  cpu_per_step_ns: Spread | null;
  cuda_per_step_ns: Spread | null;
}

/** What a recording holds that has no region of the user's. */
export interface Contents {
  kernels: KernelShare[];
  kernel_names: number;
  activities: number;
  operators: OperatorShare[];
  operator_names: number;
  phases: Phase[];
  steps: { count: number; known_by: 'ProfilerStep' | 'optimizer step' | 'data loading'; took_ns: Spread } | null;
}

/** Answer of `kinetoscope/run`. `script` is the URI of the file that ran, null of a module and of traces from elsewhere. */
export interface RunResult {
  id: string;
  title: string;
  script: string | null;
  run: RunInfo | null;
  device: Device | null;
  torch: string | null;
  device_total_ns: number | null;
  outside_regions_ns: number | null;
  no_cuda_because: string | null;
  problems: Problem[];
  /** Those of the run as a whole. */
  findings: Finding[];
  /** What autograd launched, and the part of it whose forward ran in a region; null where it launched nothing. */
  backward: { total_ns: number; of_regions_ns: number } | null;
  contents: Contents | null;
  /** The rows, each series in the place of its names, and after them the names. */
  regions: RunRegion[];
}

/** Answer of `kinetoscope/load`; `files` are those in which regions were found. */
export interface LoadAnswer {
  how: ProfileAnswer['how'];
  message: string;
  run: string | null;
  files?: string[];
}

/** One of `kinetoscope/runs`. */
export interface RunRow {
  id: string;
  title: string;
  script: string;
  arguments: string[];
  started: string | null;
  seconds: number | null;
  device: Device | null;
  regions: number;
  largest: { name: string; cuda_total_ns: number | null; cpu_total_ns: number } | null;
  is_loaded: boolean;
  is_pinned: boolean;
  is_baseline: boolean;
  size_bytes: number | null;
  problem: string | null;
}

/** Both null: the newest run of all. */
export interface RunParams {
  uri: string | null;
  run: string | null;
}

/** `line` counts from 0. */
export interface RegionPlace {
  uri: string;
  line: number;
  name: string;
}

/** What a trace is opened at: a region, named by where it stands or by its run, and there what a finding is about. */
export type TracePlace = (RegionPlace | { run: string; region: number | null }) & { finding?: string };

/** `embedders` are sources for the page's frame-ancestors. */
export type TraceParams = TracePlace & { embedders: string[] };

export interface TraceLink {
  link: string;
  title: string;
}

export interface TrustParams {
  address: string;
}

/** One region of `kinetoscope/results`. */
export interface ShownRegion {
  pattern: string;
  line: number;
  stale: string[];
  /** Where it is from, if not from the result that the file shows. */
  origin: string;
  run: string;
  share: number | null;
  measures: Measures | Unmeasured;
  started: string | null;
  device: Device | null;
  torch: string | null;
}

/** What the run that a file shows is compared with; it may be that run itself. */
export interface Baseline {
  run: string;
  started: string;
  is_pinned: boolean;
}

export interface ResultsParams {
  uri: string;
  regions: ShownRegion[];
  baseline: Baseline | null;
}

/** One of `kinetoscope/resultsOf`. */
export interface FileResult {
  run: string;
  title: string;
  when: string;
  device: string;
  is_shown: boolean;
}
