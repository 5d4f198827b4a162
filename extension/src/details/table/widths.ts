// Widths of the columns, the same whichever rows are in sight, and how many columns a table of some width holds.
import { ALWAYS, cellText, type Column } from './columns';
import { hasWarning } from '../region/findings_markup';
import type { Row } from './rows';

/** Of names: what they have in any case, and what no further column takes from them. */
const LEAST_NAME = 8;
const WANTED_NAME = 16;
const SHARE = 12;
const MARK = 2.5;
const INDENT = 1.5;
const OF_A_LETTER = 0.95;
const PADDING_PX = 16;

/** In widths of a digit, without the padding; the first column takes what is left as well, and has the least where
 * all columns are in sight. */
export function columnWidth(column: Column, rows: readonly Row[], isTight = false): number {
  if (column.kind === 'share') return Math.max(SHARE, column.heading.length * OF_A_LETTER);
  const heading = column.heading.length * OF_A_LETTER;
  const lengths = rows.map(({ region, depth }) => {
    const letters = cellText(column, region).length;
    return column.id === 'name' ? letters + 1 + INDENT * depth : letters;
  });
  const longest = lengths.reduce((longer, length) => Math.max(longer, length), 0);
  if (column.id === 'name') {
    const mark = rows.some(({ region }) => hasWarning(region.measures.findings)) ? MARK : 0;
    return Math.max(heading, Math.min(longest, isTight ? LEAST_NAME : WANTED_NAME) + mark);
  }
  return Math.max(heading, column.kind === 'text' ? longest * OF_A_LETTER : longest);
}

/** The first columns, as many as there is room for. */
export function fitting(
  columns: readonly Column[],
  rows: readonly Row[],
  { roomPx, digitPx }: { roomPx: number; digitPx: number },
): readonly Column[] {
  let leftPx = roomPx;
  const over = columns.findIndex((column) => {
    leftPx -= columnWidth(column, rows) * digitPx + PADDING_PX;
    return leftPx < 0 && !ALWAYS.includes(column.id);
  });
  return over === -1 ? columns : columns.slice(0, over);
}
