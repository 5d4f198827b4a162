// Table of regions, as the panel and a saved page show it.
import type { Middle } from '../../server/protocol/measures';
import type { RunRegion } from '../../server/protocol/results';
import { cellText, type Column, type Telling } from './columns';
import { changeMarkup } from '../region/before_markup';
import { timeTexts, type RowChange } from '../region/change_text';
import { warningMark } from '../region/findings_markup';
import { html, nothing, type Markup } from '../markup';
import type { Order, Row } from './rows';
import { isWide, nameBelow, nameText, printable, shareText, typicalParts } from '../text';

export function captionText({ same, columns }: Telling, rows: readonly Row[]): string {
  const sides = columns.some(({ change }) => change) ? ', before → now' : '';
  const hasWide = rows.some(({ region }) => columns.some((column) => isWide(column.middle?.(region) ?? null)));
  const wide = hasWide ? '; of calls that lie far apart, from where to where their middle half goes' : '';
  return `Medians of the measured calls${sides}${wide}.${same.length === 0 ? '' : ` The same for all: ${same.join(', ')}.`}`;
}

const SHARE_WIDTH = 40;

/** Deeper ones are not indented further. */
const DEEPEST = 8;

/** Headings are buttons of one stop for Tab; the arrow keys go from one to the next. */
export function headMarkup(columns: readonly Column[], order: Order): Markup {
  return head(
    columns,
    order,
    (column, arrow) =>
      html`<button type="button" data-column="${column.id}" title="${column.meaning}" tabindex="-1">
        ${column.heading}${arrow}
      </button>`,
  );
}

/** Where nothing can be ordered any more. */
export function plainHeadMarkup(columns: readonly Column[], order: Order): Markup {
  return head(
    columns,
    order,
    (column, arrow) => html`<span title="${column.meaning}">${column.heading}${arrow}</span>`,
  );
}

function head(columns: readonly Column[], order: Order, content: (column: Column, arrow: Markup) => Markup): Markup {
  return html`<tr>
    ${columns.map((column) => {
      const isOrdered = column.id === order.column;
      const direction = order.descending ? 'descending' : 'ascending';
      const arrow = html`<span class="arrow" aria-hidden="true">${order.descending ? '▾' : '▴'}</span>`;
      return html`<th scope="col" class="${column.kind}" aria-sort="${isOrdered ? direction : 'none'}">
        ${content(column, isOrdered ? arrow : nothing)}
      </th>`;
    })}
  </tr>`;
}

/** Rows count from 1, the heading's is the first. */
export function rowMarkup(
  columns: readonly Column[],
  rows: readonly Row[],
  index: number,
  chosen: number | null,
): Markup {
  const row = rows[index];
  if (!row) return nothing;
  const { region, depth, isOpen } = row;
  const expanded = isOpen === null ? nothing : html`aria-expanded="${String(isOpen)}"`;
  return html`<tr
    id="region-${region.index}"
    class="depth-${Math.min(depth, DEEPEST)}"
    data-region="${region.index}"
    aria-level="${depth + 1}"
    aria-rowindex="${index + 2}"
    aria-selected="${String(region.index === chosen)}"
    ${expanded}
  >
    ${columns.map((column) => (column.id === 'name' ? nameCell(row) : cell(column, region)))}
  </tr>`;
}

function cell(column: Column, region: RunRegion): Markup {
  if (column.change) return changeCell(column.change(region));
  const value = column.value(region);
  if (value === null) return html`<td class="${column.kind}"></td>`;
  if (column.kind === 'time' && typeof value === 'number') {
    return timeCell(value, column.middle?.(region) ?? null);
  }
  if (column.kind === 'share' && typeof value === 'number') return shareCell(value);
  return html`<td class="${column.kind} ${column.id}">${cellText(column, region)}</td>`;
}

function nameCell({ region, around, isOpen }: Row): Markup {
  const stale =
    region.stale.length === 0
      ? nothing
      : html`<span class="stale" title="Stale: ${region.stale.join('; ')}" aria-label="stale">~</span>`;
  const name = nameText(region.measures);
  const { slowest } = region.measures;
  const title = slowest == null ? name : `${name}, the slowest is ${printable(slowest)}`;
  const mark = isOpen === null ? nothing : html`<i class="opener" aria-hidden="true">${isOpen ? '▾' : '▸'}</i>`;
  return html`<th scope="row" class="name">
    ${mark}<span title="${title}"
      >${warningMark(region.measures.findings)}${stale}${nameBelow(region.measures, around?.measures ?? null)}</span
    >
  </th>`;
}

/** Number and unit apart, so that the points stand below each other. */
function timeCell(ns: number, middle: Middle | null): Markup {
  const { number, unit } = typicalParts(ns, middle);
  return html`<td class="time${ns === 0 ? ' none' : ''}">${number}<span class="unit"> ${unit}</span></td>`;
}

/** The words of all rows begin below each other; a brief table leaves out what was before. */
function changeCell(change: RowChange | null): Markup {
  if (change === null || (change.a === null && change.b === null)) return html`<td class="time"></td>`;
  const [before, now] = timeTexts(change);
  return html`<td class="time compared" title="${before} ${now}">
    <span class="was">${before} </span>${now}${changeMarkup(change)}
  </td>`;
}

function shareCell(share: number): Markup {
  const width = Math.min(1, Math.max(0, share)) * SHARE_WIDTH;
  return html`<td class="share">
    <svg width="${SHARE_WIDTH}" height="8" aria-hidden="true">
      <rect class="track" width="${SHARE_WIDTH}" height="8" />
      <rect class="part" width="${width}" height="8" /></svg
    ><span>${shareText(share)}</span>
  </td>`;
}
