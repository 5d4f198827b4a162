// Chart of a region's calls, a bar each in order of time: where each stands, and what it says.
import type { Measures, CallTimes } from '../../server/protocol/measures';
import { ticks, type Tick } from './scale';
import { printable, timeText } from '../text';

export interface Bar {
  index: number;
  x: number;
  width: number;
  y: number;
  height: number;
  /** Not measured, or cold. */
  isHatched: boolean;
  /** Its time, where it is higher than the axis goes. */
  cut: string | null;
}

export interface BarLane {
  title: string;
  kind: 'cuda' | 'cpu';
  top: number;
  bottom: number;
  ticks: (Tick & { y: number })[];
  bars: Bar[];
  median: { y: number; text: string };
}

export interface CallsLayout {
  width: number;
  height: number;
  left: number;
  right: number;
  slot: number;
  lanes: BarLane[];
  numbers: { x: number; text: string }[];
  /** Where one trace ends and the next begins. */
  breaks: number[];
  /** Place of the median call, null where it is not among those that were kept. */
  median: number | null;
  warmups: { from: number; to: number } | null;
  isCold: boolean;
}

const LEFT = 62;
const RIGHT = 8;
/** Room for the text above the bars. */
const ROOM_FOR_TEXT = 180;
const HEADING = 32;
const LANE = 76;
const BETWEEN = 14;
const FOOT = 30;
const WIDEST_SLOT = 46;
const MOST_OVER_MEDIAN = 4;

export function callsLayout(calls: readonly CallTimes[], measures: Measures, width: number): CallsLayout {
  const slot = Math.min(WIDEST_SLOT, (width - LEFT - RIGHT) / Math.max(1, calls.length));
  const barWidth = Math.max(1, Math.min(26, slot * 0.68));
  const placed = { slot, barWidth, calls, isRaised: measures.is_raised };
  const lanes: BarLane[] = [];
  let top = HEADING;
  const cuda = measures.cuda_total_ns;
  if (cuda !== null) {
    lanes.push(lane('cuda', 'CUDA total', top, cuda.median, placed));
    top += LANE + BETWEEN + HEADING;
  }
  lanes.push(lane('cpu', 'CPU total', top, measures.cpu_total_ns.median, placed));
  const { trace, start_ns } = measures.median_call;
  const median = calls.findIndex((each) => each.trace === trace && each.start_ns === start_ns);
  const warm = calls.findIndex((each) => !each.is_warmup);
  const warmups = warm === -1 ? calls.length : warm;
  const right = LEFT + slot * calls.length;
  return {
    width: Math.min(width, Math.max(right + RIGHT, ROOM_FOR_TEXT)),
    height: top + LANE + FOOT,
    left: LEFT,
    right,
    slot,
    lanes,
    numbers: numbersOf(calls.length, measures.calls, slot),
    breaks: calls.flatMap((each, index) =>
      index > 0 && each.trace !== calls[index - 1]?.trace ? [LEFT + slot * index] : [],
    ),
    median: median === -1 ? null : median,
    isCold: measures.is_cold,
    warmups: warmups === 0 ? null : { from: LEFT, to: LEFT + slot * warmups },
  };
}

interface Placed {
  isRaised: boolean;
  slot: number;
  barWidth: number;
  calls: readonly CallTimes[];
}

function lane(kind: 'cuda' | 'cpu', title: string, top: number, medianNs: number, placed: Placed): BarLane {
  const { slot, barWidth, calls, isRaised } = placed;
  const bottom = top + LANE;
  const values = calls.map((each) => (kind === 'cuda' ? each.cuda_total_ns : each.cpu_total_ns));
  const known = values.filter((value) => value !== null);
  // One slow call, the first one mostly, would leave nothing to see of the others.
  const highest = Math.min(Math.max(1, ...known), Math.max(1, medianNs) * MOST_OVER_MEDIAN);
  const y = (ns: number): number => bottom - (Math.min(ns, highest) / highest) * LANE;
  const bars = values.flatMap((ns, index): Bar[] => {
    const call = calls[index];
    if (ns === null || !call) return [];
    const x = LEFT + slot * index + (slot - barWidth) / 2;
    const cut = ns > highest ? timeText(ns) : null;
    const isHatched = call.is_warmup || (call.raised !== null && !isRaised);
    return [{ index, x, width: barWidth, y: y(ns), height: bottom - y(ns), isHatched, cut }];
  });
  const found = ticks(0, highest, 3).map((tick) => ({ ...tick, y: y(tick.ns) }));
  return { title, kind, top, bottom, ticks: found, bars, median: { y: y(medianNs), text: timeText(medianNs) } };
}

/** Numbers below the bars; of a choice among many calls none would be true. */
function numbersOf(shown: number, seen: number, slot: number): CallsLayout['numbers'] {
  if (shown !== seen) return [];
  const step = [1, 5, 10, 20, 50].find((each) => each * slot >= 24) ?? 100;
  const numbers = Array.from({ length: shown }, (_, index) => index + 1);
  return numbers
    .filter((number) => number === 1 || number % step === 0)
    .map((number) => ({ x: LEFT + slot * (number - 0.5), text: String(number) }));
}

/** All that is known of one call, in a line. */
export function callText(calls: readonly CallTimes[], measures: Measures, index: number, isMedian: boolean): string {
  const call = calls[index];
  if (!call) return '';
  const marks = [
    isMedian ? 'median CPU total' : '',
    call.is_warmup ? (measures.is_cold ? 'cold' : 'warm-up') : '',
    call.raised === null ? '' : `raised ${printable(call.raised)}`,
  ].filter(Boolean);
  const isWhole = calls.length === measures.calls;
  const number = `Call ${index + 1} of ${isWhole ? '' : 'the '}${calls.length}${isWhole ? '' : ' kept'}`;
  const facts = [marks.length > 0 ? `${number} (${marks.join(', ')})` : number];
  if (call.cuda_total_ns !== null) {
    const busy = call.cuda_busy_ns;
    const more = busy === null || busy === call.cuda_total_ns ? '' : `, busy ${timeText(busy)}`;
    facts.push(`CUDA ${timeText(call.cuda_total_ns)}${more}`);
  }
  facts.push(`CPU ${timeText(call.cpu_total_ns)}, self ${timeText(call.cpu_self_ns)}`);
  const first = calls[0];
  if (first && index > 0 && first.trace === call.trace) {
    facts.push(`${timeText(call.start_ns - first.start_ns)} after the first`);
  }
  return facts.join(' · ');
}

/** The chart in a sentence, for who cannot see it. */
export function callsSummary(calls: readonly CallTimes[], measures: Measures): string {
  const warmups = calls.filter((each) => each.is_warmup).length;
  const cpu = measures.cpu_total_ns;
  const cuda = measures.cuda_total_ns;
  const spread = (name: string, { median, min, max }: typeof cpu): string =>
    `${name} median ${timeText(median)}, from ${timeText(min)} to ${timeText(max)}`;
  return [
    `${calls.length} calls in order of time, ${warmups} of them warm-up`,
    ...(cuda ? [spread('CUDA', cuda)] : []),
    spread('CPU', cpu),
  ].join('. ');
}
