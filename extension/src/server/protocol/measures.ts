// The measures of a region: docs/measures.md, "JSON". Fields that the extension does not read are left out. Times are
// integer nanoseconds; null is "not measured". Imports nothing, so that a web view can use it as well.

export interface Spread {
  sum: number;
  median: number;
  min: number;
  max: number;
}

export type Bound = 'overhead' | 'compute' | 'communication' | 'copy' | 'mixed' | 'sync' | 'cpu-only';

export interface CallInTrace {
  trace: number;
  start_ns: number;
  cpu_total_ns: number;
  cuda_total_ns: number | null;
}

export interface KernelShare {
  name: string;
  /** What people read of the name; results of older versions have none. */
  short?: string;
  count: number;
  total_ns: number;
}

export interface OperatorShare {
  name: string;
  is_on_other_thread: boolean;
  count: number;
  cpu_total_ns: number;
  cuda_total_ns: number | null;
}

export interface ChainLink {
  kind: 'region' | 'operator' | 'api_call' | 'activity';
  name: string;
}

export interface Breakdown {
  cpu_nested_ns: number;
  cpu_operators_ns: number;
  cpu_api_calls_ns: number;
  cpu_self_ns: number;
  cuda_nested_ns: number | null;
  cuda_self_ns: number | null;
  kernels: KernelShare[];
  kernel_names: number;
  operators: OperatorShare[];
  operator_names: number;
  chain: ChainLink[];
  threads: number;
  on_other_threads: number;
  /** Part of `cpu_self_ns`; results of older versions have none of the three. */
  cpu_autograd_wait_ns?: number;
  autograd_operators?: OperatorShare[];
  autograd_operator_names?: number;
}

/** One call of a region. */
export interface CallTimes {
  trace: number;
  start_ns: number;
  is_warmup: boolean;
  cpu_total_ns: number;
  cpu_self_ns: number;
  cuda_total_ns: number | null;
  cuda_busy_ns: number | null;
  /** Type of the exception that ended it. */
  raised: string | null;
}

/** A slice of the CPU. Thread 0 is the region's own; `start_ns` counts from where the timeline starts. */
export interface HostSlice {
  kind: 'region' | 'operator' | 'launch' | 'sync' | 'api_call';
  name: string;
  thread: number;
  depth: number;
  start_ns: number;
  duration_ns: number;
}

/** One activity of the GPU; `launch` is the place of its launch in `host`. */
export interface DeviceSlice {
  name: string;
  /** As of a `KernelShare`. */
  short?: string;
  stream: string;
  start_ns: number;
  duration_ns: number;
  launch: number | null;
}

/** The call with the median CPU total. `end_ns` is where its last GPU activity, or the region itself, ends. */
export interface Timeline {
  cpu_total_ns: number;
  end_ns: number;
  host: HostSlice[];
  device: DeviceSlice[];
  host_left_out: number;
  device_left_out: number;
}

/** A stretch of a trace; `trace` is its place among those of the run. */
export interface Spot {
  trace: number;
  start_ns: number;
  duration_ns: number;
}

/** What a rule says of a region or of a whole run; `code` names the rule and its page. */
export interface Finding {
  code: string;
  severity: 'warning' | 'information' | 'hint';
  message: string;
  saves_per_call_ns: number | null;
  call_is: 'call' | 'batch';
  spot: Spot | null;
  is_suppressed: boolean;
}

export type Middle = [least: number, most: number];

/** Measures of a region in `kinetoscope/results`. */
export interface Measures {
  name: string;
  /** Where it stood in the source as it was measured; `line` counts from 1. */
  file: string | null;
  line: number | null;
  calls: number;
  measured: number;
  is_cold: boolean;
  /** Calls that an exception ended; `exception` is the type of the last one's. */
  raised: number;
  exception: string | null;
  /** They were measured, for want of others. */
  is_raised: boolean;
  unfinished: number;
  cpu_total_ns: Spread;
  cpu_self_ns: Spread;
  cuda_total_ns: Spread | null;
  cuda_self_ns: Spread | null;
  cuda_busy_ns: Spread | null;
  backward_cuda_ns: Spread | null;
  launches: Spread | null;
  overhead_ns: number;
  bound: Bound | null;
  /** Its CPU total is the median of `cpu_total_ns`. */
  median_call: CallInTrace;
  first: CallInTrace;
  breakdown: Breakdown;
  /** The costliest first, the bound last. */
  findings: Finding[];
  /** What the longest unfinished call had taken. */
  at_least_ns: number | null;
  /** The ends of the middle half of the totals. */
  cpu_middle_ns: Middle | null;
  cuda_middle_ns: Middle | null;
  /** Above 1: it stands for so many names that differ in numbers alone. */
  names: number;
  /** Of a series: its name with the largest median. */
  slowest?: string | null;
  /** Who made it; results of older versions do not say. */
  origin?: 'user' | 'module' | 'torch';
  /** Of a module. A compiled one has no modules inside. */
  module?: { class_name: string; file: string | null; line: number | null; is_compiled: boolean } | null;
}

type OfMeasuredCalls =
  | 'cpu_total_ns'
  | 'cpu_self_ns'
  | 'cuda_total_ns'
  | 'cuda_self_ns'
  | 'cuda_busy_ns'
  | 'backward_cuda_ns'
  | 'launches'
  | 'cpu_middle_ns'
  | 'cuda_middle_ns'
  | 'bound'
  | 'median_call'
  | 'breakdown'
  | 'findings';

/** The same of a region that was entered and has no call with a time: `measured` is 0. */
export type Unmeasured = Omit<Measures, OfMeasuredCalls> & Record<OfMeasuredCalls, null>;

/** Whether a call of it has a time. */
export function hasTimes(measures: Measures | Unmeasured): measures is Measures {
  return measures.cpu_total_ns !== null;
}

/** Its calls, at most 200, evenly chosen, and the median one. Of a run's regions only 100 have a timeline: the longest. */
export interface RegionTimes {
  call_times: CallTimes[] | null;
  timeline: Timeline | null;
}
