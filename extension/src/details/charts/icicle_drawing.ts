// Drawing of the icicle chart as SVG, and what each box and the whole is in words.
import { hasTimes } from '../../server/protocol/measures';
import type { RunResult } from '../../server/protocol/results';
import { html, nothing, type Markup } from '../markup';
import { countText, nameBelow, nameText, printable, shareText, timeText } from '../text';
import type { IcicleBox, IcicleLayout } from './icicle';
import type { Extent, ModuleNode, ModuleTree } from './modules';
import { filled } from './patterns';
import { fitted } from './scale';

export const EXTENTS: Readonly<Record<Extent, string>> = {
  cuda: 'CUDA total',
  cpu: 'CPU total',
  backward: 'Backward',
};

const KIND: Readonly<Record<Extent, string>> = { cuda: 'cuda', cpu: 'cpu', backward: 'region' };

export function icicleSvg(layout: IcicleLayout, tree: ModuleTree, extent: Extent): Markup {
  const { width, height, rows } = layout;
  return html`<svg
    class="icicle"
    width="${width}"
    height="${height}"
    viewBox="0 0 ${width} ${height}"
    role="presentation"
  >
    ${rows.flat().map((box) => boxMarkup(box, tree, extent))}
  </svg>`;
}

function boxMarkup(box: IcicleBox, tree: ModuleTree, extent: Extent): Markup {
  const { node, x, y, width, height } = box;
  const { region, isOpen } = node;
  const drawn = width > 4 ? width - 1 : width;
  const mark = isOpen === null ? '' : isOpen ? '▾ ' : '▸ ';
  const label = fitted(
    `${mark}${nameBelow(region.measures, box.above?.node.region.measures ?? null)}`,
    drawn - 6,
    false,
  );
  const text = boxText(node, tree, extent);
  const expanded = isOpen === null ? nothing : html`aria-expanded="${String(isOpen)}"`;
  return html`<g
    class="item ${drawn < 3 ? 'thin' : ''}"
    id="module-${region.index}"
    data-item="${region.index}"
    role="treeitem"
    aria-level="${box.level + 1}"
    aria-selected="false"
    ${expanded}
    aria-label="${text}"
    ><title>${text}</title
    >${filled(KIND[extent], html`x="${x + 0.5}" y="${y + 0.5}" width="${drawn}" height="${height - 1}"`)}${
      label === '' ? nothing : html`<text aria-hidden="true" x="${x + 5}" y="${y + height / 2 + 4}">${label}</text>`
    }</g
  >`;
}

/** What a box is and how long it took. */
export function boxText({ region, ns, rest }: ModuleNode, { base, roots }: ModuleTree, extent: Extent): string {
  const { measures } = region;
  const whole = roots.reduce((sum, each) => sum + each.ns, 0);
  const facts = [nameText(measures)];
  if (measures.module) facts.push(measures.module.class_name);
  facts.push(`${EXTENTS[extent]} ${timeText(ns)}, ${shareText(ns / whole)}`);
  if (rest > 0 && rest < ns) facts.push(`${timeText(rest)} of it in no nested module`);
  if (hasTimes(measures) && region !== base) {
    const spread =
      measures[extent === 'cpu' ? 'cpu_total_ns' : extent === 'cuda' ? 'cuda_total_ns' : 'backward_cuda_ns'];
    if (spread) facts.push(`median of a call ${timeText(spread.median)}`);
  }
  if (measures.slowest != null) facts.push(`the slowest is ${printable(measures.slowest)}`);
  return facts.join(' · ');
}

/** What the widths are, and what has none. */
export function icicleCaption(run: RunResult, { base, without }: ModuleTree, extent: Extent): string {
  if (!base) return '';
  const { name, measured } = base.measures;
  const said = [
    `Widths: ${EXTENTS[extent]}${extent === 'backward' ? ', the GPU time that modules cost in the backward pass,' : ''} in the ${measured === 1 ? 'one measured call' : `${measured} measured calls`} of ${printable(name)}, added up. What no box below covers is in no nested module.`,
  ];
  if (without > 0)
    said.push(`${countText(without, 'module')} without such a time ${without === 1 ? 'is' : 'are'} not drawn.`);
  const { backward } = run;
  if (extent === 'backward' && backward) {
    const lost = backward.total_ns - backward.of_regions_ns;
    said.push(
      `In the whole recording, the backward pass took ${timeText(backward.total_ns)}; ${lost === 0 ? 'all of it belongs to regions' : `${timeText(lost)} (${shareText(lost / backward.total_ns)}) could not be attributed to a region`}.`,
    );
  }
  return said.join(' ');
}
