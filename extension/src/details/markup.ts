// HTML and SVG as text that is safe to insert: whatever is put into a template is escaped, but for markup itself.

export class Markup {
  constructor(readonly text: string) {}
}

export type Piece = Markup | string | number | null | readonly Piece[];

export const nothing = new Markup('');

/** Tag of templates: html`<b>${name}</b>`. */
export function html(pieces: TemplateStringsArray, ...values: Piece[]): Markup {
  return new Markup(pieces.reduce((text, piece, index) => text + textOf(values[index - 1] ?? null) + piece));
}

function textOf(piece: Piece): string {
  if (piece === null) return '';
  if (piece instanceof Markup) return piece.text;
  if (typeof piece === 'number') return String(Math.round(piece * 100) / 100);
  return typeof piece === 'string' ? escaped(piece) : piece.map(textOf).join('');
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
