// Columns of the table of regions: what each holds, and how it is ordered, shown and exported.
import { hasTimes, type RunRegion, type RunResult, type Spread } from '../../server/protocol';
import { boundText, fileName, printable, timeText, unmeasuredText } from '../text';

export type ColumnId = TimeColumn | 'name' | 'line' | 'share' | 'launches' | 'measured' | 'bound';

export interface Column {
  id: ColumnId;
  heading: string;
  meaning: string;
  kind: 'text' | 'time' | 'count' | 'share';
  /** Heading in CSV, where times are nanoseconds. */
  field: string;
  /** What it is ordered by and exported as; null where it was not measured or is not known. */
  value: (region: RunRegion) => number | string | null;
  /** What is shown, of columns whose value does not say it all. */
  text?: (region: RunRegion) => string;
}

const median = (spread: Spread | null): number | null => spread?.median ?? null;

const NAME: Column = {
  id: 'name',
  heading: 'Region',
  meaning: 'Name of the record_function region',
  kind: 'text',
  field: 'region',
  value: (region) => printable(region.measures.name),
  text: ({ measures: { name, names } }) => printable(name) + (names > 1 ? ` (${names} names)` : ''),
};

/** Without the file where it is the same for all. */
const line = (isOneFile: boolean): Column => ({
  id: 'line',
  heading: 'Line',
  meaning: 'Line in the source',
  kind: isOneFile ? 'count' : 'text',
  field: 'line',
  value: ({ uri, row }) => (uri === null || row === null ? null : isOneFile ? row + 1 : `${fileName(uri)}:${row + 1}`),
});

type TimeColumn = 'cuda_total' | 'cuda_self' | 'cuda_busy' | 'backward_cuda' | 'cpu_total' | 'cpu_self';

function time(id: TimeColumn, heading: string, meaning: string): Column {
  return {
    id,
    heading,
    meaning: `${meaning}. Median of the measured calls`,
    kind: 'time',
    field: `${id}_ns_median`,
    value: ({ measures }) => median(measures[`${id}_ns`]),
  };
}

const share = (hasCuda: boolean): Column => ({
  id: 'share',
  heading: 'Share',
  meaning: `Share of the ${hasCuda ? 'recorded GPU time' : 'CPU time recorded in regions'}, warm-up calls included. A region includes those nested in it, so shares overlap`,
  kind: 'share',
  field: 'share',
  value: (region) => region.share,
});

const CUDA: readonly Column[] = [
  time('cuda_total', 'CUDA total', 'Time of the GPU activities launched in the region, nested regions included'),
  time('cuda_self', 'CUDA self', 'Time of the GPU activities launched in the region, nested regions excluded'),
  time('cuda_busy', 'CUDA busy', 'Time in which at least one of its GPU activities ran'),
  {
    id: 'launches',
    heading: 'Launches',
    meaning: 'Number of GPU activities launched in the region, nested regions included. Median of the measured calls',
    kind: 'count',
    field: 'launches_median',
    value: ({ measures }) => median(measures.launches),
  },
];

const BACKWARD = time(
  'backward_cuda',
  'Backward',
  'GPU time of the backward pass of this region, which runs later; not part of its CUDA total',
);

const CPU: readonly Column[] = [
  time('cpu_total', 'CPU total', 'Wall-clock time from entering the region to leaving it'),
  time('cpu_self', 'CPU self', 'CPU total without nested regions, operators and CUDA API calls'),
];

const MEASURED: Column = {
  id: 'measured',
  heading: 'Measured',
  meaning: 'How many calls were measured, of all that were seen',
  kind: 'count',
  field: 'measured',
  value: (region) => region.measures.measured,
  text: ({ measures }) => {
    if (!hasTimes(measures)) return unmeasuredText(measures);
    const { measured, calls, is_cold } = measures;
    return `${measured} of ${calls}${is_cold ? ', cold' : ''}`;
  },
};

const BOUND: Column = {
  id: 'bound',
  heading: 'Bound',
  meaning: 'What limits its median call',
  kind: 'text',
  field: 'bound',
  value: (region) => (region.measures.bound === null ? null : boundText(region.measures.bound)),
};

/** The columns that something was measured for. */
export function columnsOf(run: RunResult): Column[] {
  const hasCuda = run.device_total_ns !== null;
  const files = new Set(run.regions.map((region) => region.uri).filter((uri) => uri !== null));
  const hasBackward = run.regions.some(({ measures }) => (measures.backward_cuda_ns?.max ?? 0) > 0);
  const cuda = hasCuda ? [BOUND, ...CUDA] : [];
  const all = [
    NAME,
    line(files.size === 1),
    share(hasCuda),
    ...cuda,
    ...CPU,
    ...(hasBackward ? [BACKWARD] : []),
    MEASURED,
  ];
  return all.filter((column) => run.regions.some((region) => column.value(region) !== null));
}

/** Why there are no CUDA columns; null where there are. */
export function whyNoCuda(run: RunResult): string | null {
  if (run.device_total_ns !== null) return null;
  return `No CUDA times: ${run.no_cuda_because ?? 'no GPU activity was recorded'}`;
}

/** A cell as text; empty where nothing was measured. */
export function cellText(column: Column, region: RunRegion): string {
  if (column.text) return column.text(region);
  const value = column.value(region);
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (column.kind === 'time') return timeText(value);
  return column.kind === 'share' ? `${(value * 100).toFixed(1)} %` : String(value);
}
