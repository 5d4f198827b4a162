// Notes on a whole run: what ran, on which device, and what its reader must know.
import type { Problem, RunResult } from '../server/protocol/results';
import { html, nothing, type Markup } from './markup';
import { findingsMarkup } from './region/findings_markup';
import { regionsOf } from './table/rows';
import { countText, fileName, printable, startedText, timeText } from './text';

const FEW = 2;

export function runFacts(run: RunResult): string[] {
  const facts: string[] = [];
  if (run.device) facts.push(run.device.count > 1 ? `${run.device.count} × ${run.device.name}` : run.device.name);
  if (run.torch !== null) facts.push(`torch ${run.torch}`);
  if (run.run) facts.push(startedText(run.run.started));
  if (run.run?.has_own_profiler) facts.push('measured by the script’s own profiler');
  if (run.device_total_ns !== null) {
    const outside = run.outside_regions_ns ?? 0;
    const rest = outside > 0 ? `${timeText(outside)} of it outside any region` : 'all of it in regions';
    facts.push(`GPU time ${timeText(run.device_total_ns)}, ${rest}`);
  }
  return facts.map(printable);
}

/** What was found of the run as a whole, and its problems. */
export function runNotes(run: RunResult, isSaved = false): Markup {
  const left = run.regions.filter(({ series }) => series === null).length - regionsOf(run).length;
  return html`${findingsMarkup(run.findings, null, isSaved)}
  ${run.problems.length === 0 ? nothing : problemsMarkup(run.problems)}
  ${left === 0 ? nothing : html`<p class="quiet">Not listed: ${countText(left, 'region')} that torch or Kinetoscope added, not your code.</p>`}`;
}

function problemsMarkup(problems: readonly Problem[]): Markup {
  const texts = problems.map(
    ({ message, file, line }) =>
      html`${printable(message)}${
        file === null || line === null ? nothing : html` <span class="quiet">${fileName(file)}:${line}</span>`
      }`,
  );
  if (texts.length <= FEW) return html`${texts.map((text) => html`<p>${text}</p>`)}`;
  return html`<details>
    <summary>${countText(texts.length, 'note')} on this run</summary>
    <ul>
      ${texts.map((text) => html`<li>${text}</li>`)}
    </ul>
  </details>`;
}
