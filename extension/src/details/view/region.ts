// The chosen region in the panel: its numbers at once, its charts when their times have come.
import { lanesCaption, lanesLegend, lanesTable } from '../lanes_drawing';
import { html, nothing, type Markup } from '../markup';
import type { ListedRegion, RegionTimes, Span } from '../messages';
import { compositionMarkup } from '../parts';
import { passagesSummary } from '../passages';
import { passagesCaption, passagesTable } from '../passages_drawing';
import { factsMarkup, kernelsMarkup, numbersMarkup, operatorsMarkup, placeText } from '../region_markup';
import { printable } from '../text';
import { byId } from './elements';
import { LanesChart } from './lanes_chart';
import { PassagesChart } from './passages_chart';

export interface RegionEvents {
  reveal: (region: number) => void;
  trace: (region: number) => void;
  span: (span: Span | null) => void;
}

const NOT_KEPT = 'Not kept with this result. Profile again to see it.';

export class RegionSection {
  private passages: PassagesChart | null = null;
  private lanes: LanesChart | null = null;

  constructor(
    private readonly section: HTMLElement,
    private readonly events: RegionEvents,
  ) {
    let width = 0;
    new ResizeObserver(() => {
      if (section.clientWidth === width) return;
      width = section.clientWidth;
      this.passages?.redraw();
      this.lanes?.redraw();
    }).observe(section);
  }

  clear(): void {
    this.passages = this.lanes = null;
    this.section.replaceChildren();
  }

  show(region: ListedRegion): void {
    this.clear();
    const { measures } = region;
    this.section.innerHTML = html`<header class="region-head">
        <h2>${printable(measures.name)}</h2>
        <button id="go-to-line" type="button" class="link-button"></button>
        <vscode-button id="open-trace">Open trace</vscode-button>
      </header>
      <div id="region-facts"></div>
      <div class="cards">
        ${card('Numbers', numbersMarkup(measures))} ${card('What it is made of', compositionMarkup(measures))}
        <section class="card wide" id="passages" aria-label="Passages"></section>
        <section class="card wide" id="lanes" aria-label="One passage"></section>
        ${measures.cuda_total_ns === null ? nothing : card('Kernels', kernelsMarkup(measures))}
        ${card('Operators', operatorsMarkup(measures))}
      </div>`.text;
    byId('go-to-line', HTMLElement).addEventListener('click', () => {
      this.events.reveal(region.index);
    });
    byId('open-trace', HTMLElement).addEventListener('click', () => {
      this.events.trace(region.index);
    });
    this.refresh(region);
  }

  /** What edits change: where it stands and whether it is stale. */
  refresh(region: ListedRegion): void {
    const place = placeText(region);
    byId('go-to-line', HTMLElement).textContent = place;
    byId('go-to-line', HTMLElement).hidden = place === null;
    byId('region-facts', HTMLElement).innerHTML = factsMarkup(region).text;
  }

  /** The charts of the region that is shown. */
  addTimes(region: ListedRegion, { occurrences, timeline }: RegionTimes, span: Span | null): void {
    const passages = byId('passages', HTMLElement);
    if (occurrences === null)
      passages.innerHTML = html`<h3>Passages</h3>
        <p class="quiet">${NOT_KEPT}</p>`.text;
    else {
      passages.innerHTML = html`<h3>Passages</h3>
        ${chart('passages-chart', passagesSummary(occurrences, region.measures))}
        <p class="quiet">${passagesCaption(occurrences, region.measures)}</p>`.text;
      const [picture, readout] = [byId('passages-chart', HTMLElement), byId('passages-chart-readout', HTMLElement)];
      this.passages = new PassagesChart(picture, readout, occurrences, region.measures);
      passages.append(asTable(() => passagesTable(occurrences)));
    }
    const lanes = byId('lanes', HTMLElement);
    if (timeline === null)
      lanes.innerHTML = html`<h3>One passage</h3>
        <p class="quiet">${NOT_KEPT}</p>`.text;
    else {
      lanes.innerHTML = html`<div class="card-head">
          <h3>One passage</h3>
          ${lanesLegend(timeline)}
          <span class="actions" title="Or: drag over a span, Ctrl and the wheel, + − 0">
            <vscode-button id="zoom-in" secondary>Zoom in</vscode-button>
            <vscode-button id="zoom-out" secondary>Zoom out</vscode-button>
            <vscode-button id="zoom-whole" secondary>Whole</vscode-button>
          </span>
        </div>
        ${chart('lanes-chart', lanesCaption(timeline))}
        <p class="quiet">${lanesCaption(timeline)}</p>`.text;
      const [picture, readout] = [byId('lanes-chart', HTMLElement), byId('lanes-chart-readout', HTMLElement)];
      const drawn = new LanesChart(picture, readout, timeline, span, this.events.span);
      this.lanes = drawn;
      byId('zoom-in', HTMLElement).addEventListener('click', () => {
        drawn.zoomIn();
      });
      byId('zoom-out', HTMLElement).addEventListener('click', () => {
        drawn.zoomOut();
      });
      byId('zoom-whole', HTMLElement).addEventListener('click', () => {
        drawn.showWhole();
      });
      lanes.append(asTable(() => lanesTable(timeline)));
    }
  }
}

function card(title: string, content: Markup): Markup {
  return html`<section class="card" aria-label="${title}">
    <h3>${title}</h3>
    ${content}
  </section>`;
}

function chart(id: string, summary: string): Markup {
  return html`<div
      id="${id}"
      class="chart"
      tabindex="0"
      role="listbox"
      aria-orientation="horizontal"
      aria-label="${summary}"
    ></div>
    <p id="${id}-readout" class="readout"></p>`;
}

/** A text alternative, made when somebody opens it. */
function asTable(table: () => Markup): HTMLDetailsElement {
  const details = document.createElement('details');
  details.innerHTML = '<summary>As a table</summary>';
  details.addEventListener(
    'toggle',
    () => {
      details.insertAdjacentHTML('beforeend', table().text);
    },
    { once: true },
  );
  return details;
}
