// A small run with numbers to reckon with: one region that launches two kernels, one nested in it, one without a GPU.
import { USUAL_ORDER } from '../src/details/table/rows';
import type { Finding, Measures, CallTimes, RegionTimes, Spread, Timeline } from '../src/server/protocol/measures';
import type { RunRegion, RunResult } from '../src/server/protocol/results';

/** What a saved page shows when nothing was chosen in the panel. */
export const usualView = {
  filter: '',
  order: USUAL_ORDER,
  hasAllColumns: false,
  chosen: 0,
  open: [],
  extent: 'cuda' as const,
  span: null,
  isCompared: false,
};

export const spread = (median: number, measured = 4): Spread => ({
  sum: median * measured,
  median,
  min: median,
  max: median,
});

export const timeline: Timeline = {
  cpu_total_ns: 100,
  end_ns: 200,
  host: [
    { kind: 'region', name: 'step', thread: 0, depth: 0, start_ns: 0, duration_ns: 100 },
    { kind: 'operator', name: 'aten::mm', thread: 0, depth: 1, start_ns: 10, duration_ns: 40 },
    { kind: 'launch', name: 'cudaLaunchKernel', thread: 0, depth: 2, start_ns: 20, duration_ns: 10 },
    { kind: 'launch', name: 'cuLaunchKernel', thread: 1, depth: 0, start_ns: 60, duration_ns: 5 },
    { kind: 'sync', name: 'cudaStreamSynchronize', thread: 0, depth: 1, start_ns: 70, duration_ns: 20 },
  ],
  device: [
    { name: 'void gemm<float>(int)', short: 'gemm<float>', stream: '7', start_ns: 50, duration_ns: 50, launch: 2 },
    { name: 'add', stream: '7', start_ns: 150, duration_ns: 50, launch: 3 },
  ],
  host_left_out: 0,
  device_left_out: 0,
};

export const calls: CallTimes[] = [900, 110, 100, 90].map((cpu_total_ns, index) => ({
  trace: 0,
  start_ns: 1_000_000 + index * 2_000,
  is_warmup: index === 0,
  cpu_total_ns,
  cpu_self_ns: 10,
  cuda_total_ns: 100,
  cuda_busy_ns: 80,
  raised: null,
}));

export const finding = (changes: Partial<Finding> = {}): Finding => ({
  code: 'tiny-kernels',
  severity: 'warning',
  message: 'step launches 20 kernels a call. Could save up to 500 ns per call (50 %).',
  saves_per_call_ns: 500,
  call_is: 'call',
  spot: { trace: 0, start_ns: 1_000_000, duration_ns: 900 },
  is_suppressed: false,
  ...changes,
});

export const measures: Measures = {
  name: 'step',
  file: '/w/train.py',
  line: 1,
  calls: 4,
  measured: 3,
  is_cold: false,
  raised: 0,
  exception: null,
  is_raised: false,
  unfinished: 0,
  cpu_total_ns: { sum: 300, median: 100, min: 90, max: 110 },
  cpu_self_ns: spread(10, 3),
  cuda_total_ns: spread(100, 3),
  cuda_self_ns: spread(40, 3),
  cuda_busy_ns: spread(80, 3),
  backward_cuda_ns: spread(0, 3),
  launches: spread(2, 3),
  overhead_ns: 0,
  bound: 'overhead',
  median_call: { trace: 0, start_ns: 1_004_000, cpu_total_ns: 100, cuda_total_ns: 100 },
  first: { trace: 0, start_ns: 1_000_000, cpu_total_ns: 900, cuda_total_ns: 100 },
  breakdown: {
    cpu_nested_ns: 0,
    cpu_operators_ns: 120,
    cpu_api_calls_ns: 150,
    cpu_self_ns: 30,
    cuda_nested_ns: 180,
    cuda_self_ns: 120,
    kernels: [{ name: 'void gemm<float>(int)', short: 'gemm<float>', count: 3, total_ns: 150 }],
    kernel_names: 2,
    operators: [{ name: 'aten::mm', is_on_other_thread: false, count: 3, cpu_total_ns: 120, cuda_total_ns: 150 }],
    operator_names: 1,
    chain: [
      { kind: 'region', name: 'step' },
      { kind: 'operator', name: 'aten::mm' },
      { kind: 'api_call', name: 'cudaLaunchKernel' },
      { kind: 'activity', name: 'void gemm<float>(int)' },
    ],
    threads: 1,
    on_other_threads: 0,
  },
  findings: [],
  at_least_ns: null,
  cpu_middle_ns: [90, 110],
  cuda_middle_ns: [100, 100],
  names: 1,
};

const whole = { ...measures, call_times: calls, timeline };

export function region(
  index: number,
  changes: Partial<Measures & RegionTimes>,
  rest: Partial<RunRegion> = {},
): RunRegion {
  return {
    index,
    measures: { ...whole, ...changes },
    uri: 'file:///w/train.py',
    row: index,
    share: null,
    parent: null,
    series: null,
    inside: null,
    stale: [],
    ...rest,
  };
}

export const run: RunResult = {
  id: '20261129-120000',
  title: 'train.py --size 64',
  run: { started: '2026-11-29T12:00:00+00:00', has_own_profiler: false },
  device: { name: 'NVIDIA H200', count: 1 },
  torch: '2.11.0',
  device_total_ns: 300,
  outside_regions_ns: 0,
  no_cuda_because: null,
  problems: [],
  findings: [],
  backward: null,
  contents: null,
  script: 'file:///w/train.py',
  regions: [
    region(0, {}, { share: 1 }),
    region(1, { name: 'layer_10|a', cuda_total_ns: spread(60), bound: 'mixed' }, { share: 0.6 }),
    region(2, { name: 'layer_9', cuda_total_ns: spread(1_500), bound: 'compute' }, { share: 0.8 }),
    region(3, { name: 'load, "all"', cuda_total_ns: null, cuda_self_ns: null, bound: null }, { stale: ['renamed'] }),
    region(4, { name: 'ProfilerStep#3' }, { uri: null, row: null }),
  ],
};
