// Plain table: a class for the cells of each column, such as `number` or `name`.
import { html, type Markup, type Piece } from './markup';

/** Heading of a column and class of its cells; those of a `row` head their rows. */
export type Heading = readonly [title: string, kind: '' | 'name' | 'number' | 'number main' | 'row' | 'row number'];

export function plainTable(headings: readonly Heading[], rows: readonly (readonly Piece[])[], kind = ''): Markup {
  return html`<table class="plain ${kind}">
    <thead>
      <tr>
        ${headings.map(headingMarkup)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (cells) =>
          html`<tr>
            ${headings.map(([, cellKind], index) => cellMarkup(cellKind, cells[index] ?? null))}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function headingMarkup([title, kind]: Heading): Markup {
  if (title === '') return html`<td></td>`;
  return html`<th scope="col" class="${kind.includes('number') ? 'number' : ''}">${title}</th>`;
}

function cellMarkup(kind: Heading[1], cell: Piece): Markup {
  return kind.startsWith('row')
    ? html`<th scope="row" class="${kind}">${cell}</th>`
    : html`<td class="${kind}">${cell}</td>`;
}

/** How many kernels or operators, the most expensive ones, a table shows. */
export const SHOWN = 5;

/** A heading that says how many of the names are in the table: `Kernel, 5 of 26`. */
export function namesShown(noun: string, kept: number, of: number): string {
  const shown = Math.min(kept, SHOWN);
  return shown === of ? noun : `${noun}, ${shown} of ${of}`;
}
