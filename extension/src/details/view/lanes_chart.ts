// Chart of one call to scale in the panel: pointing, walking from slice to slice, zooming.
import type { Timeline } from '../../server/protocol/measures';
import { lanesLayout, linkedTo, neighbour, sliceOf, type LanesLayout } from '../charts/lanes';
import { itemText, lanesSvg } from '../charts/lanes_drawing';
import { moved, showing, zoomed, type Span } from '../charts/spans';
import { Picker, chartWidth } from './picking';

const STEP = 0.5;
const LEAST_DRAG = 4;

/** Ids of the items begin with `prefix`; charts on one scale have the same `whole` and tell each other their span. */
export interface LanesFrame {
  prefix: string;
  whole: Span;
  /** What is shown first; null: the whole. */
  span: Span | null;
  onSpan: (span: Span | null) => void;
}

export class LanesChart {
  private readonly picker: Picker;
  private layout: LanesLayout;
  private span: Span;
  private drag: { from: number; selection: HTMLElement } | null = null;

  constructor(
    private readonly chart: HTMLElement,
    readout: HTMLElement,
    private readonly timeline: Timeline,
    private readonly frame: LanesFrame,
  ) {
    this.span = frame.span ?? frame.whole;
    this.layout = this.drawn();
    this.picker = new Picker(chart, readout, {
      prefix: frame.prefix,
      start: () => 0,
      text: (item) => itemText(timeline, item),
      next: (item, key) => this.next(item, key),
      picked: (item) => this.bringIntoSight(item),
    });
    chart.addEventListener('keydown', (event) => this.zoomByKey(event));
    chart.addEventListener('wheel', (event) => this.zoomByWheel(event));
    chart.addEventListener('dblclick', (event) => this.zoomToItem(event));
    chart.addEventListener('pointerdown', (event) => this.startDrag(event));
    chart.addEventListener('pointermove', (event) => this.continueDrag(event));
    chart.addEventListener('pointerup', (event) => this.endDrag(event));
  }

  redraw(): void {
    this.layout = this.drawn();
    this.picker.redrawn();
    this.markLinks();
  }

  zoom(factor: number): void {
    const slice = this.picker.item === null ? undefined : sliceOf(this.timeline, this.picker.item);
    const middle = (this.span.from + this.span.to) / 2;
    const isSeen = slice && slice.start_ns >= this.span.from && slice.start_ns <= this.span.to;
    this.set(zoomed(this.span, this.whole, factor, isSeen ? slice.start_ns : middle));
  }

  zoomIn(): void {
    this.zoom(STEP);
  }

  zoomOut(): void {
    this.zoom(1 / STEP);
  }

  showWhole(): void {
    this.set(this.whole);
  }

  private get whole(): Span {
    return this.frame.whole;
  }

  private drawn(): LanesLayout {
    const layout = lanesLayout(this.timeline, chartWidth(this.chart), this.span);
    this.chart.innerHTML = lanesSvg(layout, this.timeline, this.frame.prefix).text;
    return layout;
  }

  private set(span: Span): void {
    const whole = this.whole;
    const next = span.from <= whole.from && span.to >= whole.to ? null : span;
    this.show(next);
    this.frame.onSpan(next);
  }

  /** As another chart of the same scale shows it. */
  show(span: Span | null): void {
    this.span = span ?? this.whole;
    this.redraw();
  }

  private next(item: number, key: string): number | null {
    if (key === 'Home') return this.layout.rows[0]?.[0] ?? null;
    if (key === 'Enter') return linkedTo(this.timeline, item);
    return key.startsWith('Arrow') ? neighbour(this.layout, this.timeline, item, key) : null;
  }

  private bringIntoSight(item: number): void {
    const slice = sliceOf(this.timeline, item);
    if (!slice) return;
    const span = showing(this.span, this.whole, slice.start_ns, slice.start_ns + slice.duration_ns);
    if (span !== this.span) this.set(span);
    else this.markLinks(item);
  }

  private markLinks(item = this.picker.item): void {
    for (const link of this.chart.querySelectorAll<SVGElement>('.link')) {
      const { launch, activity } = link.dataset;
      link.classList.toggle('picked', item !== null && [launch, activity].includes(String(item)));
    }
  }

  private zoomByKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = (this.span.to - this.span.from) / 4;
    if (event.key === '+' || event.key === '=') this.zoomIn();
    else if (event.key === '-') this.zoomOut();
    else if (event.key === '0') this.showWhole();
    else if (event.shiftKey && event.key === 'ArrowLeft') this.set(moved(this.span, this.whole, -step));
    else if (event.shiftKey && event.key === 'ArrowRight') this.set(moved(this.span, this.whole, step));
    else return;
    event.preventDefault();
  }

  /** With Ctrl as in other editors' charts; without it the page scrolls. */
  private zoomByWheel(event: WheelEvent): void {
    if (event.ctrlKey || event.metaKey) {
      this.set(zoomed(this.span, this.whole, 2 ** (event.deltaY / 200), this.timeAt(event)));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const pixels = event.deltaX === 0 ? event.deltaY : event.deltaX;
      this.set(moved(this.span, this.whole, (pixels / this.layout.width) * (this.span.to - this.span.from)));
    } else {
      return;
    }
    event.preventDefault();
  }

  private zoomToItem(event: MouseEvent): void {
    const item = this.picker.item;
    const isOnItem = event.target instanceof Element && event.target.closest('[data-item]') !== null;
    const slice = item === null || !isOnItem ? undefined : sliceOf(this.timeline, item);
    if (!slice) {
      this.showWhole();
      return;
    }
    const margin = slice.duration_ns * 0.1 + 25;
    const span = { from: slice.start_ns - margin, to: slice.start_ns + slice.duration_ns + margin };
    this.set(moved(span, this.whole, 0));
  }

  private timeAt(event: MouseEvent): number {
    const share = (event.clientX - this.chart.getBoundingClientRect().left) / this.layout.width;
    return this.span.from + share * (this.span.to - this.span.from);
  }

  private startDrag(event: PointerEvent): void {
    if (event.button !== 0) return;
    const selection = document.createElement('div');
    selection.className = 'selection';
    this.drag = { from: event.clientX, selection };
  }

  private continueDrag(event: PointerEvent): void {
    if (!this.drag || Math.abs(event.clientX - this.drag.from) < LEAST_DRAG) return;
    const { from, selection } = this.drag;
    const left = this.chart.getBoundingClientRect().left;
    selection.style.left = `${Math.min(from, event.clientX) - left}px`;
    selection.style.width = `${Math.abs(event.clientX - from)}px`;
    if (!selection.isConnected) {
      this.chart.append(selection);
      this.chart.setPointerCapture(event.pointerId);
    }
  }

  private endDrag(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = null;
    if (!drag?.selection.isConnected) return;
    const left = this.chart.getBoundingClientRect().left;
    const time = (x: number): number =>
      this.span.from + ((x - left) / this.layout.width) * (this.span.to - this.span.from);
    const [from, to] = [drag.from, event.clientX].map(time).sort((a, b) => a - b);
    if (from === undefined || to === undefined) return;
    this.set(zoomed({ from, to }, this.whole, 1, (from + to) / 2));
  }
}
