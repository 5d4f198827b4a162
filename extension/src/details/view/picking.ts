// Picking of one thing that a chart draws, by pointer or arrow keys; a line of text says what it is.

/** In a window that is hidden or all but closed. */
const LEAST_WIDTH = 160;

export function chartWidth(chart: HTMLElement): number {
  return Math.max(LEAST_WIDTH, chart.clientWidth);
}

export interface Pickable {
  /** The id of an item's element, without its number. */
  prefix: string;
  /** Where the picking starts. */
  start: () => number;
  text: (item: number) => string;
  next: (item: number, key: string) => number | null;
  /** After an item was picked by keyboard or click. */
  picked: (item: number) => void;
}

export class Picker {
  private picked: number | null = null;

  constructor(
    private readonly chart: HTMLElement,
    private readonly readout: HTMLElement,
    private readonly items: Pickable,
  ) {
    chart.addEventListener('pointermove', (event) => this.say(itemAt(event.target) ?? this.picked));
    chart.addEventListener('pointerleave', () => this.say(this.picked));
    chart.addEventListener('click', (event) => {
      const item = itemAt(event.target);
      if (item !== null) this.pick(item);
    });
    chart.addEventListener('focus', () => {
      if (this.picked === null) this.pick(items.start());
    });
    chart.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      const next = items.next(this.picked ?? items.start(), event.key);
      if (next === null) return;
      event.preventDefault();
      this.pick(next);
    });
    this.say(null);
  }

  get item(): number | null {
    return this.picked;
  }

  pick(item: number): void {
    this.picked = item;
    this.items.picked(item);
    this.redrawn();
  }

  /** Marks what was picked elsewhere. */
  mark(item: number | null): void {
    this.picked = item;
    this.redrawn();
  }

  /** The elements are new: marks the picked one again. */
  redrawn(): void {
    for (const each of this.chart.querySelectorAll('[aria-selected="true"]'))
      each.setAttribute('aria-selected', 'false');
    const element = this.picked === null ? null : document.getElementById(`${this.items.prefix}-${this.picked}`);
    element?.setAttribute('aria-selected', 'true');
    if (element) this.chart.setAttribute('aria-activedescendant', element.id);
    else this.chart.removeAttribute('aria-activedescendant');
    this.say(this.picked);
  }

  private say(item: number | null): void {
    this.readout.textContent = this.items.text(item ?? this.items.start());
  }
}

function itemAt(target: EventTarget | null): number | null {
  const element = target instanceof Element ? target.closest('[data-item]') : null;
  const item = element?.getAttribute('data-item');
  return item === null || item === undefined ? null : Number(item);
}
