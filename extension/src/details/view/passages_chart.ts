// The chart of a region's passages in the panel.
import type { Measures, OccurrenceTimes } from '../../protocol';
import { passagesLayout, passageText } from '../passages';
import { passagesSvg } from '../passages_drawing';
import { Picker, widthOf } from './picking';

export class PassagesChart {
  private readonly picker: Picker;
  private median: number | null = null;

  constructor(
    private readonly chart: HTMLElement,
    readout: HTMLElement,
    private readonly passages: readonly OccurrenceTimes[],
    private readonly measures: Measures,
  ) {
    this.draw();
    this.picker = new Picker(chart, readout, {
      prefix: 'passage',
      start: () => this.median ?? 0,
      text: (item) => passageText(passages, measures, item, item === this.median),
      next: (item, key) => this.next(item, key),
      picked: () => undefined,
    });
  }

  draw(): void {
    const layout = passagesLayout(this.passages, this.measures, widthOf(this.chart));
    this.median = layout.median;
    this.chart.innerHTML = passagesSvg(layout, this.passages, this.measures).text;
  }

  redraw(): void {
    this.draw();
    this.picker.redrawn();
  }

  private next(item: number, key: string): number | null {
    const last = this.passages.length - 1;
    const places: Record<string, number> = {
      ArrowLeft: Math.max(0, item - 1),
      ArrowRight: Math.min(last, item + 1),
      Home: 0,
      End: last,
    };
    return places[key] ?? null;
  }
}
