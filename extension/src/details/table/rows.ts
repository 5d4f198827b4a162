// Rows of the table: which regions, and in which order.
import type { RunRegion, RunResult } from '../../server/protocol/results';
import type { Column, ColumnId } from './columns';
import { boundText, fileName } from '../text';
import { RegionTree } from '../tree';

export interface Order {
  column: ColumnId;
  descending: boolean;
}

export const USUAL_ORDER: Order = { column: 'share', descending: true };

/** What torch itself marks has no line; it is of interest where there are no lines at all. A series stands for its names. */
export function regionsOf(run: RunResult): RunRegion[] {
  return listedOf(run).filter((region) => region.series === null);
}

function listedOf({ run, regions }: RunResult): RunRegion[] {
  return run === null ? regions : regions.filter((region) => region.uri !== null);
}

/** What of a run has a row: what the filter finds where it is shown, and the names that it finds but not their series. */
export function rowsOf(run: RunResult, filter: string, open: readonly number[]): RunRegion[] {
  const tree = new RegionTree(run, new Set(open));
  const found = filtered(listedOf(run), filter);
  if (filter.trim() === '') return found.filter((region) => tree.isShown(region));
  const isFound = new Set(found.map(({ index }) => index));
  return found.filter((region) => tree.isShown(region) || (region.series !== null && !isFound.has(region.series)));
}

/** Those that hold each word of the filter in their name, file or bound. */
export function filtered(regions: readonly RunRegion[], filter: string): RunRegion[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...regions];
  return regions.filter((region) => {
    const { name, bound } = region.measures;
    const text = [name, region.uri === null ? '' : fileName(region.uri), bound === null ? '' : boundText(bound)];
    const lower = text.join('\n').toLowerCase();
    return words.every((word) => lower.includes(word));
  });
}

/** A region in its place. `around` has the row that it stands below; `depth` counts the listed regions that it is nested in; `isOpen` is null of what does not open. */
export interface Row {
  region: RunRegion;
  around: RunRegion | null;
  depth: number;
  isOpen: boolean | null;
}

/** Ordered by a column; what was not measured comes last, and equals stay as they were. Ordered by a column that
 * includes nested regions, each stands below the one that it is nested in; by any other, a name below its series. */
export function arranged(
  run: RunResult,
  regions: readonly RunRegion[],
  columns: readonly Column[],
  order: Order,
  open: readonly number[] = [],
): Row[] {
  const tree = new RegionTree(run, new Set(open));
  const column = columns.find((each) => each.id === order.column);
  const sorted = column ? ordered(regions, column, order.descending) : [...regions];
  const listed = new Set(regions.map(({ index }) => index));
  const inside = new Map<number | null, RunRegion[]>();
  for (const region of sorted) {
    let around = column?.isOfNested ? tree.around(region)?.index : region.series;
    while (around != null && !listed.has(around)) {
      const at: RunRegion | undefined = run.regions[around];
      around = column?.isOfNested && at ? tree.around(at)?.index : null;
    }
    around ??= null;
    const siblings = inside.get(around);
    if (siblings) siblings.push(region);
    else inside.set(around, [region]);
  }
  const rows: Row[] = [];
  const ahead: Row[] = [];
  const add = (around: RunRegion | null, depth: number): void => {
    for (const region of inside.get(around?.index ?? null)?.reverse() ?? [])
      ahead.push({ region, around, depth, isOpen: tree.isOpen(region) });
  };
  add(null, 0);
  for (let row = ahead.pop(); row; row = ahead.pop()) {
    rows.push(row);
    add(row.region, row.depth + 1);
  }
  return rows;
}

function ordered(regions: readonly RunRegion[], column: Column, descending: boolean): RunRegion[] {
  const sign = descending ? -1 : 1;
  const keyed = regions.map((region) => ({ region, key: column.value(region) }));
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
    return sign * compared(a.key, b.key);
  });
  return keyed.map(({ region }) => region);
}

const collator = new Intl.Collator('en', { numeric: true });

function compared(a: number | string, b: number | string): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
}

/** The order after a click on a column's heading: numbers begin with the largest. */
export function nextOrder(order: Order, column: Column): Order {
  if (order.column === column.id) return { column: column.id, descending: !order.descending };
  return { column: column.id, descending: column.kind !== 'text' };
}
