// Cards of the chosen region in their order, the same in the panel and on a saved page.
import type { Measures } from '../../server/protocol/measures';
import { html, nothing, type Markup } from '../markup';
import { compositionMarkup } from './composition';
import { kernelsMarkup, numbersMarkup, operatorsMarkup } from './region_markup';

export const NOT_DRAWN = 'Only the 100 regions with the most CPU time are drawn. Profile this region alone to see it.';

/** So many calls need the whole width. */
export const MANY = 12;

export interface Charts {
  lanes: Markup;
  calls: Markup;
  /** Whether the calls need the whole width. */
  isWide: boolean;
  /** What was before, if that is compared; the lanes are then those of both. */
  before?: Markup | null;
}

export function cardsMarkup(measures: Measures, charts: Charts): Markup {
  const { before = null } = charts;
  return html`<div class="cards">
    ${before === null ? nothing : card('Before and now', html`${before}${charts.lanes}`, 'lanes')}
    ${card('Numbers', numbersMarkup(measures))} ${card('Breakdown', compositionMarkup(measures))}
    ${before === null ? card('The median call', charts.lanes, 'lanes') : nothing}
    ${card('Calls', charts.calls, charts.isWide ? 'many' : '')}
    ${card('Operators', operatorsMarkup(measures.breakdown))}
    ${measures.cuda_total_ns === null ? nothing : card('Kernels', kernelsMarkup(measures.breakdown, measures.cuda_total_ns.sum), 'kernels')}
  </div>`;
}

export function card(title: string, content: Markup, kind = ''): Markup {
  return html`<section class="card ${kind}" aria-label="${title}">
    <h3>${title}</h3>
    ${content}
  </section>`;
}
