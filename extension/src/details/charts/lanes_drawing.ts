// Drawing of one call to scale as SVG, its table, and what each thing in it is in words.
import type { HostSlice, Measures, Timeline } from '../../server/protocol/measures';
import { type Box, type LanesLayout, linkedTo } from './lanes';
import { html, nothing, type Markup } from '../markup';
import { plainTable } from '../plain_table';
import { filled, swatch } from './patterns';
import { CHARACTER } from './scale';
import { countText, kernelName, printable, timeText } from '../text';

const KINDS: Record<HostSlice['kind'], string> = {
  region: 'region',
  operator: 'operator',
  launch: 'launch',
  sync: 'waits for the GPU',
  api_call: 'CUDA API call',
};

const LEGEND: Readonly<Record<string, string>> = {
  ...KINDS,
  api_call: 'other CUDA API call',
  activity: 'GPU activity',
};

/** The kinds that there are in them. */
export function lanesLegend(...timelines: readonly Timeline[]): Markup {
  const there = new Set<string>(timelines.flatMap(({ host }) => host.map((slice) => slice.kind)));
  if (timelines.some(({ device }) => device.length > 0)) there.add('activity');
  const kinds = Object.entries(LEGEND).filter(([kind]) => there.has(kind));
  return html`<ul class="kinds">
    ${kinds.map(([kind, meaning]) => html`<li>${swatch(kind)}${meaning}</li>`)}
  </ul>`;
}

/** `prefix` begins the ids of its items, without their number. */
export function lanesSvg(layout: LanesLayout, timeline: Timeline, prefix = 'item'): Markup {
  const { width, height, top, left } = layout;
  const seen = ({ x, width: wide }: { x: number; width: number }): boolean => x + wide >= 0 && x <= width;
  return html`<svg
    class="lanes"
    width="${width}"
    height="${height}"
    viewBox="0 0 ${width} ${height}"
    role="presentation"
  >
    ${layout.ticks.map(
      ({ x, text }) =>
        html`<line class="grid" x1="${x}" x2="${x}" y1="${top - 4}" y2="${height}" />
          <text class="axis" x="${x < 1 ? 0 : x + 4}" y="11"
            >${x + 12 + text.length * CHARACTER > width ? '' : text}</text
          >`,
    )}
    ${layout.gaps.filter(seen).map(({ x, y, width: wide, height: high, text }) => {
      const from = Math.max(0, x);
      const to = Math.min(width, x + wide);
      return html`<rect class="gap" x="${from}" y="${y}" width="${to - from}" height="${high}" />${
          text === ''
            ? nothing
            : html`<text class="gap" x="${(from + to) / 2}" y="${y + high / 2 + 4}" text-anchor="middle">${text}</text>`
        }`;
    })}
    ${layout.links
      .filter(({ x1, x2 }) => Math.max(x1, x2) >= 0 && Math.min(x1, x2) <= width)
      .map(
        ({ launch, activity, x1, y1, x2, y2 }) =>
          html`<line
            class="link"
            data-launch="${launch}"
            data-activity="${activity}"
            x1="${x1}"
            y1="${y1}"
            x2="${x2}"
            y2="${y2}"
          />`,
      )}
    ${layout.lanes.map(({ title, top: y }) => html`<text class="lane-title" x="0" y="${y + 12}">${title}</text>`)}
    ${layout.boxes.filter(seen).map((box) => boxMarkup(box, width, `${prefix}-${box.item}`, { text: itemText(timeline, box.item), title: wholeName(timeline, box.item) }))}
    ${left === null || left > width || left < 0 ? nothing : leftMarkup(left, layout)}
  </svg>`;
}

/** Of an activity that is shown under a shorter name. */
function wholeName(timeline: Timeline, item: number): Markup {
  const { name, short = name } = timeline.device[item - timeline.host.length] ?? { name: '' };
  return short === name ? nothing : html`<title>${printable(name)}</title>`;
}

function boxMarkup(box: Box, width: number, id: string, { text, title }: { text: string; title: Markup }): Markup {
  const from = Math.max(-2, box.x);
  const to = Math.min(width + 2, box.x + box.width);
  const shape = html`x="${from}" y="${box.y}" width="${Math.max(1, to - from)}" height="${box.height}"`;
  return html`<g
    class="item ${box.width < 3 ? 'thin' : ''}"
    id="${id}"
    data-item="${box.item}"
    role="option"
    aria-selected="false"
    aria-label="${text}"
    >${title}${filled(box.kind, shape)}${
      box.label === ''
        ? nothing
        : html`<svg
            aria-hidden="true"
            x="${Math.max(0, from)}"
            y="${box.y}"
            width="${to - Math.max(0, from)}"
            height="${box.height}"
          >
            <text x="4" y="${box.height / 2 + 4}">${box.label}</text>
          </svg>`
    }</g
  >`;
}

function leftMarkup(x: number, { top, width, height, lanes }: LanesLayout): Markup {
  const isRight = x > width - 80;
  const behindTitle = ((lanes[0]?.title.length ?? 0) + 2) * CHARACTER;
  return html`<line class="left" x1="${x}" x2="${x}" y1="${top - 4}" y2="${height}" />
    <text
      class="left"
      x="${isRight ? x - 4 : Math.max(x + 4, behindTitle)}"
      y="${top + 12}"
      text-anchor="${isRight ? 'end' : 'start'}"
      >region ends</text
    >`;
}

/** What an item is, how long it took and what it hangs together with. */
export function itemText(timeline: Timeline, item: number): string {
  const slice = timeline.host[item];
  if (slice) {
    const facts = [printable(slice.name), KINDS[slice.kind], extent(slice)];
    const launched = timeline.device.filter((activity) => activity.launch === item);
    const first = launched[0];
    if (first) {
      const what = launched.length === 1 ? kernelName(first) : `${launched.length} GPU activities`;
      facts.push(
        `launched ${what}, which ${launched.length === 1 ? 'began' : 'first began'} ${wait(first.start_ns - slice.start_ns)}`,
      );
    }
    return facts.join(' · ');
  }
  const activity = timeline.device[item - timeline.host.length];
  if (!activity) return '';
  const facts = [kernelName(activity), `GPU, stream ${activity.stream}`, extent(activity)];
  const launch = timeline.host[linkedTo(timeline, item) ?? -1];
  if (launch) facts.push(`began ${wait(activity.start_ns - launch.start_ns)} of ${launch.name}`);
  return facts.join(' · ');
}

function wait(ns: number): string {
  return ns < 0 ? `${timeText(-ns)} before the start` : `${timeText(ns)} after the start`;
}

function extent({ start_ns, duration_ns }: { start_ns: number; duration_ns: number }): string {
  return start_ns === 0 ? timeText(duration_ns) : `${timeText(duration_ns)}, starting ${timeText(start_ns)} in`;
}

/** What the drawing shows and what it leaves out. */
export function lanesCaption(timeline: Timeline, { median_call, cuda_total_ns }: Measures): string {
  const after = timeline.end_ns - timeline.cpu_total_ns;
  const times = [`${timeText(timeline.cpu_total_ns)} on the CPU`];
  if (median_call.cuda_total_ns !== null && cuda_total_ns !== null) {
    const [here, median] = [timeText(median_call.cuda_total_ns), timeText(cuda_total_ns.median)];
    times.push(`${here} of CUDA total${here === median ? '' : ` (the median of all calls is ${median})`}`);
  }
  const said = [`The call with the median CPU total, drawn to scale: ${times.join(', ')}`];
  if (timeline.device.length === 0 && timeline.device_left_out === 0) said.push('no GPU activity');
  else if (after > 0) said.push(`its last GPU activity ends ${timeText(after)} after the region`);
  else said.push('its last GPU activity ends before the region');
  const left = [
    ...(timeline.host_left_out > 0 ? [countText(timeline.host_left_out, 'CPU slice')] : []),
    ...(timeline.device_left_out > 0 ? [countText(timeline.device_left_out, 'GPU activity')] : []),
  ];
  const omitted = left.length > 0 ? ` The shortest are not drawn: ${left.join(' and ')}.` : '';
  const gaps =
    timeline.device.length > 0 && timeline.device_left_out === 0 ? ' In a gap, no GPU activity of this call runs.' : '';
  return `${said.join('; ')}.${gaps}${omitted}`;
}

/** Everything that is drawn, in the order of time. */
export function lanesTable(timeline: Timeline): Markup {
  const rows = [
    ...timeline.host.map((slice) => ({
      ...slice,
      where: slice.thread === 0 ? 'CPU' : `CPU, other thread ${slice.thread}`,
      what: KINDS[slice.kind],
    })),
    ...timeline.device.map((slice) => ({ ...slice, where: `GPU, stream ${slice.stream}`, what: 'GPU activity' })),
  ].sort((a, b) => a.start_ns - b.start_ns);
  return plainTable(
    [
      ['Start', 'number'],
      ['Time', 'number'],
      ['Where', ''],
      ['What', ''],
      ['Name', 'name'],
    ],
    rows.map((each) => [
      timeText(each.start_ns),
      timeText(each.duration_ns),
      each.where,
      each.what,
      printable(each.name),
    ]),
  );
}
