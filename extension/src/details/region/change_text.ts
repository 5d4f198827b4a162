// Changes of a time as people read them, as kinetoscope_core/output/comparison_text.py writes them.
import type { Change } from '../../server/protocol/comparison';
import { countText, timeParts, timeText } from '../text';

/** `214 →` and `146 µs`, `980 µs →` and `1.02 ms`, `— →` and `146 µs`. */
export function timeTexts({ a, b }: Pick<Change, 'a' | 'b'>): [before: string, now: string] {
  const now = b === null ? '—' : timeText(b);
  if (a === null) return ['— →', now];
  const before = timeParts(a);
  const isOneUnit = b !== null && timeParts(b).unit === before.unit;
  return [`${isOneUnit ? before.number : timeText(a)} →`, now];
}

/** Of a table's row; `isNew`: before there was no such region. */
export interface RowChange extends Change {
  isNew?: boolean;
}

export type ChangeKind = 'faster' | 'slower' | 'quiet';

/** What is said of a change: an arrow only where there is one beyond noise. */
export function changeText({ a, b, change, verdict, isNew }: RowChange): string {
  if (isNew) return 'new';
  if (a === null || b === null) return '';
  if (verdict === 'same') return 'no difference';
  if (verdict === 'unknown' || change === null) return 'cannot tell';
  return `${change < 0 ? '▼' : '▲'}${sizeText(change)}`;
}

export function changeKind({ verdict }: Change): ChangeKind {
  return verdict === 'faster' || verdict === 'slower' ? verdict : 'quiet';
}

/** Between what the change lies, and what would help where that says nothing: `-12 % to +40 %, 2 more runs would do`. */
export function intervalText({ low, high, more_runs: moreRuns, isNew }: RowChange): string {
  if (isNew) return 'The run before does not have this region';
  const interval = low === null || high === null ? [] : [`${signed(low)} to ${signed(high)}`];
  const help = moreRuns ? [`${countText(moreRuns, 'more run')} would do`] : [];
  return [...interval, ...help].join(', ');
}

function signed(change: number): string {
  return change >= 1 ? sizeText(change) : `${change < 0 ? '-' : '+'}${percent(change)}`;
}

/** How large a change is, without its sign: `32 %`, `4.1 %`; `2.3×` where more than double or less than a tenth. */
export function sizeText(change: number): string {
  if (change >= 1) return `${short(change + 1)}×`;
  return change > -1 && change < -0.9 ? `${short(1 / (change + 1))}×` : percent(change);
}

function percent(change: number): string {
  return `${short(Math.abs(change) * 100)} %`;
}

function short(value: number): string {
  return value.toFixed(value >= 9.95 ? 0 : 1);
}
