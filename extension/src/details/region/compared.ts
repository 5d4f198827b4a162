// Which region of a run is which of a comparison, and of the run that was before it.
import type { Comparison, RegionComparison, RegionName } from '../../server/protocol/comparison';
import type { RunRegion, RunResult } from '../../server/protocol/results';

/** What is compared of a region; undefined where it is in no comparison, since it has no times. */
export type Compared = (region: RunRegion) => RegionComparison | undefined;

export function comparedIn({ regions }: Comparison): Compared {
  const byName = new Map(regions.filter((each) => each.in !== 'a').map((each) => [key(each), each]));
  return ({ measures }) => byName.get(key(measures));
}

/** The same region in the run before. */
export function regionBefore(before: RunResult, compared: RegionComparison): RunRegion | undefined {
  const name = key(compared.was ?? compared);
  return compared.in === 'both' ? before.regions.find(({ measures }) => key(measures) === name) : undefined;
}

function key({ name, file, line }: RegionName): string {
  return JSON.stringify([name, file, line]);
}
