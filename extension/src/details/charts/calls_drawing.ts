// Drawing of the chart of calls as SVG, and its table.
import type { Measures, CallTimes } from '../../server/protocol/measures';
import { html, nothing, type Markup } from '../markup';
import { callText, type Bar, type BarLane, type CallsLayout } from './calls';
import { plainTable, type Heading } from '../plain_table';
import { filled } from './patterns';
import { printable, timeText } from '../text';

const ROOM_FOR_A_TIME = 44;

export function callsSvg(layout: CallsLayout, calls: readonly CallTimes[], measures: Measures): Markup {
  const { width, height, lanes } = layout;
  const foot = lanes.at(-1)?.bottom ?? 0;
  return html`<svg
    class="calls"
    width="${width}"
    height="${height}"
    viewBox="0 0 ${width} ${height}"
    role="presentation"
  >
    ${lanes.map((lane) => laneMarkup(lane, layout))}
    ${layout.breaks.map((x) => html`<line class="break" x1="${x}" x2="${x}" y1="0" y2="${foot}" />`)}
    ${layout.numbers.map(({ x, text }) => html`<text class="axis" x="${x}" y="${foot + 13}" text-anchor="middle">${text}</text>`)}
    ${footMarkup(layout, foot)}
    ${calls.map((_, index) => slotMarkup(layout, index, foot, callText(calls, measures, index, index === layout.median)))}
  </svg>`;
}

function laneMarkup(lane: BarLane, { left, right, slot }: CallsLayout): Markup {
  return html`<text x="0" y="${lane.top - 18}"
      ><tspan class="lane-title">${lane.title}</tspan
      ><tspan class="axis" dx="8">median ${lane.median.text}</tspan></text
    >
    ${lane.ticks.map(
      ({ y, text }) =>
        html`<line class="grid" x1="${left}" x2="${right}" y1="${y}" y2="${y}" />
          <text class="axis" x="${left - 6}" y="${y + 3.5}" text-anchor="end">${text}</text>`,
    )}
    ${lane.bars.map((bar) => barMarkup(bar, lane.kind, slot))}
    <line class="median" x1="${left}" x2="${right}" y1="${lane.median.y}" y2="${lane.median.y}" />`;
}

function barMarkup(bar: Bar, kind: string, slot: number): Markup {
  const { x, y, width, height, isHatched, cut } = bar;
  const shape = html`x="${x}" y="${y}" width="${width}" height="${Math.max(1, height)}"`;
  return html`<g class="${width < 4 ? 'thin' : ''}">${filled(isHatched ? `${kind}-warmup` : kind, shape)}</g
    >${cut === null ? nothing : cutMarkup(bar, cut, slot)}`;
}

/** A bar that is higher than the axis ends in a slanted gap, with its time above where there is room. */
function cutMarkup({ x, y, width }: Bar, time: string, slot: number): Markup {
  return html`<path class="cut" d="M${x - 2} ${y + 9}L${x + width + 2} ${y + 4}" />${
      slot < ROOM_FOR_A_TIME
        ? nothing
        : html`<text class="axis" x="${x + width / 2}" y="${y - 4}" text-anchor="middle">${time}</text>`
    }`;
}

function footMarkup(layout: CallsLayout, foot: number): Markup {
  const below = foot + (layout.numbers.length > 0 ? 26 : 13);
  const { warmups, median } = layout;
  const warmup = warmups
    ? html`<line
          class="bracket"
          x1="${warmups.from + 1}"
          x2="${warmups.to - 1}"
          y1="${foot + 2.5}"
          y2="${foot + 2.5}"
        />
        <text class="axis" x="${warmups.from}" y="${below}">${layout.isCold ? 'cold' : 'warm-up'}</text>`
    : nothing;
  if (median === null) return warmup;
  const x = layout.left + layout.slot * (median + 0.5);
  return html`${warmup}<path class="median-mark" d="M${x - 5} ${below}h10l-5 -8z" />`;
}

/** The whole height of a call can be pointed at. */
function slotMarkup(layout: CallsLayout, index: number, foot: number, text: string): Markup {
  const x = layout.left + layout.slot * index;
  return html`<rect
    class="slot"
    id="call-${index}"
    data-item="${index}"
    role="option"
    aria-selected="false"
    aria-label="${text}"
    x="${x}"
    y="0"
    width="${layout.slot}"
    height="${foot}"
  />`;
}

/** What the chart shows, in a sentence. */
export function callsCaption(calls: readonly CallTimes[], measures: Measures): string {
  const number =
    calls.length === measures.calls
      ? 'All calls that were seen'
      : `${calls.length} of ${measures.calls} calls, evenly chosen`;
  const isWarm = calls.some((each) => each.is_warmup) && !measures.is_cold;
  const unmeasured = [...(isWarm ? ['warm-up'] : []), ...(measures.raised && !measures.is_raised ? ['raised'] : [])];
  const hatched = [
    ...(measures.is_cold ? ['cold, but measured because there were no others'] : []),
    ...(unmeasured.length > 0 ? [`${unmeasured.join(' or ')}, not measured`] : []),
  ];
  return `${number}, in order of time; each lane has its own scale. The arrow marks the call with the median CPU total.${hatched.length > 0 ? ` Hatched: ${hatched.join('; ')}.` : ''}`;
}

export function callsTable(calls: readonly CallTimes[]): Markup {
  const hasCuda = calls.some((each) => each.cuda_total_ns !== null);
  const time = (ns: number | null): string => (ns === null ? '' : timeText(ns));
  const cuda: Heading[] = [
    ['CUDA total', 'number'],
    ['CUDA busy', 'number'],
  ];
  return plainTable(
    [['Call', 'row number'], ...(hasCuda ? cuda : []), ['CPU total', 'number'], ['CPU self', 'number'], ['', '']],
    calls.map((each, index) => [
      index + 1,
      ...(hasCuda ? [time(each.cuda_total_ns), time(each.cuda_busy_ns)] : []),
      time(each.cpu_total_ns),
      time(each.cpu_self_ns),
      [
        ...(each.is_warmup ? ['warm-up'] : []),
        ...(each.raised === null ? [] : [`raised ${printable(each.raised)}`]),
      ].join(', '),
    ]),
  );
}
