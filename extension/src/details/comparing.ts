// What the run of the panel is compared with: asked for once, until runs are stored, pinned or deleted.
import type { Comparison, ComparisonParams } from '../server/protocol/comparison';
import type { RunParams, RunRegion, RunResult } from '../server/protocol/results';
import { comparedIn, regionBefore } from './region/compared';

/** Undefined while no server runs. */
export interface ComparingActions {
  /** The run that the server has. */
  fetch: (params: RunParams) => Promise<RunResult | null> | undefined;
  /** What changed to a run; null if it has no baseline. */
  compare: (params: ComparisonParams) => Promise<Comparison | null> | undefined;
}

export class Comparing {
  private asked: ComparisonParams | null = null;
  private before: RunResult | null = null;
  comparison: Comparison | null = null;

  constructor(private readonly actions: ComparingActions) {}

  /** Whether there is another answer than before. */
  async ask(params: ComparisonParams): Promise<boolean> {
    if (this.asked?.run === params.run && this.asked.other === params.other) return false;
    this.forget();
    this.asked = params;
    this.comparison = (await this.actions.compare(params)) ?? null;
    return true;
  }

  forget(): void {
    this.asked = this.comparison = this.before = null;
  }

  /** The newest run of what was before; null where it is no longer stored. */
  async runBefore(): Promise<RunResult | null> {
    const run = this.comparison?.a.runs[0];
    if (run !== undefined && this.before?.id !== run) {
      this.before = (await this.actions.fetch({ uri: null, run })) ?? null;
    }
    return this.before;
  }

  async regionBefore(region: RunRegion): Promise<RunRegion | null> {
    const compared = this.comparison && comparedIn(this.comparison)(region);
    const before = await this.runBefore();
    return (before && compared && regionBefore(before, compared)) ?? null;
  }
}
