// Widths of the columns, the same whichever rows are in sight.
import type { RunRegion } from '../../server/protocol';
import { cellText, type Column } from './columns';
import { hasWarning } from '../region/findings_markup';

const LONGEST_NAME = 26;
const SHARE = 13;
const MARK = 3;
const OF_A_LETTER = 0.95;

/** In widths of a digit; the first column takes what is left as well. */
export function columnWidth(column: Column, regions: readonly RunRegion[]): number {
  if (column.kind === 'share') return SHARE;
  const longest = regions.reduce((most, region) => Math.max(most, cellText(column, region).length), 0);
  const heading = column.heading.length * OF_A_LETTER;
  if (column.id === 'name') {
    const mark = regions.some(({ measures }) => hasWarning(measures.findings)) ? MARK : 0;
    return Math.max(heading, Math.min(longest + 1, LONGEST_NAME) + mark);
  }
  return Math.max(heading, column.kind === 'text' ? longest * OF_A_LETTER : longest);
}
