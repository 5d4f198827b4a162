// A web page of its own that shows what the panel shows: the table as it is filtered and ordered, and the chosen region.
import type { RunResult } from '../protocol';
import { columnsOf } from './columns';
import { lanesLayout, wholeSpan } from './lanes';
import { lanesCaption, lanesLegend, lanesSvg, lanesTable } from './lanes_drawing';
import { listed, timesOf } from './listing';
import { html, Markup, nothing } from './markup';
import type { ListedRegion, RegionTimes, View } from './messages';
import { compositionMarkup } from './parts';
import { passagesLayout } from './passages';
import { passagesCaption, passagesSvg, passagesTable } from './passages_drawing';
import { patterns } from './patterns';
import { factsMarkup, kernelsMarkup, numbersMarkup, operatorsMarkup, placeText } from './region_markup';
import { filtered, ordered, regionsOf } from './rows';
import { runFacts, runNotes } from './run_markup';
import { headMarkup, rowMarkup, TABLE_CAPTION } from './table_markup';

const WIDTH = 1000;

/** `css` is the style of the panel; the page brings the colours that VS Code would give it. */
export function savedPage(result: RunResult, view: View, css: string): string {
  const run = listed(result);
  const columns = columnsOf(run);
  const rows = ordered(filtered(regionsOf(run), view.filter), columns, view.order);
  const chosen = rows.find((region) => region.index === view.chosen);
  const times = chosen ? timesOf(result, chosen.index) : null;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>${run.title} · Kinetoscope</title>
        <style>
          ${new Markup(COLOURS + css)}
        </style>
      </head>
      <body class="saved">
        ${patterns}
        <main>
          <h1>${run.title}</h1>
          <p class="quiet">${runFacts(run).join(' · ')}</p>
          <div class="notes">${runNotes(run)}</div>
          <div class="scroller">
            <table class="regions">
              <thead>
                ${headMarkup(columns, view.order)}
              </thead>
              <tbody>
                ${rows.map((region) => rowMarkup(columns, region))}
              </tbody>
            </table>
          </div>
          <p class="quiet">${TABLE_CAPTION}${view.filter === '' ? '' : ` Filter: “${view.filter}”.`}</p>
          ${chosen && times ? regionPage(chosen, times, view) : nothing}
        </main>
      </body>
    </html>`.text;
}

function regionPage(region: ListedRegion, { occurrences, timeline }: RegionTimes, view: View): Markup {
  const { measures } = region;
  return html`<section class="region">
    <h2>${measures.name} <span class="quiet">${placeText(region) ?? ''}</span></h2>
    ${factsMarkup(region)}
    <div class="cards">
      <section class="card">
        <h3>Numbers</h3>
        ${numbersMarkup(measures)}
      </section>
      <section class="card">
        <h3>What it is made of</h3>
        ${compositionMarkup(measures)}
      </section>
      ${
        occurrences === null
          ? nothing
          : html`<section class="card wide">
              <h3>Passages</h3>
              ${passagesSvg(passagesLayout(occurrences, measures, WIDTH), occurrences, measures)}
              <p class="quiet">${passagesCaption(occurrences, measures)}</p>
              <details>
                <summary>As a table</summary>
                ${passagesTable(occurrences)}
              </details>
            </section>`
      }
      ${
        timeline === null
          ? nothing
          : html`<section class="card wide">
              <h3>One passage</h3>
              ${lanesLegend(timeline)}
              ${lanesSvg(lanesLayout(timeline, WIDTH, view.span ?? wholeSpan(timeline)), timeline)}
              <p class="quiet">${lanesCaption(timeline)}</p>
              <details>
                <summary>As a table</summary>
                ${lanesTable(timeline)}
              </details>
            </section>`
      }
      <section class="card">
        <h3>Kernels</h3>
        ${kernelsMarkup(measures)}
      </section>
      <section class="card">
        <h3>Operators</h3>
        ${operatorsMarkup(measures)}
      </section>
    </div>
  </section>`;
}

/** Those of VS Code's light and dark themes. */
const COLOURS = `
:root {
  color-scheme: light dark;
  --vscode-font-family: system-ui, sans-serif;
  --vscode-font-size: 13px;
  --vscode-editor-font-family: ui-monospace, monospace;
  --vscode-editor-background: #ffffff;
  --vscode-foreground: #3b3b3b;
  --vscode-descriptionForeground: #616161;
  --vscode-panel-border: #e5e5e5;
  --vscode-charts-blue: #1a85ff;
  --vscode-charts-orange: #d18616;
  --vscode-charts-purple: #652d90;
  --vscode-charts-red: #e51400;
  --vscode-charts-yellow: #bf8803;
}
@media (prefers-color-scheme: dark) {
  :root {
    --vscode-editor-background: #1f1f1f;
    --vscode-foreground: #cccccc;
    --vscode-descriptionForeground: #9d9d9d;
    --vscode-panel-border: #2b2b2b;
    --vscode-charts-blue: #3794ff;
    --vscode-charts-orange: #d18616;
    --vscode-charts-purple: #b180d7;
    --vscode-charts-red: #f14c4c;
    --vscode-charts-yellow: #cca700;
  }
}
`;
