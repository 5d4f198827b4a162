// Chosen region in the panel: its numbers at once, its charts when their times have come.
import {
  hasTimes,
  type CallTimes,
  type Measures,
  type RegionTimes,
  type Timeline,
} from '../../server/protocol/measures';
import type { RunRegion } from '../../server/protocol/results';
import type { RegionComparison } from '../../server/protocol/comparison';
import { wholeSpan } from '../charts/lanes';
import type { Span } from '../charts/spans';
import { beforeMarkup } from '../region/before_markup';
import { cardsMarkup, MANY, NOT_DRAWN } from '../region/cards';
import { findingsMarkup } from '../region/findings_markup';
import { lanesCaption, lanesLegend, lanesTable } from '../charts/lanes_drawing';
import { html, nothing, type Markup } from '../markup';
import { callsSummary } from '../charts/calls';
import { callsCaption, callsTable } from '../charts/calls_drawing';
import { factsMarkup, placeText } from '../region/region_markup';
import { printable } from '../text';
import { byId, onClick } from './elements';
import { LanesChart } from './lanes_chart';
import { CallsChart } from './calls_chart';

export interface RegionEvents {
  reveal: (region: number) => void;
  trace: (region: number) => void;
  span: (span: Span | null) => void;
}

export class RegionSection {
  private calls: CallsChart | null = null;
  private lanes: readonly LanesChart[] = [];

  constructor(
    private readonly section: HTMLElement,
    private readonly events: RegionEvents,
  ) {
    let width = 0;
    new ResizeObserver(() => {
      if (section.clientWidth === width) return;
      width = section.clientWidth;
      this.calls?.redraw();
      for (const each of this.lanes) each.redraw();
    }).observe(section);
  }

  clear(): void {
    this.calls = null;
    this.lanes = [];
    this.section.replaceChildren();
  }

  /** With what was before, if that is compared. */
  show(region: RunRegion, compared: RegionComparison | null): void {
    this.clear();
    const { measures } = region;
    this.section.innerHTML = html`<header class="region-head">
        <h2>${printable(measures.name)}</h2>
        <button id="go-to-line" type="button" class="link-button"></button>
        <vscode-button id="open-trace">Open trace</vscode-button>
      </header>
      <div id="region-facts"></div>
      ${findingsMarkup(measures.findings, region.index)}
      ${hasTimes(measures) ? cardsMarkup(measures, { lanes: html`<div id="lanes"></div>`, calls: html`<div id="calls"></div>`, isWide: false, before: compared && beforeMarkup(compared) }) : nothing}`.text;
    onClick('go-to-line', () => this.events.reveal(region.index));
    onClick('open-trace', () => this.events.trace(region.index));
    this.refresh(region);
  }

  /** What edits change: where it stands and whether it is stale. */
  refresh(region: RunRegion): void {
    const place = placeText(region);
    byId('go-to-line', HTMLElement).textContent = place;
    byId('go-to-line', HTMLElement).hidden = place === null;
    byId('region-facts', HTMLElement).innerHTML = factsMarkup(region).text;
  }

  /** The charts of the region that is shown, its lanes below those of the same region before. */
  addTimes(
    region: RunRegion,
    { call_times: calls, timeline }: RegionTimes,
    span: Span | null,
    before: RunRegion | null,
  ): void {
    if (!hasTimes(region.measures) || calls === null) return;
    this.addCalls(byId('calls', HTMLElement), calls, region.measures);
    const now: Lanes = { id: 'lanes', prefix: 'item', timeline, measures: region.measures };
    const sides: Lanes[] = [];
    if (before && hasTimes(before.measures)) {
      const { measures } = before;
      sides.push({ id: 'before', prefix: 'was', title: 'Before', timeline: measures.timeline, measures });
    }
    this.addLanes(byId('lanes', HTMLElement), [...sides, sides.length > 0 ? { ...now, title: 'Now' } : now], span);
  }

  private addCalls(place: HTMLElement, calls: readonly CallTimes[], measures: Measures): void {
    place.parentElement?.classList.toggle('many', calls.length > MANY);
    place.innerHTML = html`${chart('calls', callsSummary(calls, measures))}
      <p class="quiet">${callsCaption(calls, measures)}</p>`.text;
    const [picture, readout] = [byId('calls-chart', HTMLElement), byId('calls-readout', HTMLElement)];
    this.calls = new CallsChart(picture, readout, calls, measures);
    place.append(lazyTable(() => callsTable(calls)));
  }

  private addLanes(place: HTMLElement, sides: readonly Lanes[], span: Span | null): void {
    const timelines = sides.flatMap(({ timeline }) => timeline ?? []);
    if (timelines.length === 0) {
      place.innerHTML = html`<p class="quiet">${NOT_DRAWN}</p>`.text;
      return;
    }
    place.innerHTML = html`<div class="lanes-head">
        ${lanesLegend(...timelines)}
        <span class="actions" title="Or drag across the chart, use Ctrl and the mouse wheel, or press +, − or 0">
          <vscode-button id="zoom-in" secondary>Zoom in</vscode-button>
          <vscode-button id="zoom-out" secondary>Zoom out</vscode-button>
          <vscode-button id="zoom-whole" secondary>Whole</vscode-button>
        </span>
      </div>
      ${sides.map(lanesMarkup)}`.text;
    const whole = wholeSpan(...timelines);
    const drawn: LanesChart[] = (this.lanes = sides.flatMap(({ id, prefix, timeline }) => {
      if (timeline === null) return [];
      const [picture, readout] = [byId(`${id}-chart`, HTMLElement), byId(`${id}-readout`, HTMLElement)];
      const onSpan = (next: Span | null): void => {
        for (const each of drawn) if (each !== chart) each.show(next);
        this.events.span(next);
      };
      const chart: LanesChart = new LanesChart(picture, readout, timeline, { prefix, whole, span, onSpan });
      readout.nextElementSibling?.after(lazyTable(() => lanesTable(timeline)));
      return [chart];
    }));
    const last = drawn.at(-1);
    onClick('zoom-in', () => last?.zoomIn());
    onClick('zoom-out', () => last?.zoomOut());
    onClick('zoom-whole', () => last?.showWhole());
  }
}

/** The median call of one side; a title where there are two. */
interface Lanes {
  id: string;
  prefix: string;
  title?: string;
  timeline: Timeline | null;
  measures: Measures;
}

function lanesMarkup({ id, title, timeline, measures }: Lanes): Markup {
  const caption = timeline === null ? NOT_DRAWN : lanesCaption(timeline, measures);
  return html`${title === undefined ? nothing : html`<h4>${title}</h4>`}
    ${timeline === null ? nothing : chart(id, title === undefined ? caption : `${title}: ${caption}`)}
    <p class="quiet">${caption}</p>`;
}

function chart(id: string, summary: string): Markup {
  return html`<div
      id="${id}-chart"
      class="chart"
      tabindex="0"
      role="listbox"
      aria-orientation="horizontal"
      aria-label="${summary}"
    ></div>
    <p id="${id}-readout" class="readout"></p>`;
}

/** A text alternative, made when somebody opens it. */
function lazyTable(table: () => Markup): HTMLDetailsElement {
  const details = document.createElement('details');
  details.innerHTML = '<summary>As a table</summary>';
  details.addEventListener('toggle', () => details.insertAdjacentHTML('beforeend', table().text), { once: true });
  return details;
}
