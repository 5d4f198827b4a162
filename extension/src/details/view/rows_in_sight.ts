// Rows in sight of a long table: only they are in the page, between two empty ones as high as all others.
import { html, type Markup } from '../markup';

/** As the style has it. */
const ROW = 24;
const HEAD = 28;
const BEYOND = 20;

export class RowsInSight {
  private count = 0;
  private from = 0;
  private to = 0;

  constructor(
    private readonly scroller: HTMLElement,
    private readonly body: HTMLTableSectionElement,
    private readonly row: (index: number) => Markup,
    private readonly drawn: () => void,
  ) {
    const redraw = (): void => {
      const { from, to } = this.inSight();
      if (from !== this.from || to !== this.to) this.draw();
    };
    scroller.addEventListener('scroll', redraw);
    new ResizeObserver(redraw).observe(scroller);
  }

  show(count: number): void {
    this.count = count;
    this.draw();
  }

  bringIntoSight(index: number): void {
    const { scrollTop, clientHeight } = this.scroller;
    const lowest = index * ROW;
    const highest = lowest + ROW + HEAD - clientHeight;
    if (scrollTop > lowest) this.scroller.scrollTop = lowest;
    else if (scrollTop < highest) this.scroller.scrollTop = highest;
    const { from, to } = this.inSight();
    if (index < this.from || index >= this.to || from !== this.from || to !== this.to) this.draw();
  }

  /** In steps, so that not every movement draws anew. */
  private inSight(): { from: number; to: number } {
    const first = Math.floor(this.scroller.scrollTop / ROW / BEYOND) * BEYOND;
    const rows = Math.ceil(this.scroller.clientHeight / ROW);
    return { from: Math.max(0, first - BEYOND), to: Math.min(this.count, first + rows + 2 * BEYOND) };
  }

  private draw(): void {
    const { from, to } = this.inSight();
    this.from = from;
    this.to = to;
    const rows = Array.from({ length: Math.max(0, to - from) }, (_, index) => this.row(from + index));
    this.body.innerHTML = html`${rows}`.text;
    this.body.prepend(empty(from));
    this.body.append(empty(this.count - to));
    this.drawn();
  }
}

function empty(rows: number): HTMLTableRowElement {
  const row = document.createElement('tr');
  row.ariaHidden = 'true';
  row.insertCell().style.height = `${Math.max(0, rows) * ROW}px`;
  row.className = 'empty';
  return row;
}
