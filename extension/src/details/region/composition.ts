// Breakdown of the totals of a region: stacked bars with their numbers.
import type { Breakdown, Measures } from '../../server/protocol';
import { html, nothing, type Markup } from '../markup';
import { filled, swatch } from '../charts/patterns';
import { shareText, timeText } from '../text';

export type PartKind = 'nested' | 'operators' | 'api_calls' | 'self' | 'cuda-self';

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

/** The parts of CPU total and, where it was measured, of CUDA total; each adds up to its total. */
export function compositionsOf(breakdown: Breakdown): Composition[] {
  const cpu = composition('CPU total', [
    { kind: 'nested', name: 'nested regions', ns: breakdown.cpu_nested_ns },
    { kind: 'operators', name: 'operators', ns: breakdown.cpu_operators_ns },
    { kind: 'api_calls', name: 'CUDA API calls', ns: breakdown.cpu_api_calls_ns },
    { kind: 'self', name: 'self', ns: breakdown.cpu_self_ns },
  ]);
  if (breakdown.cuda_nested_ns === null || breakdown.cuda_self_ns === null) {
    return [{ ...cpu, parts: cpu.parts.filter((part) => part.kind !== 'api_calls' || part.ns > 0) }];
  }
  const cuda = composition('CUDA total', [
    { kind: 'nested', name: 'nested regions', ns: breakdown.cuda_nested_ns },
    { kind: 'cuda-self', name: 'self', ns: breakdown.cuda_self_ns },
  ]);
  return [cuda, cpu];
}

function composition(title: string, parts: Part[]): Composition {
  return { title, totalNs: parts.reduce((sum, part) => sum + part.ns, 0), parts };
}

/** The bars, with a legend that has every number. */
export function compositionMarkup(measures: Measures): Markup {
  const calls = measures.measured === 1 ? 'the one measured call' : `${measures.measured} measured calls`;
  return html`${compositionsOf(measures.breakdown).map(stackMarkup)}
    <p class="quiet">Sums over ${calls}.</p>`;
}

function stackMarkup({ title, totalNs, parts }: Composition): Markup {
  const shown = parts.filter((part) => part.ns > 0);
  let start = 0;
  const pieces = shown.map((part) => {
    const width = part.ns / totalNs;
    const shape = html`x="${percent(start)}" width="${percent(width)}" y="0" height="20"`;
    const text = html`<text x="${percent(start + width / 2)}" y="14" text-anchor="middle">${shareText(width)}</text>`;
    const piece = html`${filled(part.kind, shape)}${width < 0.09 ? nothing : text}`;
    start += width;
    return piece;
  });
  const summary = shown.map((part) => `${part.name} ${timeText(part.ns)}`).join(', ');
  return html`<div class="composition">
    <h4>${title} <span class="number">${timeText(totalNs)}</span></h4>
    ${
      shown.length === 0
        ? nothing
        : html`<svg class="stack" height="20" width="100%" role="img" aria-label="${title}: ${summary}">${pieces}</svg>`
    }
    <table class="legend">
      <tbody>
        ${parts.map(
          (part) =>
            html`<tr class="${part.ns === 0 ? 'none' : ''}">
              <td>${swatch(part.kind)}${part.name}</td>
              <td class="number">${timeText(part.ns)}</td>
              <td class="number">${totalNs === 0 ? '' : shareText(part.ns / totalNs)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
