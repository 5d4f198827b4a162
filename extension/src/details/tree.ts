// The regions of a run as a tree whose series open: a row for all of its names, or a row for each.
import type { RunRegion, RunResult } from '../server/protocol/results';

export class RegionTree {
  private readonly shown = new Map<number, boolean>();
  private readonly names = new Map<number, RunRegion[]>();
  private readonly within = new Set<number>();

  /** `open` are the regions that are open: series, and names that have something nested in them. */
  constructor(
    private readonly run: RunResult,
    private readonly open: ReadonlySet<number>,
  ) {
    for (const region of run.regions) {
      if (region.series !== null) this.names.set(region.series, [...(this.names.get(region.series) ?? []), region]);
      if (region.inside !== null) this.within.add(region.inside);
    }
  }

  namesOf(region: RunRegion): readonly RunRegion[] {
    return this.names.get(region.index) ?? [];
  }

  /** Null of what cannot be opened. */
  isOpen(region: RunRegion): boolean | null {
    return this.names.has(region.index) || this.within.has(region.index) ? this.open.has(region.index) : null;
  }

  /** Whether it has a row: a series has none where its names stand inside those of another that is open. */
  isShown(region: RunRegion): boolean {
    const known = this.shown.get(region.index);
    if (known !== undefined) return known;
    this.shown.set(region.index, false); // of a damaged answer that goes in circles
    const isShown = this.finds(region);
    this.shown.set(region.index, isShown);
    return isShown;
  }

  /** The region that it stands below; null at the top. */
  around(region: RunRegion): RunRegion | null {
    const inside = this.at(region.inside);
    if (inside && this.isShown(inside)) return inside;
    const series = this.at(region.series);
    if (series && this.isShown(series)) return series;
    const seen = new Set<RunRegion>();
    for (let at = this.at(region.parent); at && !seen.has(at); at = this.at(at.parent)) {
      if (this.isShown(at)) return at;
      seen.add(at);
    }
    return null;
  }

  /** What is nested in it without another region between them, each series in place of its names. */
  nestedIn(region: RunRegion): RunRegion[] {
    return this.run.regions.filter((each) =>
      region.series === null ? each.series === null && each.parent === region.index : each.inside === region.index,
    );
  }

  private finds(region: RunRegion): boolean {
    const inside = this.at(region.inside);
    if (inside && this.isSplit(inside)) return this.isShown(inside) && this.open.has(inside.index);
    const series = this.at(region.series);
    if (series) return this.open.has(series.index) && this.isShown(series);
    return !this.namesOf(region).some((each) => {
      const around = this.at(each.inside);
      return around !== null && this.isSplit(around);
    });
  }

  /** Whether a name stands for itself, shown or in what is closed, and no longer its series for it. */
  private isSplit(name: RunRegion): boolean {
    const series = this.at(name.series);
    return series !== null && (this.open.has(series.index) || !this.isShown(series));
  }

  private at(index: number | null): RunRegion | null {
    return index === null ? null : (this.run.regions[index] ?? null);
  }
}
