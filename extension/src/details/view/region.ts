// Chosen region in the panel: its numbers at once, its charts when their times have come.
import {
  hasTimes,
  type CallTimes,
  type Measures,
  type RegionTimes,
  type Timeline,
} from '../../server/protocol/measures';
import type { RunRegion } from '../../server/protocol/results';
import type { Span } from '../charts/spans';
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
  private lanes: LanesChart | null = null;

  constructor(
    private readonly section: HTMLElement,
    private readonly events: RegionEvents,
  ) {
    let width = 0;
    new ResizeObserver(() => {
      if (section.clientWidth === width) return;
      width = section.clientWidth;
      this.calls?.redraw();
      this.lanes?.redraw();
    }).observe(section);
  }

  clear(): void {
    this.calls = this.lanes = null;
    this.section.replaceChildren();
  }

  show(region: RunRegion): void {
    this.clear();
    const { measures } = region;
    this.section.innerHTML = html`<header class="region-head">
        <h2>${printable(measures.name)}</h2>
        <button id="go-to-line" type="button" class="link-button"></button>
        <vscode-button id="open-trace">Open trace</vscode-button>
      </header>
      <div id="region-facts"></div>
      ${findingsMarkup(measures.findings, region.index)}
      ${hasTimes(measures) ? cardsMarkup(measures, { lanes: html`<div id="lanes"></div>`, calls: html`<div id="calls"></div>`, isWide: false }) : nothing}`.text;
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

  /** The charts of the region that is shown. */
  addTimes(region: RunRegion, { call_times: calls, timeline }: RegionTimes, span: Span | null): void {
    if (!hasTimes(region.measures) || calls === null) return;
    this.addCalls(byId('calls', HTMLElement), calls, region.measures);
    this.addLanes(byId('lanes', HTMLElement), timeline, region.measures, span);
  }

  private addCalls(place: HTMLElement, calls: readonly CallTimes[], measures: Measures): void {
    place.parentElement?.classList.toggle('many', calls.length > MANY);
    place.innerHTML = html`${chart('calls', callsSummary(calls, measures))}
      <p class="quiet">${callsCaption(calls, measures)}</p>`.text;
    const [picture, readout] = [byId('calls-chart', HTMLElement), byId('calls-readout', HTMLElement)];
    this.calls = new CallsChart(picture, readout, calls, measures);
    place.append(lazyTable(() => callsTable(calls)));
  }

  private addLanes(place: HTMLElement, timeline: Timeline | null, measures: Measures, span: Span | null): void {
    if (timeline === null) {
      place.innerHTML = html`<p class="quiet">${NOT_DRAWN}</p>`.text;
      return;
    }
    place.innerHTML = html`<div class="lanes-head">
        ${lanesLegend(timeline)}
        <span class="actions" title="Or drag across the chart, use Ctrl and the mouse wheel, or press +, − or 0">
          <vscode-button id="zoom-in" secondary>Zoom in</vscode-button>
          <vscode-button id="zoom-out" secondary>Zoom out</vscode-button>
          <vscode-button id="zoom-whole" secondary>Whole</vscode-button>
        </span>
      </div>
      ${chart('lanes', lanesCaption(timeline, measures))}
      <p class="quiet">${lanesCaption(timeline, measures)}</p>`.text;
    const [picture, readout] = [byId('lanes-chart', HTMLElement), byId('lanes-readout', HTMLElement)];
    const drawn = (this.lanes = new LanesChart(picture, readout, timeline, span, this.events.span));
    onClick('zoom-in', () => drawn.zoomIn());
    onClick('zoom-out', () => drawn.zoomOut());
    onClick('zoom-whole', () => drawn.showWhole());
    place.append(lazyTable(() => lanesTable(timeline)));
  }
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
