// Chart of one call to scale: where each CPU slice and GPU activity is drawn, and which launch belongs to which activity.
import type { DeviceSlice, HostSlice, Timeline } from '../../server/protocol/measures';
import { fitted, ticks, type Tick } from './scale';
import type { Span } from './spans';
import { kernelName, operatorName, timeText } from '../text';

/** `item` counts the host slices, then the GPU activities. */
export interface Box {
  item: number;
  kind: HostSlice['kind'] | 'activity';
  x: number;
  y: number;
  width: number;
  height: number;
  label: string;
}

export interface Lane {
  title: string;
  top: number;
  bottom: number;
}

export interface LaunchLink {
  launch: number;
  activity: number;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

export interface Gap {
  x: number;
  width: number;
  y: number;
  height: number;
  text: string;
}

export interface LanesLayout {
  width: number;
  height: number;
  top: number;
  ticks: (Tick & { x: number })[];
  lanes: Lane[];
  /** Items of each row, from left to right, whether in sight or not. */
  rows: number[][];
  boxes: Box[];
  links: LaunchLink[];
  gaps: Gap[];
  /** Where the region ends, if the GPU was still active then. */
  left: number | null;
}

const AXIS = 20;
const TITLE = 17;
const HOST_ROW = 18;
const DEVICE_ROW = 24;
const BETWEEN = 10;
const FOR_LINKS = 22;
const WIDTH_OF_A_TICK = 90;

/** From entering the region to the end of its last activity; of several calls, of the longest. */
export function wholeSpan(...timelines: readonly Timeline[]): Span {
  return { from: 0, to: Math.max(1, ...timelines.map(({ end_ns }) => end_ns)) };
}

export function lanesLayout(timeline: Timeline, width: number, span: Span): LanesLayout {
  const x = (ns: number): number => ((ns - span.from) / (span.to - span.from)) * width;
  const layout: LanesLayout = {
    width,
    height: 0,
    top: AXIS,
    ticks: ticks(span.from, span.to, width / WIDTH_OF_A_TICK).map((tick) => ({ ...tick, x: x(tick.ns) })),
    lanes: [],
    rows: [],
    boxes: [],
    links: [],
    gaps: [],
    left: timeline.end_ns > timeline.cpu_total_ns ? x(timeline.cpu_total_ns) : null,
  };
  let top = AXIS;
  const threads = [...new Set(timeline.host.map((slice) => slice.thread))].sort((a, b) => a - b);
  for (const thread of threads) {
    const title = thread === 0 ? 'CPU' : threads.length === 2 ? 'CPU, other thread' : `CPU, other thread ${thread}`;
    top = hostLane(layout, timeline, thread, { title, top, x });
  }
  top += timeline.device.length > 0 ? FOR_LINKS : 0;
  const streams = [...new Set(timeline.device.map((activity) => activity.stream))];
  for (const stream of streams) top = deviceLane(layout, timeline, stream, { title: `GPU, stream ${stream}`, top, x });
  layout.links = linksOf(layout, timeline);
  layout.height = top - BETWEEN + 1;
  return layout;
}

interface LaneFrame {
  title: string;
  top: number;
  x: (ns: number) => number;
}

function hostLane(layout: LanesLayout, timeline: Timeline, thread: number, { title, top, x }: LaneFrame): number {
  const rows: number[][] = [];
  timeline.host.forEach((slice, item) => {
    if (slice.thread !== thread) return;
    (rows[slice.depth] ??= []).push(item);
    const y = top + TITLE + slice.depth * HOST_ROW;
    const label = slice.kind === 'operator' ? operatorName(slice.name) : slice.name;
    layout.boxes.push(box(item, slice, slice.kind, { y, height: HOST_ROW - 2, label, x }));
  });
  const bottom = top + TITLE + rows.length * HOST_ROW;
  layout.rows.push(...rows.filter((row) => row.length > 0));
  layout.lanes.push({ title, top, bottom });
  return bottom + BETWEEN;
}

function deviceLane(layout: LanesLayout, timeline: Timeline, stream: string, { title, top, x }: LaneFrame): number {
  const row: number[] = [];
  const y = top + TITLE;
  let until = 0;
  const gapUntil = (ns: number): void => {
    // What was left out may lie in any gap.
    if (timeline.device_left_out > 0 || ns <= until) return;
    const width = x(ns) - x(until);
    const text = fitted(`gap ${timeText(ns - until)}`, width, true);
    layout.gaps.push({ x: x(until), width, y, height: DEVICE_ROW - 2, text });
  };
  timeline.device.forEach((activity, index) => {
    if (activity.stream !== stream) return;
    const item = timeline.host.length + index;
    row.push(item);
    const label = kernelName(activity);
    layout.boxes.push(box(item, activity, 'activity', { y, height: DEVICE_ROW - 2, label, x }));
    gapUntil(activity.start_ns);
    until = Math.max(until, activity.start_ns + activity.duration_ns);
  });
  gapUntil(timeline.end_ns);
  layout.rows.push(row);
  layout.lanes.push({ title, top, bottom: top + TITLE + DEVICE_ROW });
  return top + TITLE + DEVICE_ROW + BETWEEN;
}

function box(
  item: number,
  slice: HostSlice | DeviceSlice,
  kind: Box['kind'],
  { y, height, label, x }: { y: number; height: number; label: string; x: (ns: number) => number },
): Box {
  const start = x(slice.start_ns);
  const exact = x(slice.start_ns + slice.duration_ns) - start;
  const width = Math.max(1, exact > 4 ? exact - 1 : exact);
  return { item, kind, x: start, y, width, height, label: fitted(label, width - 6, false) };
}

function linksOf(layout: LanesLayout, timeline: Timeline): LaunchLink[] {
  const byItem = new Map(layout.boxes.map((each) => [each.item, each]));
  return timeline.device.flatMap((activity, index): LaunchLink[] => {
    const to = byItem.get(timeline.host.length + index);
    const from = activity.launch === null ? undefined : byItem.get(activity.launch);
    if (!to || !from) return [];
    return [{ launch: from.item, activity: to.item, x1: from.x, y1: from.y + from.height, x2: to.x, y2: to.y }];
  });
}

/** What is reached from an item by an arrow key; the item itself at the end of a row or of the rows. */
export function neighbour(layout: LanesLayout, timeline: Timeline, item: number, key: string): number {
  const at = layout.rows.findIndex((row) => row.includes(item));
  const row = layout.rows[at];
  if (!row) return layout.rows[0]?.[0] ?? item;
  const place = row.indexOf(item);
  if (key === 'ArrowLeft') return row[place - 1] ?? item;
  if (key === 'ArrowRight') return row[place + 1] ?? item;
  const next = layout.rows[key === 'ArrowUp' ? at - 1 : at + 1];
  const start = sliceOf(timeline, item)?.start_ns ?? 0;
  return next ? nearest(next, timeline, start) : item;
}

function nearest(row: readonly number[], timeline: Timeline, ns: number): number {
  const distance = (item: number): number => Math.abs((sliceOf(timeline, item)?.start_ns ?? 0) - ns);
  return row.reduce((best, item) => (distance(item) < distance(best) ? item : best));
}

export function sliceOf(timeline: Timeline, item: number): HostSlice | DeviceSlice | undefined {
  return timeline.host[item] ?? timeline.device[item - timeline.host.length];
}

/** The other end of a launch or of an activity; null where there is none. */
export function linkedTo(timeline: Timeline, item: number): number | null {
  if (item >= timeline.host.length) return timeline.device[item - timeline.host.length]?.launch ?? null;
  const found = timeline.device.findIndex((activity) => activity.launch === item);
  return found === -1 ? null : timeline.host.length + found;
}
