// What a comparison says of one region: times on both sides, kernels, operators and findings that came and went.
import type { RegionComparison, Share, ShareChange, Shares } from '../../server/protocol/comparison';
import type { Bound } from '../../server/protocol/measures';
import { html, nothing, type Markup, type Piece } from '../markup';
import { plainTable, SHOWN, type Heading } from '../plain_table';
import { boundText, countText, kernelName, operatorName, printable, timeText } from '../text';
import { BOUND_CODES } from './bounds';
import { changeKind, changeText, intervalText, type RowChange } from './change_text';

export function beforeMarkup(compared: RegionComparison): Markup {
  if (compared.in === 'b') return html`<p class="quiet">This region is new: the run before does not have it.</p>`;
  return html`${timesMarkup(compared)} ${sentencesOf(compared).map((each) => html`<p>${each}</p>`)}
  ${sharesMarkup('Kernel', compared.kernels)} ${sharesMarkup('Operator', compared.operators)}`;
}

/** An arrow is read as the word that it stands for. */
export function changeMarkup(change: RowChange): Markup {
  const [text, kind] = [changeText(change), changeKind(change)];
  const interval = intervalText(change);
  if (kind === 'quiet') return html`<span class="change quiet" title="${interval}">${text}</span>`;
  const meaning = `${kind} by ${text.slice(1)}`;
  return html`<span class="change ${kind}" title="${kind}: ${interval}" role="img" aria-label="${meaning}"
    >${text}</span
  >`;
}

function timesMarkup(compared: RegionComparison): Markup {
  const rows = [
    ...timeRow('CUDA total', compared.cuda_total_ns),
    ...timeRow('CUDA self', compared.cuda_self_ns),
    ...timeRow('CPU total', compared.cpu_total_ns),
    ...timeRow('CPU self', compared.cpu_self_ns),
  ];
  return plainTable(
    [
      ['', 'row'],
      ['Before', 'number'],
      ['Now', 'number main'],
      ['Change', ''],
    ],
    rows,
    'numbers before-now',
  );
}

function timeRow(name: string, change: RowChange | null): Piece[][] {
  if (change === null || (change.a === null && change.b === null)) return [];
  const interval = changeText(change) === '' ? '' : intervalText(change);
  const said = html`${changeMarkup(change)} <span class="quiet interval">${interval}</span>`;
  return [[name, orNone(change.a), orNone(change.b), said]];
}

function orNone(ns: number | null): string {
  return ns === null ? '—' : timeText(ns);
}

function boundOf(bound: Bound | null): string {
  return bound === null ? 'none' : boundText(bound);
}

function sentencesOf(compared: RegionComparison): string[] {
  const { was, line, launches, bound } = compared;
  const [gone, found] = [compared.findings_gone, compared.findings_new].map((codes) =>
    codes.filter((code) => !BOUND_CODES.has(code)),
  ) as [string[], string[]];
  const place = was?.line && was.line !== line ? [`at line ${was.line}`] : [];
  const wasSo = was ? [...(was.name === compared.name ? [] : [printable(was.name)]), ...place] : [];
  return [
    ...(wasSo.length > 0 ? [`Was ${wasSo.join(' ')}.`] : []),
    ...(launches.a !== null && launches.b !== null && launches.a !== launches.b
      ? [`GPU launches per call: ${launches.a} → ${launches.b}.`]
      : []),
    ...(bound.a !== bound.b ? [`Bound: ${boundOf(bound.a)} → ${boundOf(bound.b)}.`] : []),
    ...(gone.length > 0 ? [`No longer found: ${gone.join(', ')}.`] : []),
    ...(found.length > 0 ? [`New findings: ${found.join(', ')}.`] : []),
  ];
}

function sharesMarkup(noun: 'Kernel' | 'Operator', shares: Shares | null): Markup {
  if (shares === null) return nothing;
  const name = (each: ShareChange): string => (noun === 'Kernel' ? kernelName(each) : operatorName(each.name));
  const kinds = ['new', 'gone', 'changed'] as const;
  const rows = kinds.flatMap((kind) =>
    shares[kind].map((each) => [
      html`<span class="clamped" title="${printable(each.name)}">${name(each)}</span>`,
      kind,
      shareText(each.a),
      shareText(each.b),
    ]),
  );
  const rest = [
    ...(rows.length > SHOWN * 2 ? [`${rows.length - SHOWN * 2} more with a difference`] : []),
    ...(shares.same > 0 ? [`${countText(shares.same, noun.toLowerCase())} the same`] : []),
    ...(shares.is_whole ? [] : ['only the most expensive ones are compared']),
  ];
  const said = rest.length === 0 ? nothing : html`<p class="quiet">${noun}s: ${rest.join('; ')}.</p>`;
  if (rows.length === 0) return said;
  const headings: Heading[] = [
    [noun, 'name'],
    ['', ''],
    ['Before', 'number'],
    ['Now', 'number'],
  ];
  return html`<h4>${noun}s, per call</h4>
    ${plainTable(headings, rows.slice(0, SHOWN * 2))} ${said}`;
}

function shareText(share: Share | null): string {
  if (share === null) return '—';
  return `${share.count === 1 ? '' : `×${Number(share.count.toPrecision(6))}, `}${timeText(share.total_ns)}`;
}
