// Columns of the table of regions: what each holds, and how it is ordered, shown and exported.
import { hasTimes, type Middle, type Spread } from '../../server/protocol/measures';
import type { RunRegion, RunResult } from '../../server/protocol/results';
import { changeText, timeTexts, type RowChange } from '../region/change_text';
import type { Compared } from '../region/compared';
import { boundText, fileName, nameText, printable, typicalParts, unmeasuredText } from '../text';

export type ColumnId = TimeColumn | 'name' | 'line' | 'share' | 'launches' | 'measured' | 'bound';

/** A field of CSV. */
export interface Field {
  field: string;
  value: (region: RunRegion) => number | string | null;
}

export interface Column extends Field {
  id: ColumnId;
  heading: string;
  meaning: string;
  kind: 'text' | 'time' | 'count' | 'share';
  /** Heading in CSV, where times are nanoseconds. */
  field: string;
  /** What it is ordered by and exported as; null where it was not measured or is not known. */
  value: (region: RunRegion) => number | string | null;
  /** Of a column that is compared: what was before and is now. */
  change?: (region: RunRegion) => RowChange | null;
  /** In CSV in its place. */
  parts?: readonly Field[];
  /** What is shown, of columns whose value does not say it all. */
  text?: (region: RunRegion) => string;
  /** The ends of the middle half of the calls, shown in place of a median that says little. */
  middle?: (region: RunRegion) => Middle | null;
  /** Its value includes those of nested regions: ordered by it, the table is a tree. */
  isOfNested?: boolean;
}

const median = (spread: Spread | null): number | null => spread?.median ?? null;

const NAME: Column = {
  id: 'name',
  heading: 'Region',
  meaning: 'Name of the record_function region',
  kind: 'text',
  field: 'region',
  value: (region) => printable(region.measures.name),
  text: ({ measures }) => nameText(measures),
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

const OF_NESTED: readonly TimeColumn[] = ['cuda_total', 'cuda_busy', 'cpu_total'];

function time(id: TimeColumn, heading: string, meaning: string, middle?: Column['middle']): Column {
  return {
    id,
    heading,
    meaning: `${meaning}. Median of the measured calls`,
    kind: 'time',
    field: `${id}_ns_median`,
    value: ({ measures }) => median(measures[`${id}_ns`]),
    isOfNested: OF_NESTED.includes(id),
    ...(middle && { middle }),
  };
}

const share = (hasCuda: boolean): Column => ({
  id: 'share',
  heading: hasCuda ? 'Of GPU time' : 'Of CPU time',
  meaning: `Share of ${hasCuda ? 'all GPU time recorded' : 'the CPU time recorded in regions'}, warm-up calls included. That of a nested region is part of the share of the region around it`,
  kind: 'share',
  field: 'share',
  value: (region) => region.share,
  isOfNested: true,
});

const CUDA_TOTAL = time(
  'cuda_total',
  'CUDA total',
  'Time of the GPU activities launched in the region, nested regions included',
  ({ measures }) => measures.cuda_middle_ns,
);
const CUDA_SELF = time(
  'cuda_self',
  'CUDA self',
  'Time of the GPU activities launched in the region, nested regions excluded',
);
const CUDA_BUSY = time('cuda_busy', 'CUDA busy', 'Time in which at least one of its GPU activities ran');
const CPU_TOTAL = time(
  'cpu_total',
  'CPU total',
  'Wall-clock time from entering the region to leaving it',
  ({ measures }) => measures.cpu_middle_ns,
);
const CPU_SELF = time('cpu_self', 'CPU self', 'CPU total without nested regions, operators and CUDA API calls');

/** The column before and now. */
function before(column: Column, compared: Compared | null, id: 'cuda_total' | 'cpu_total'): Column {
  if (compared === null) return column;
  const change = (region: RunRegion): RowChange | null => {
    const known = compared(region);
    const found = known?.[`${id}_ns`];
    return known && found ? { ...found, isNew: known.in === 'b' } : null;
  };
  const value = (region: RunRegion): number | null => change(region)?.b ?? null;
  return {
    ...column,
    meaning: `${column.meaning}, before → now`,
    value,
    middle: () => null,
    text: (region) => {
      const found = change(region);
      return found === null ? '' : [...timeTexts(found), changeText(found)].join(' ').trimEnd();
    },
    change,
    parts: [
      { field: `${id}_ns_before`, value: (region) => change(region)?.a ?? null },
      { field: `${id}_ns_now`, value },
      { field: `${id}_verdict`, value: (region) => change(region)?.verdict ?? null },
    ],
  };
}

const LAUNCHES: Column = {
  id: 'launches',
  heading: 'Launches',
  meaning: 'Number of GPU activities launched in the region, nested regions included. Median of the measured calls',
  kind: 'count',
  field: 'launches_median',
  value: ({ measures }) => median(measures.launches),
  isOfNested: true,
};

const BACKWARD = time(
  'backward_cuda',
  'Backward',
  'GPU time of the backward pass of this region, which runs later; not part of its CUDA total',
);

const MEASURED: Column = {
  id: 'measured',
  heading: 'Measured',
  meaning: 'How many calls were measured, of all that were seen',
  kind: 'count',
  field: 'measured',
  value: (region) => region.measures.measured,
  text: ({ measures }) => {
    if (!hasTimes(measures)) return unmeasuredText(measures);
    const { measured, calls, is_cold, raised, is_raised } = measures;
    const unusual = raised > 0 ? (is_raised ? ', raised' : `, ${raised} raised`) : '';
    return `${measured} of ${calls}${is_cold ? ', cold' : ''}${unusual}`;
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

/** The columns that something was measured for, those that matter most first. The totals can be compared. */
export function columnsOf(run: RunResult, compared: Compared | null = null): Column[] {
  const hasCuda = run.device_total_ns !== null;
  const files = new Set(run.regions.map((region) => region.uri).filter((uri) => uri !== null));
  const backward = hasCuda ? [BACKWARD] : [];
  const hasModules = run.regions.some(({ measures }) => measures.module);
  const all = [
    NAME,
    ...(hasCuda ? [before(CUDA_TOTAL, compared, 'cuda_total')] : []),
    before(CPU_TOTAL, compared, 'cpu_total'),
    share(hasCuda),
    ...(hasModules ? backward : []),
    ...(hasCuda ? [BOUND, CUDA_SELF] : []),
    CPU_SELF,
    ...(hasCuda ? [LAUNCHES] : []),
    line(files.size === 1),
    ...(hasCuda ? [CUDA_BUSY] : []),
    ...(hasModules ? [] : backward),
    MEASURED,
  ];
  return all.filter((column) => run.regions.some((region) => column.value(region) !== null));
}

/** The first columns, however narrow the table is. */
export const ALWAYS: readonly ColumnId[] = ['name', 'cuda_total', 'cpu_total'];

const TOTAL_OF: Partial<Record<ColumnId, Column>> = {
  cuda_self: CUDA_TOTAL,
  cuda_busy: CUDA_TOTAL,
  cpu_self: CPU_TOTAL,
};

export interface Telling {
  columns: Column[];
  /** What is the same of all regions, in the place of its columns: `Measured: 5 of 8`. */
  same: string[];
}

/** The columns that say something of these regions: not nothing or zero of all, nor the same, nor what the total says. */
export function tellingColumns(columns: readonly Column[], regions: readonly RunRegion[]): Telling {
  const found: Telling = { columns: [], same: [] };
  for (const column of columns) {
    const total = TOTAL_OF[column.id];
    const [text = '', ...others] = regions.map((region) => cellText(column, region));
    const isSame = others.length > 0 && others.every((each) => each === text);
    if (ALWAYS.includes(column.id)) found.columns.push(column);
    else if (regions.every((region) => !column.value(region))) continue;
    else if (total && regions.every((region) => column.value(region) === total.value(region))) continue;
    else if (isSame) found.same.push(`${column.heading}: ${text}`);
    else found.columns.push(column);
  }
  return found;
}

/** Why there are no CUDA columns; empty where there are. */
export function whyNoCuda(run: RunResult): string {
  return run.device_total_ns === null ? `No CUDA times: ${run.no_cuda_because ?? 'no GPU activity was recorded'}.` : '';
}

/** A cell as text; empty where nothing was measured. */
export function cellText(column: Column, region: RunRegion): string {
  if (column.text) return column.text(region);
  const value = column.value(region);
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (column.kind === 'time') {
    const { number, unit } = typicalParts(value, column.middle?.(region) ?? null);
    return `${number} ${unit}`;
  }
  return column.kind === 'share' ? `${(value * 100).toFixed(1)} %` : String(value);
}
