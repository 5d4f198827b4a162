// The modules of a run as a tree with widths: what the icicle chart draws. Times are sums, so that they add up.
import { hasTimes, type Spread } from '../../server/protocol/measures';
import type { RunRegion, RunResult } from '../../server/protocol/results';
import { RegionTree } from '../tree';

/** What the widths are: GPU time of the forward pass, its wall-clock time, GPU time of the backward pass. */
export type Extent = 'cuda' | 'cpu' | 'backward';

export interface ModuleNode {
  region: RunRegion;
  /** In the measured calls of the outermost module that took the most. */
  ns: number;
  /** The part of it in no nested module. */
  rest: number;
  isOpen: boolean | null;
  children: ModuleNode[];
}

/** `base` is the outermost module whose measured calls the times are of. */
export interface ModuleTree {
  base: RunRegion | null;
  roots: ModuleNode[];
  /** Modules that have a row and no width: without times, or 0. */
  without: number;
}

const isModule = ({ measures }: RunRegion): boolean => measures.module != null;

const FIELD = { cuda: 'cuda_total_ns', cpu: 'cpu_total_ns', backward: 'backward_cuda_ns' } as const;

function spreadOf({ measures }: RunRegion, extent: Extent): Spread | null {
  return hasTimes(measures) ? measures[FIELD[extent]] : null;
}

/** The extents that something was measured of. */
export function extentsOf(run: RunResult): Extent[] {
  const modules = run.regions.filter(isModule);
  const extents: readonly Extent[] = ['cuda', 'cpu', 'backward'];
  return extents.filter((extent) => modules.some((each) => (spreadOf(each, extent)?.sum ?? 0) > 0));
}

export function moduleTree(run: RunResult, extent: Extent, open: readonly number[]): ModuleTree {
  const tree = new RegionTree(run, new Set(open));
  const modules = run.regions.filter((each) => isModule(each) && tree.isShown(each));
  const around = (region: RunRegion): RunRegion | null => {
    let at = tree.around(region);
    while (at && !isModule(at)) at = tree.around(at);
    return at;
  };
  const outermost = modules.filter((each) => around(each) === null);
  const sum = (region: RunRegion): number => spreadOf(region, extent)?.sum ?? 0;
  const base = outermost.reduce<RunRegion | null>((most, each) => (most && sum(most) >= sum(each) ? most : each), null);
  const timeOf = (region: RunRegion): number => (base ? scaled(region, base, sum(region)) : 0);
  const nested = (region: RunRegion): RunRegion[] =>
    tree.nestedIn(region).flatMap((each) => (isModule(each) ? [each] : nested(each)));

  const nodes = new Map<number, ModuleNode>();
  let without = 0;
  for (const region of modules) {
    const ns = timeOf(region);
    if (ns === 0) without += 1;
    else {
      const covered = nested(region).reduce((total, each) => total + timeOf(each), 0);
      nodes.set(region.index, {
        region,
        ns,
        rest: Math.max(0, ns - covered),
        isOpen: tree.isOpen(region),
        children: [],
      });
    }
  }
  const roots: ModuleNode[] = [];
  for (const node of nodes.values()) {
    let above = around(node.region);
    while (above && !nodes.has(above.index)) above = around(above);
    const parent = above ? nodes.get(above.index) : undefined;
    (parent?.children ?? roots).push(node);
  }
  return { base, roots, without };
}

/** A module that is entered twice in a call of the outermost one has other warm-up calls: of 16 calls 13 were measured,
 * where 5 of 8 were of the outermost. Its time is then what as many calls took as belong to these 5. */
function scaled({ measures }: RunRegion, { measures: base }: RunRegion, sum: number): number {
  const [seen, of] = [measures.calls * base.measured, measures.measured * base.calls];
  return seen === of || of === 0 ? sum : Math.round((sum * seen) / of);
}
