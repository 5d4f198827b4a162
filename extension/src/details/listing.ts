// A whole run, cut into what the panel's web view gets at once and what it asks for.
import type { RegionPlace, RunRegion, RunResult } from '../server/protocol';
import type { ListedRegion, ListedRun, RegionTimes } from './messages';

export function listed(run: RunResult): ListedRun {
  return { ...run, regions: run.regions.map((region) => ({ ...region, measures: withoutTimes(region.measures) })) };
}

function withoutTimes(measures: RunRegion['measures']): ListedRegion['measures'] {
  const short = { ...measures, call_times: null, timeline: null };
  return short;
}

export function timesOf(run: RunResult, region: number): RegionTimes | null {
  const found = run.regions.find((each) => each.index === region);
  return found ? { calls: found.measures.call_times, timeline: found.measures.timeline } : null;
}

/** The region of a name nearest to a line, else the nearest of the file. */
export function regionAt(run: RunResult, place: RegionPlace): number | null {
  const inFile = run.regions.filter((region) => region.uri === place.uri);
  const named = inFile.filter((region) => region.measures.name === place.name);
  const distance = (row: number | null): number => Math.abs((row ?? Infinity) - place.line);
  const nearest = (named.length > 0 ? named : inFile).sort((a, b) => distance(a.row) - distance(b.row))[0];
  return nearest?.index ?? null;
}
