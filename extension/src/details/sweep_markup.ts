// A sweep in the panel: its tables and its chart, as the server has written them.
import type { SweepAnswer, SweepRow, SweepTable } from '../server/protocol/sweep';
import { html, Markup, nothing } from './markup';

export function sweepMarkup({ title, notes, tables, chart }: SweepAnswer): Markup {
  return html`<header><h1>${title}</h1></header>
    ${tables.map(tableMarkup)}
    <div class="notes">${notes.map((each) => html`<p class="quiet">${each}</p>`)}</div>
    ${chart === null ? nothing : html`<figure class="sweep-chart">${new Markup(chart)}</figure>`}`;
}

function tableMarkup({ headings, rows }: SweepTable): Markup {
  return html`<div class="scroller">
    <table class="regions sweep">
      <thead>
        <tr>
          ${headings.map((each) => html`<th scope="col"><span>${each}</span></th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(rowMarkup)}
      </tbody>
    </table>
  </div>`;
}

/** Only what was measured can be shown at the lines. */
function rowMarkup({ cells, setting, region }: SweepRow): Markup {
  const columns = cells.map((each) => html`<td>${each}</td>`);
  if (region === null)
    return html`<tr>
      ${columns}
    </tr>`;
  return html`<tr
    tabindex="0"
    data-setting="${setting}"
    data-region="${region}"
    title="Show the times of this setting at the lines"
  >
    ${columns}
  </tr>`;
}
