// The table of regions under mouse and keyboard: arrow keys choose a row, Enter and a click go to its line.
import type { Column } from '../columns';
import { html } from '../markup';
import type { ListedRegion } from '../messages';
import type { Order } from '../rows';
import { headMarkup, rowMarkup } from '../table_markup';

export interface TableEvents {
  choose: (region: number) => void;
  reveal: (region: number, focus: boolean) => void;
  order: (column: Column) => void;
}

const ROWS_OF_A_PAGE = 10;

export class RegionTable {
  private readonly head: HTMLTableSectionElement;
  private readonly body: HTMLTableSectionElement;
  private columns: readonly Column[] = [];
  private rows: readonly ListedRegion[] = [];
  private chosen: number | null = null;

  constructor(
    table: HTMLTableElement,
    private readonly events: TableEvents,
  ) {
    this.head = table.tHead ?? table.createTHead();
    this.body = table.tBodies[0] ?? table.createTBody();
    this.head.addEventListener('click', (event) => {
      this.orderBy(event.target);
    });
    this.head.addEventListener('keydown', (event) => {
      this.walkHeadings(event);
    });
    this.body.addEventListener('click', (event) => {
      this.take(event.target, (region) => {
        this.choose(region, true);
        this.events.reveal(region, false);
      });
    });
    this.body.addEventListener('dblclick', (event) => {
      this.take(event.target, (region) => {
        this.events.reveal(region, true);
      });
    });
    this.body.addEventListener('keydown', (event) => {
      this.walkRows(event);
    });
  }

  show(columns: readonly Column[], rows: readonly ListedRegion[], order: Order, chosen: number | null): void {
    const hadFocus = this.body.contains(document.activeElement);
    const heading = this.head.contains(document.activeElement) ? this.focusedHeading() : null;
    this.columns = columns;
    this.rows = rows;
    this.head.innerHTML = headMarkup(columns, order).text;
    this.body.innerHTML = html`${rows.map((row) => rowMarkup(columns, row))}`.text;
    const stop = this.headings().find((each) => each.dataset.column === (heading ?? order.column));
    (stop ?? this.headings()[0])?.setAttribute('tabindex', '0');
    if (heading !== null) stop?.focus();
    this.chosen = null;
    this.choose(chosen, hadFocus);
  }

  choose(region: number | null, focus: boolean): void {
    if (this.chosen !== null) this.mark(this.chosen, false);
    const row = this.row(region) ?? this.body.rows[0];
    this.chosen = region;
    if (!row) return;
    row.tabIndex = 0;
    if (region !== null && this.row(region)) row.setAttribute('aria-selected', 'true');
    if (focus) row.focus({ preventScroll: true });
    row.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  private mark(region: number, isChosen: boolean): void {
    const row = this.row(region) ?? this.body.rows[0];
    row?.setAttribute('aria-selected', String(isChosen));
    if (row) row.tabIndex = isChosen ? 0 : -1;
  }

  private row(region: number | null): HTMLTableRowElement | null {
    return region === null ? null : this.body.querySelector(`tr[data-region="${region}"]`);
  }

  private headings(): HTMLButtonElement[] {
    return [...this.head.querySelectorAll('button')];
  }

  private focusedHeading(): string | null {
    const focused = this.headings().find((each) => each === document.activeElement);
    return focused?.dataset.column ?? null;
  }

  private orderBy(target: EventTarget | null): void {
    const button = target instanceof Element ? target.closest('button') : null;
    const column = this.columns.find((each) => each.id === button?.dataset.column);
    if (column) this.events.order(column);
  }

  private walkHeadings(event: KeyboardEvent): void {
    const headings = this.headings();
    const at = headings.findIndex((each) => each === document.activeElement);
    const places: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: headings.length - 1 };
    if (event.key === 'ArrowDown') this.choose(this.chosen ?? this.rows[0]?.index ?? null, true);
    const next = headings[places[event.key] ?? -1];
    if (!next && event.key !== 'ArrowDown') return;
    event.preventDefault();
    if (!next) return;
    headings[at]?.setAttribute('tabindex', '-1');
    next.tabIndex = 0;
    next.focus();
  }

  private walkRows(event: KeyboardEvent): void {
    const at = this.rows.findIndex((row) => row.index === this.chosen);
    const last = this.rows.length - 1;
    const places: Record<string, number> = {
      ArrowUp: at - 1,
      ArrowDown: at + 1,
      PageUp: Math.max(0, at - ROWS_OF_A_PAGE),
      PageDown: Math.min(last, at + ROWS_OF_A_PAGE),
      Home: 0,
      End: last,
    };
    if (event.key === 'Enter' && this.chosen !== null) {
      this.events.reveal(this.chosen, true);
      return;
    }
    const next = places[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const region = this.rows[next];
    if (!region) return;
    this.choose(region.index, true);
    this.events.choose(region.index);
  }

  private take(target: EventTarget | null, act: (region: number) => void): void {
    const row = target instanceof Element ? target.closest('tr') : null;
    const region = Number(row?.dataset.region ?? NaN);
    if (!Number.isNaN(region)) act(region);
  }
}
