// Facts and numbers of one region, its kernels and operators.
import { hasTimes, type Breakdown, type Measures, type Spread, type Unmeasured } from '../../server/protocol/measures';
import type { RunRegion } from '../../server/protocol/results';
import { BOUNDS } from './bounds';
import { explained } from './findings_markup';
import { html, nothing, type Markup } from '../markup';
import { namesShown, plainTable, SHOWN, type Heading } from '../plain_table';
import {
  boundText,
  countText,
  fileName,
  kernelName,
  operatorName,
  printable,
  shareText,
  timeText,
  unmeasuredText,
} from '../text';

export function placeText(region: RunRegion): string | null {
  return region.uri === null || region.row === null ? null : `${fileName(region.uri)}:${region.row + 1}`;
}

/** What limits it, and what the reader of its numbers must know. */
export function factsMarkup(region: RunRegion, isSaved = false): Markup {
  const { measures } = region;
  const bound =
    measures.bound === null
      ? nothing
      : html`<p><b>${explained(boundText(measures.bound), isSaved)}.</b> ${BOUNDS[measures.bound]}</p>`;
  const stale =
    region.stale.length === 0 ? nothing : html`<p class="stale"><b>Stale:</b> ${region.stale.join('; ')}.</p>`;
  return html`${stale}${bound}
    <p class="quiet">${notesOf(region).join(' ')}</p>`;
}

function notesOf(region: RunRegion): string[] {
  const { measures } = region;
  if (!hasTimes(measures)) return whyUnmeasured(measures);
  const notes = [`${measures.measured} of ${countText(measures.calls, 'call')} measured.`];
  if (measures.names > 1) notes.push(`${measures.names} names that differ only in numbers, or that torch generated.`);
  if (measures.slowest != null) notes.push(`The slowest of them is ${printable(measures.slowest)}.`);
  if (measures.module) notes.push(moduleText(measures.module));
  if (measures.is_cold) notes.push('All of them are cold: there were too few calls for a warm-up.');
  if (measures.raised > 0) {
    const counted = measures.is_raised ? '' : ', not counted';
    notes.push(`${measures.raised} raised ${printable(measures.exception ?? '')}${counted}.`);
  }
  if (measures.unfinished > 0) notes.push(`${measures.unfinished} had not ended when the recording stopped.`);
  const parts = measures.breakdown;
  if (parts.threads > 1) {
    notes.push(
      `They ran on ${parts.threads} threads: ${countText(parts.on_other_threads, 'call')} not on the thread of the first.`,
    );
  }
  if (measures.overhead_ns > 0) {
    notes.push(`${timeText(measures.overhead_ns)} of the CPU times, in total, are the profiler’s own overhead.`);
  }
  return notes;
}

function moduleText({ class_name: name, is_compiled: isCompiled }: NonNullable<Measures['module']>): string {
  return isCompiled
    ? `A ${printable(name)} that is compiled: modules inside it are not measured.`
    : `A ${printable(name)}.`;
}

function whyUnmeasured(measures: Unmeasured): string[] {
  const calls = countText(measures.calls, 'call');
  const what = `Not measured: ${unmeasuredText(measures)} (${calls} seen).`;
  return measures.at_least_ns !== null
    ? [what, 'Add a region around what repeats inside it, or give the recording more time (kinetoscope.budgetSeconds).']
    : [what, 'The trace has no valid start and end of any call. Record it again.'];
}

/** Median, minimum, maximum, first and sum of everything that was measured. */
export function numbersMarkup(measures: Measures): Markup {
  const { first, backward_cuda_ns: backward } = measures;
  const rows = [
    ...spreadRow('CUDA total', measures.cuda_total_ns, timeText, first.cuda_total_ns),
    ...spreadRow('CUDA self', measures.cuda_self_ns, timeText),
    ...spreadRow('CUDA busy', measures.cuda_busy_ns, timeText),
    ...spreadRow('Backward (later)', (backward?.max ?? 0) > 0 ? backward : null, timeText),
    ...spreadRow('Launches', measures.launches, String),
    ...spreadRow('CPU total', measures.cpu_total_ns, timeText, first.cpu_total_ns),
    ...spreadRow('CPU self', measures.cpu_self_ns, timeText),
  ];
  const others = ['Min', 'Max', 'First', 'Sum'].map((title): Heading => [title, 'number']);
  return plainTable([['', 'row'], ['Median', 'number main'], ...others], rows, 'numbers');
}

function spreadRow(name: string, spread: Spread | null, text: (value: number) => string, first: number | null = null) {
  if (spread === null) return [];
  const { median, min, max, sum } = spread;
  return [[name, text(median), text(min), text(max), first === null ? '' : text(first), text(sum)]];
}

export function kernelsMarkup(parts: Breakdown, totalNs: number): Markup {
  if (parts.kernels.length === 0) return html`<p class="quiet">Nothing was launched on a GPU.</p>`;
  const table = plainTable(
    [
      [namesShown('Kernel', parts.kernels.length, parts.kernel_names), 'name'],
      ['Count', 'number'],
      ['CUDA', 'number'],
      ['Share', 'number'],
    ],
    parts.kernels
      .slice(0, SHOWN)
      .map((kernel) => [
        html`<span class="clamped" title="${printable(kernel.name)}">${kernelName(kernel)}</span>`,
        kernel.count,
        timeText(kernel.total_ns),
        totalNs === 0 ? '' : shareText(kernel.total_ns / totalNs),
      ]),
  );
  return html`${table}${chainMarkup(parts)}`;
}

/** The way to the most expensive kernel. */
function chainMarkup({ chain, kernels }: Breakdown): Markup {
  if (chain.length === 0) return nothing;
  const links = chain.filter((link, index) => link.name !== chain[index - 1]?.name);
  const [costliest] = kernels;
  return html`<h4>Path to the most expensive kernel</h4>
    <ol class="chain">
      ${links.map(({ kind, name }) => html`<li class="${kind}" title="${printable(name)}">${kind === 'activity' && costliest ? kernelName(costliest) : operatorName(name)}</li>`)}
    </ol>`;
}

export function operatorsMarkup(parts: Breakdown): Markup {
  if (parts.operators.length === 0) return html`<p class="quiet">No operator runs directly in this region.</p>`;
  const cuda: Heading[] = parts.cuda_self_ns === null ? [] : [['CUDA', 'number']];
  return plainTable(
    [
      [namesShown('Operator', parts.operators.length, parts.operator_names), 'name'],
      ['Count', 'number'],
      ...cuda,
      ['CPU', 'number'],
    ],
    parts.operators
      .slice(0, SHOWN)
      .map((each) => [
        html`<span title="${printable(each.name)}">${operatorName(each.name)}</span>${
            each.is_on_other_thread ? html` <span class="quiet">autograd thread</span>` : nothing
          }`,
        each.count,
        ...cuda.map(() => (each.cuda_total_ns === null ? '' : timeText(each.cuda_total_ns))),
        timeText(each.cpu_total_ns),
      ]),
  );
}
