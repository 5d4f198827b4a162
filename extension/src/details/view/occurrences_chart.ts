// The chart of a region's occurrences in the panel.
import type { Measures, OccurrenceTimes } from '../../server/protocol';
import { occurrencesLayout, occurrenceText } from '../charts/occurrences';
import { occurrencesSvg } from '../charts/occurrences_drawing';
import { Picker, widthOf } from './picking';

export class OccurrencesChart {
  private readonly picker: Picker;
  private median: number | null = null;

  constructor(
    private readonly chart: HTMLElement,
    readout: HTMLElement,
    private readonly occurrences: readonly OccurrenceTimes[],
    private readonly measures: Measures,
  ) {
    this.draw();
    this.picker = new Picker(chart, readout, {
      prefix: 'occurrence',
      start: () => this.median ?? 0,
      text: (item) => occurrenceText(occurrences, measures, item, item === this.median),
      next: (item, key) => this.next(item, key),
      picked: () => undefined,
    });
  }

  draw(): void {
    const layout = occurrencesLayout(this.occurrences, this.measures, widthOf(this.chart));
    this.median = layout.median;
    this.chart.innerHTML = occurrencesSvg(layout, this.occurrences, this.measures).text;
  }

  redraw(): void {
    this.draw();
    this.picker.redrawn();
  }

  private next(item: number, key: string): number | null {
    const last = this.occurrences.length - 1;
    const places: Record<string, number> = {
      ArrowLeft: Math.max(0, item - 1),
      ArrowRight: Math.min(last, item + 1),
      Home: 0,
      End: last,
    };
    return places[key] ?? null;
  }
}
