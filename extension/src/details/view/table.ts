// Table of regions under mouse and keyboard: arrow keys choose a row, Enter and a click go to its line.
import type { Column } from '../table/columns';
import type { Order, Row } from '../table/rows';
import { headMarkup, rowMarkup } from '../table/table_markup';
import { columnWidth, fitting, isBriefIn, type Sizing } from '../table/widths';
import { RowsInSight } from './rows_in_sight';

export interface TableEvents {
  choose: (region: number) => void;
  reveal: (region: number, focus: boolean) => void;
  order: (column: Column) => void;
  /** Opens what is closed, and closes what is open. */
  toggle: (region: number) => void;
  /** How many columns there is no room for. */
  hidden: (columns: number) => void;
}

/** What a table shows: its columns, all or those that it has room for, and its rows; `all` are those of no filter. */
export interface Content {
  columns: readonly Column[];
  hasAllColumns: boolean;
  all: readonly Row[];
  rows: readonly Row[];
  order: Order;
  chosen: number | null;
}

const ROWS_OF_A_PAGE = 10;

export class RegionTable {
  private readonly head: HTMLTableSectionElement;
  private readonly inSight: RowsInSight;
  private readonly ruler = document.createElement('div');
  private content: Content | null = null;
  private columns: readonly Column[] = [];
  private rows: readonly Row[] = [];
  private chosen: number | null = null;
  private isBrief = false;

  constructor(
    private readonly table: HTMLTableElement,
    private readonly scroller: HTMLElement,
    private readonly events: TableEvents,
  ) {
    scroller.prepend(this.ruler);
    this.head = table.createTHead();
    const body = table.createTBody();
    this.inSight = new RowsInSight(
      scroller,
      body,
      (index) => rowMarkup(this.columns, this.rows, index, this.chosen),
      () => this.mark(),
    );
    new ResizeObserver(() => {
      if (!this.content) return;
      const wasBrief = this.isBrief;
      const { length } = this.fitting(this.content);
      if (length !== this.columns.length || this.isBrief !== wasBrief) this.draw(this.content);
    }).observe(scroller);
    this.head.addEventListener('click', (event) => {
      const button = event.target instanceof Element ? event.target.closest('button') : null;
      const column = this.columns.find((each) => each.id === button?.dataset.column);
      if (column) this.events.order(column);
    });
    body.addEventListener('click', (event) => {
      const region = clickedRegion(event);
      if (region === null) return;
      if (isOnOpener(event)) this.events.toggle(region);
      else this.events.reveal(region, false);
    });
    body.addEventListener('dblclick', (event) => {
      const region = clickedRegion(event);
      if (region !== null && !isOnOpener(event)) this.events.reveal(region, true);
    });
    table.addEventListener('keydown', (event) => {
      if (event.target === table) this.walkRows(event);
      else this.walkHeadings(event);
    });
  }

  show(content: Content): void {
    this.content = content;
    this.rows = content.rows;
    this.chosen = content.chosen;
    this.table.ariaRowCount = String(content.rows.length + 1);
    this.draw(content);
  }

  private draw(content: Content): void {
    const focused = this.headings().find((each) => each === document.activeElement)?.dataset.column;
    this.columns = this.fitting(content);
    this.table.classList.toggle('brief', this.isBrief);
    this.measure(this.columns, content.all, { isTight: !content.hasAllColumns, isBrief: this.isBrief });
    this.head.innerHTML = headMarkup(this.columns, content.order).text;
    const stop = this.headings().find((each) => each.dataset.column === (focused ?? content.order.column));
    (stop ?? this.headings()[0])?.setAttribute('tabindex', '0');
    if (focused !== undefined) (stop ?? this.headings()[0])?.focus();
    this.inSight.show(content.rows.length);
    this.choose(this.chosen);
  }

  private fitting({ columns, all, hasAllColumns }: Content): readonly Column[] {
    this.ruler.style.width = '100ch';
    const digitPx = this.ruler.offsetWidth / 100;
    this.ruler.style.width = '0';
    const room = { roomPx: this.scroller.clientWidth, digitPx };
    this.isBrief = !hasAllColumns && isBriefIn(columns, all, room);
    const fit = fitting(columns, all, room, this.isBrief);
    this.events.hidden(columns.length - fit.length);
    return hasAllColumns ? columns : fit;
  }

  /** As wide as what all the rows hold, filtered or not. */
  private measure(columns: readonly Column[], rows: readonly Row[], sizing: Sizing): void {
    const group = document.createElement('colgroup');
    const widths = columns.map((column) => `${columnWidth(column, rows, sizing)}ch + 16px`);
    columns.forEach((column, index) => {
      const width = column.id === 'name' ? 'auto' : `calc(${widths[index] ?? ''})`;
      group.appendChild(document.createElement('col')).style.width = width;
    });
    this.table.querySelector('colgroup')?.remove();
    this.table.prepend(group);
    this.table.style.minWidth = `calc(${widths.join(' + ')})`;
  }

  choose(region: number | null): void {
    this.chosen = region;
    const index = this.place();
    if (index !== -1) this.inSight.bringIntoSight(index);
    this.mark();
  }

  /** Rows are drawn anew when the table is scrolled. */
  private mark(): void {
    for (const row of this.table.querySelectorAll('[aria-selected="true"]')) row.ariaSelected = 'false';
    const row = this.chosen === null ? null : document.getElementById(`region-${this.chosen}`);
    if (row) row.ariaSelected = 'true';
    if (row) this.table.setAttribute('aria-activedescendant', row.id);
    else this.table.removeAttribute('aria-activedescendant');
  }

  private place(): number {
    return this.rows.findIndex(({ region }) => region.index === this.chosen);
  }

  private headings(): HTMLButtonElement[] {
    return [...this.head.querySelectorAll('button')];
  }

  private walkHeadings(event: KeyboardEvent): void {
    const headings = this.headings();
    const at = headings.findIndex((each) => each === document.activeElement);
    const places: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: headings.length - 1 };
    const next = event.key === 'ArrowDown' ? this.table : headings[places[event.key] ?? -1];
    if (!next) return;
    event.preventDefault();
    if (next !== this.table) {
      headings[at]?.setAttribute('tabindex', '-1');
      next.tabIndex = 0;
    }
    next.focus();
  }

  /** Right opens a row and goes into it, left closes it and goes out of it, as in VS Code's trees. */
  private sideways(at: number, key: string): number | undefined {
    const row = this.rows[at];
    if (!row || (key !== 'ArrowRight' && key !== 'ArrowLeft')) return undefined;
    const isRight = key === 'ArrowRight';
    if (row.isOpen === !isRight) {
      this.events.toggle(row.region.index);
      return at;
    }
    if (isRight) return (this.rows[at + 1]?.depth ?? 0) > row.depth ? at + 1 : at;
    const around = this.rows.slice(0, at).findLastIndex(({ depth }) => depth < row.depth);
    return around === -1 ? at : around;
  }

  private walkRows(event: KeyboardEvent): void {
    const at = this.place();
    const last = this.rows.length - 1;
    const places: Record<string, number> = {
      ArrowUp: at - 1,
      ArrowDown: at + 1,
      PageUp: Math.max(0, at - ROWS_OF_A_PAGE),
      PageDown: Math.min(last, at + ROWS_OF_A_PAGE),
      Home: 0,
      End: last,
    };
    if (event.key === 'Enter' && at !== -1 && this.chosen !== null) {
      this.events.reveal(this.chosen, true);
      return;
    }
    const next = places[event.key] ?? this.sideways(at, event.key);
    if (next === undefined) return;
    event.preventDefault();
    const row = this.rows[next];
    if (row) this.events.choose(row.region.index);
  }
}

function isOnOpener({ target }: Event): boolean {
  return target instanceof Element && target.classList.contains('opener');
}

function clickedRegion(event: MouseEvent): number | null {
  const row = event.target instanceof Element ? event.target.closest('tr') : null;
  return row?.dataset.region === undefined ? null : Number(row.dataset.region);
}
