// Texts of the list of runs. Knows no VS Code.
import { countText, timeText } from '../details/text';
import type { ComparisonParams } from '../server/protocol/comparison';
import type { RunRow } from '../server/protocol/results';

const CLOCK: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' };

function clockText(then: Date): string {
  return new Intl.DateTimeFormat('en-GB', CLOCK).format(then);
}

/** `29 Nov` or `29 Nov 2025`, in local time; undefined where it is today. */
function dayText(then: Date, now: Date): string | undefined {
  if (then.toDateString() === now.toDateString()) return undefined;
  const isThisYear = then.getFullYear() === now.getFullYear();
  return new Intl.DateTimeFormat('en-GB', isThisYear ? DAY : { ...DAY, year: 'numeric' }).format(then);
}

/** `14:32` or `29 Nov 14:32`, in local time. */
export function whenText(then: Date, now: Date): string {
  return [dayText(then, now), clockText(then)].filter(Boolean).join(' ');
}

function largestText({ largest }: RunRow): string[] {
  if (!largest) return [];
  const time =
    largest.cuda_total_ns === null
      ? `CPU ${timeText(largest.cpu_total_ns)}`
      : `CUDA ${timeText(largest.cuda_total_ns)}`;
  return [`${time} in ${largest.name}`];
}

function deviceText({ device, is_loaded }: RunRow): string[] {
  if (!device) return is_loaded ? [] : ['CPU only'];
  return [device.count > 1 ? `${device.count} × ${device.name}` : device.name];
}

/** When and what ran, as short as it can be: what stands behind it is the first that a narrow side bar cuts. */
export function labelOf(row: RunRow, now: Date): string {
  if (row.problem !== null) return row.id;
  if (row.started === null) return row.script;
  const then = new Date(row.started);
  return `${dayText(then, now) ?? clockText(then)} ${row.script}`;
}

/** Behind it: what took longest, the time on another day, the arguments, and the device. */
export function descriptionOf(row: RunRow, now: Date): string {
  if (row.problem !== null) return row.problem;
  const baseline = row.is_baseline ? ['baseline'] : [];
  const then = row.started === null ? undefined : new Date(row.started);
  const clock = then && dayText(then, now) ? [clockText(then)] : [];
  const given = row.arguments.length > 0 ? [row.arguments.join(' ')] : [];
  return [...baseline, ...largestText(row), ...clock, ...given, ...deviceText(row)].join(' · ');
}

/** All that is known of it, a line each. */
export function tooltipOf(row: RunRow): string {
  if (row.problem !== null) return row.problem;
  const started = row.started === null ? [] : [new Date(row.started)];
  return [
    row.title,
    ...started.map((date) => `Started ${date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })}`),
    ...(row.seconds === null ? ['A trace from elsewhere'] : [`Ran for ${row.seconds.toFixed(1)} s`]),
    ...deviceText(row),
    countText(row.regions, 'region'),
    ...largestText(row).map((text) => `Largest region: ${text} (the median of its calls)`),
    ...(row.size_bytes === null ? [] : [`${(row.size_bytes / 1e6).toFixed(1)} MB`]),
    ...(row.is_baseline ? ['Baseline of its script and arguments: it stays until you unpin it'] : []),
    ...(row.is_pinned ? ['Pinned: it stays until you delete it'] : []),
  ].join('\n');
}

/** What can be done with it: words that the menus of package.json look for. */
export function contextOf(row: RunRow): string {
  if (row.problem !== null) return 'damaged';
  if (row.is_loaded) return 'loaded';
  return `run ${row.is_pinned ? 'pinned' : 'unpinned'} ${row.is_baseline ? 'baseline' : 'other'}`;
}

export function iconOf(row: RunRow): string {
  if (row.problem !== null) return 'warning';
  if (row.is_baseline) return 'target';
  if (row.is_pinned) return 'pinned';
  return row.is_loaded ? 'graph-line' : 'history';
}

/** The other stored runs, those of the same script and arguments first. */
export function comparable(rows: readonly RunRow[], row: RunRow): RunRow[] {
  const others = rows.filter((each) => each.id !== row.id && each.problem === null && !each.is_loaded);
  return [...others.filter(({ title }) => title === row.title), ...others.filter(({ title }) => title !== row.title)];
}

/** The older of two runs is what was before. */
export function sidesOf(one: RunRow, another: RunRow): ComparisonParams {
  return one.id < another.id ? { run: another.id, other: one.id } : { run: one.id, other: another.id };
}
