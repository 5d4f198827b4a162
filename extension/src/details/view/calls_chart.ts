// Chart of a region's calls in the panel.
import type { Measures, CallTimes } from '../../server/protocol/measures';
import { callsLayout, callText } from '../charts/calls';
import { callsSvg } from '../charts/calls_drawing';
import { Picker, chartWidth } from './picking';

export class CallsChart {
  private readonly picker: Picker;
  private median: number | null = null;

  constructor(
    private readonly chart: HTMLElement,
    readout: HTMLElement,
    private readonly calls: readonly CallTimes[],
    private readonly measures: Measures,
  ) {
    this.draw();
    this.picker = new Picker(chart, readout, {
      prefix: 'call',
      start: () => this.median ?? 0,
      text: (item) => callText(calls, measures, item, item === this.median),
      next: (item, key) => this.next(item, key),
      picked: () => undefined,
    });
  }

  draw(): void {
    const layout = callsLayout(this.calls, this.measures, chartWidth(this.chart));
    this.median = layout.median;
    this.chart.innerHTML = callsSvg(layout, this.calls, this.measures).text;
  }

  redraw(): void {
    this.draw();
    this.picker.redrawn();
  }

  private next(item: number, key: string): number | null {
    const last = this.calls.length - 1;
    const places: Record<string, number> = {
      ArrowLeft: Math.max(0, item - 1),
      ArrowRight: Math.min(last, item + 1),
      Home: 0,
      End: last,
    };
    return places[key] ?? null;
  }
}
