// Saved web page: shows what the panel shows, the table as it is filtered and ordered, and the chosen region.
import type { Comparison, RegionComparison } from '../server/protocol/comparison';
import { hasTimes, type Measures, type RegionTimes } from '../server/protocol/measures';
import type { RunRegion, RunResult } from '../server/protocol/results';
import { comparedNotes, comparedWith } from './compared_markup';
import { beforeMarkup } from './region/before_markup';
import { cardsMarkup, MANY, NOT_DRAWN } from './region/cards';
import { columnsOf, tellingColumns, whyNoCuda } from './table/columns';
import { findingsMarkup } from './region/findings_markup';
import { comparedIn, regionBefore } from './region/compared';
import { lanesLayout, wholeSpan } from './charts/lanes';
import { lanesCaption, lanesLegend, lanesSvg, lanesTable } from './charts/lanes_drawing';
import { icicleLayout } from './charts/icicle';
import { icicleCaption, icicleSvg } from './charts/icicle_drawing';
import { extentsOf, moduleTree } from './charts/modules';
import { listed } from './listing';
import { html, Markup, nothing } from './markup';
import type { View } from './messages';
import { callsLayout } from './charts/calls';
import { callsCaption, callsSvg, callsTable } from './charts/calls_drawing';
import type { Span } from './charts/spans';
import { patterns } from './charts/patterns';
import { factsMarkup, placeText } from './region/region_markup';
import { arranged, regionsOf, rowsOf } from './table/rows';
import { contentsMarkup } from './contents_markup';
import { runFacts, runNotes } from './run_markup';
import { captionText, plainHeadMarkup, rowMarkup } from './table/table_markup';
import { printable } from './text';

const WIDTH = 1000;

/** What a run is compared with; `before` is null where the run itself is no longer stored. */
export interface Before {
  comparison: Comparison;
  before: RunResult | null;
}

/** `css` is the style of the panel; the page brings the colours that VS Code would give it. */
export function savedPage(result: RunResult, view: View, css: string, known: Before | null = null): string {
  const shown = view.isCompared ? known : null;
  const compared = shown && comparedIn(shown.comparison);
  const run = listed(result);
  const title = printable(run.title);
  const all = columnsOf(run, compared);
  const rows = arranged(run, rowsOf(run, view.filter, view.open), all, view.order, view.open);
  const telling = tellingColumns(all, regionsOf(run));
  const chosen = rows.find(({ region }) => region.index === view.chosen)?.region;
  const comparison = (chosen && compared?.(chosen)) ?? null;
  const before = comparison && shown?.before ? (regionBefore(shown.before, comparison) ?? null) : null;
  const full = result.regions.find(({ index }) => index === chosen?.index);
  const table = html`<div class="scroller">
      <table class="regions">
        <thead>
          ${plainHeadMarkup(telling.columns, view.order)}
        </thead>
        <tbody>
          ${rows.map((_, index) => rowMarkup(telling.columns, rows, index, view.chosen))}
        </tbody>
      </table>
    </div>
    <p class="quiet">${captionText(telling, rows)}${view.filter === '' ? '' : ` Filter: “${view.filter}”.`}</p>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>${title} · Kinetoscope</title>
        <style>
          ${new Markup(COLOURS + css)}
        </style>
      </head>
      <body class="saved">
        ${patterns}
        <main>
          <h1>${title}</h1>
          <p class="quiet">${runFacts(run).join(' · ')}</p>
          <p>${printable(whyNoCuda(run))}</p>
          ${run.contents !== null && regionsOf(run).length === 0 ? nothing : table}
          ${
            shown
              ? html`<p class="quiet">${comparedWith(shown.comparison)}.</p>
                  <div class="notes">${comparedNotes(shown.comparison)}</div>`
              : nothing
          }
          <div class="notes">${runNotes(run, true)}</div>
          ${run.contents === null ? nothing : html`<section class="chosen">${contentsMarkup(run, true)}</section>`}
          ${modulesPage(run, view)} ${full ? regionPage(full, view, comparison, before) : nothing}
        </main>
      </body>
    </html>`.text;
}

function modulesPage(run: RunResult, { extent, open }: View): Markup {
  const extents = extentsOf(run);
  const shown = extents.includes(extent) ? extent : extents[0];
  if (shown === undefined) return nothing;
  const tree = moduleTree(run, shown, open);
  return html`<section class="chosen">
    <h2>Modules</h2>
    ${icicleSvg(icicleLayout(tree.roots, WIDTH), tree, shown)}
    <p class="quiet">${icicleCaption(run, tree, shown)}</p>
  </section>`;
}

function regionPage(
  region: RunRegion,
  view: View,
  comparison: RegionComparison | null,
  before: RunRegion | null,
): Markup {
  const { measures } = region;
  const calls = measures.call_times;
  const head = html`<h2>${printable(measures.name)} <span class="quiet">${placeText(region) ?? ''}</span></h2>
    ${factsMarkup(region, true)} ${findingsMarkup(measures.findings, region.index, true)}`;
  if (!hasTimes(measures) || calls === null) return html`<section class="chosen">${head}</section>`;
  const was = before && hasTimes(before.measures) ? before.measures : null;
  const timelines = [was, measures].flatMap((each) => each?.timeline ?? []);
  const span = view.span ?? wholeSpan(...timelines);
  const lanes = html`${timelines.length > 0 ? lanesLegend(...timelines) : nothing}
  ${
    was
      ? html`<h4>Before</h4>
          ${lanesMarkup(was, span, 'was')}
          <h4>Now</h4>`
      : nothing
  }
  ${lanesMarkup(measures, span, 'item')}`;
  const chart = html`${callsSvg(callsLayout(calls, measures, WIDTH), calls, measures)}
    <p class="quiet">${callsCaption(calls, measures)}</p>
    ${tableMarkup(callsTable(calls))}`;
  const cards = { lanes, calls: chart, isWide: calls.length > MANY, before: comparison && beforeMarkup(comparison) };
  return html`<section class="chosen">${head} ${cardsMarkup(measures, cards)}</section>`;
}

function lanesMarkup(measures: Measures & RegionTimes, span: Span, prefix: string): Markup {
  const { timeline } = measures;
  if (timeline === null) return html`<p class="quiet">${NOT_DRAWN}</p>`;
  return html`${lanesSvg(lanesLayout(timeline, WIDTH, span), timeline, prefix)}
    <p class="quiet">${lanesCaption(timeline, measures)}</p>
    ${tableMarkup(lanesTable(timeline))}`;
}

function tableMarkup(table: Markup): Markup {
  return html`<details>
    <summary>As a table</summary>
    ${table}
  </details>`;
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
  --vscode-list-inactiveSelectionBackground: #e4e6f1;
  --vscode-charts-blue: #1a85ff;
  --vscode-charts-green: #388a34;
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
    --vscode-list-inactiveSelectionBackground: #37373d;
    --vscode-charts-blue: #3794ff;
    --vscode-charts-green: #89d185;
    --vscode-charts-purple: #b180d7;
    --vscode-charts-red: #f14c4c;
    --vscode-charts-yellow: #cca700;
  }
}
`;
