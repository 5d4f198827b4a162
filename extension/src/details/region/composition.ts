// Breakdown of the totals of a region: stacked bars with their numbers.
import type { Breakdown, Measures } from '../../server/protocol/measures';
import { html, nothing, type Markup } from '../markup';
import { filled, swatch } from '../charts/patterns';
import { namesShown, plainTable, SHOWN, type Heading } from '../plain_table';
import { operatorName, printable, shareText, timeText } from '../text';

export type PartKind = 'nested' | 'operators' | 'api_calls' | 'autograd' | 'self' | 'cuda-self';

export interface Part {
  kind: PartKind;
  name: string;
  ns: number;
}

export interface Composition {
  title: string;
  totalNs: number;
  parts: Part[];
}

/** The parts of CPU total and, where it was measured, of CUDA total; each adds up to its total. Those of no time are
 * left out. */
export function compositionsOf(breakdown: Breakdown): Composition[] {
  const waitNs = breakdown.cpu_autograd_wait_ns ?? 0;
  const cpu = composition('CPU total', [
    { kind: 'nested', name: 'nested regions', ns: breakdown.cpu_nested_ns },
    { kind: 'operators', name: 'operators', ns: breakdown.cpu_operators_ns },
    { kind: 'api_calls', name: 'CUDA API calls', ns: breakdown.cpu_api_calls_ns },
    { kind: 'autograd', name: 'self, waiting for the autograd thread', ns: waitNs },
    { kind: 'self', name: waitNs > 0 ? 'self, all else' : 'self', ns: breakdown.cpu_self_ns - waitNs },
  ]);
  if (breakdown.cuda_nested_ns === null || breakdown.cuda_self_ns === null) return [cpu];
  const cuda = composition('CUDA total', [
    { kind: 'nested', name: 'nested regions', ns: breakdown.cuda_nested_ns },
    { kind: 'cuda-self', name: 'self', ns: breakdown.cuda_self_ns },
  ]);
  return [cuda, cpu];
}

function composition(title: string, parts: Part[]): Composition {
  return { title, totalNs: parts.reduce((sum, part) => sum + part.ns, 0), parts: parts.filter(({ ns }) => ns > 0) };
}

/** The bars, with a legend that has every number. */
export function compositionMarkup(measures: Measures): Markup {
  const calls = measures.measured === 1 ? 'the one measured call' : `${measures.measured} measured calls`;
  return html`${compositionsOf(measures.breakdown).map(stackMarkup)} ${autogradMarkup(measures.breakdown)}
    <p class="quiet">Sums over ${calls}.</p>`;
}

/** What the autograd thread ran while the region waited for it. */
function autogradMarkup({
  cpu_autograd_wait_ns: waitNs = 0,
  autograd_operators: operators = [],
  autograd_operator_names: names = 0,
}: Breakdown): Markup {
  if (waitNs === 0) return nothing;
  const hasCuda = operators.some((each) => each.cuda_total_ns !== null);
  const cuda: Heading[] = hasCuda ? [['CUDA', 'number']] : [];
  const table = plainTable(
    [
      [namesShown('Operator', operators.length, names), 'name'],
      ['Count', 'number'],
      ...cuda,
      ['CPU', 'number'],
      ['Of the wait', 'number'],
    ],
    operators
      .slice(0, SHOWN)
      .map((each) => [
        html`<span title="${printable(each.name)}">${operatorName(each.name)}</span>`,
        each.count,
        ...cuda.map(() => (each.cuda_total_ns === null ? '' : timeText(each.cuda_total_ns))),
        timeText(each.cpu_total_ns),
        shareText(each.cpu_total_ns / waitNs),
      ]),
  );
  return html`<div class="composition">
    <h4>Meanwhile on the autograd thread</h4>
    ${table}
  </div>`;
}

function stackMarkup({ title, totalNs, parts }: Composition): Markup {
  let start = 0;
  const pieces = parts.map((part) => {
    const width = part.ns / totalNs;
    const shape = html`x="${percent(start)}" width="${percent(width)}" y="0" height="20"`;
    const text = html`<text x="${percent(start + width / 2)}" y="14" text-anchor="middle">${shareText(width)}</text>`;
    const piece = html`${filled(part.kind, shape)}${width < 0.09 ? nothing : text}`;
    start += width;
    return piece;
  });
  const summary = parts.map((part) => `${part.name} ${timeText(part.ns)}`).join(', ');
  return html`<div class="composition">
    <h4>${title} <span class="number">${timeText(totalNs)}</span></h4>
    ${
      parts.length === 0
        ? nothing
        : html`<svg class="stack" height="20" width="100%" role="img" aria-label="${title}: ${summary}">${pieces}</svg>`
    }
    <table class="legend">
      <tbody>
        ${parts.map(
          (part) =>
            html`<tr>
              <td>${swatch(part.kind)}${part.name}</td>
              <td class="number">${timeText(part.ns)}</td>
              <td class="number">${shareText(part.ns / totalNs)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
