// Rows of the table: which regions, and in which order.
import type { RunRegion, RunResult } from '../../server/protocol';
import type { Column, ColumnId } from './columns';
import { boundText, fileName } from '../text';

export interface Order {
  column: ColumnId;
  descending: boolean;
}

export const USUAL_ORDER: Order = { column: 'share', descending: true };

/** What torch itself marks has no line; it is of interest where there are no lines at all. */
export function regionsOf(run: RunResult): RunRegion[] {
  return run.run === null ? run.regions : run.regions.filter((region) => region.uri !== null);
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

/** Ordered by a column; what was not measured comes last, and equals stay as they were. */
export function ordered(regions: readonly RunRegion[], columns: readonly Column[], order: Order): RunRegion[] {
  const column = columns.find((each) => each.id === order.column);
  if (!column) return [...regions];
  const sign = order.descending ? -1 : 1;
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
