// Widths of the columns, the same whichever rows are in sight, and how many columns a table of some width holds.
import { ALWAYS, cellText, type Column } from './columns';
import { timeTexts } from '../region/change_text';
import { hasWarning } from '../region/findings_markup';
import type { Row } from './rows';
import { nameBelow } from '../text';

/** Of names: what they have in any case, and what no further column takes from them. */
const LEAST_NAME = 8;
const WANTED_NAME = 16;
const SHARE = 12;
const MARK = 2.5;
const INDENT = 1.5;
const OF_A_LETTER = 0.95;
const PADDING_PX = 16;
/** Of `no difference`, as the style has it. */
const VERDICT = 12;

/** `isTight`: names have the least, since all columns are in sight; `isBrief`: there is no room for what was before. */
export interface Sizing {
  isTight?: boolean;
  isBrief?: boolean;
}

/** In widths of a digit, without the padding; the first column takes what is left as well. */
export function columnWidth(
  column: Column,
  rows: readonly Row[],
  { isTight = false, isBrief = false }: Sizing = {},
): number {
  if (column.kind === 'share') return Math.max(SHARE, column.heading.length * OF_A_LETTER);
  const heading = column.heading.length * OF_A_LETTER;
  const lengths = rows.map(({ region, around, depth }) => {
    const change = column.change?.(region);
    if (change) return (isBrief ? timeTexts(change)[1] : timeTexts(change).join(' ')).length + VERDICT;
    if (column.id !== 'name') return cellText(column, region).length;
    return nameBelow(region.measures, around?.measures ?? null).length + 1 + INDENT * depth;
  });
  const longest = lengths.reduce((longer, length) => Math.max(longer, length), 0);
  if (column.id === 'name') {
    const mark = rows.some(({ region }) => hasWarning(region.measures.findings)) ? MARK : 0;
    return Math.max(heading, Math.min(longest, isTight ? LEAST_NAME : WANTED_NAME) + mark);
  }
  return Math.max(heading, column.kind === 'text' ? longest * OF_A_LETTER : longest);
}

export interface Room {
  roomPx: number;
  digitPx: number;
}

/** Whether the columns that are always shown have no room for what was before. */
export function isBriefIn(columns: readonly Column[], rows: readonly Row[], { roomPx, digitPx }: Room): boolean {
  if (!columns.some(({ change }) => change)) return false;
  const always = columns.filter(({ id }) => ALWAYS.includes(id));
  const wanted = always.map((column) => columnWidth(column, rows, { isTight: true }) * digitPx + PADDING_PX);
  return wanted.reduce((sum, width) => sum + width, 0) > roomPx;
}

/** The first columns, as many as there is room for. */
export function fitting(
  columns: readonly Column[],
  rows: readonly Row[],
  { roomPx, digitPx }: Room,
  isBrief = false,
): readonly Column[] {
  let leftPx = roomPx;
  const over = columns.findIndex((column) => {
    leftPx -= columnWidth(column, rows, { isBrief }) * digitPx + PADDING_PX;
    return leftPx < 0 && !ALWAYS.includes(column.id);
  });
  return over === -1 ? columns : columns.slice(0, over);
}
