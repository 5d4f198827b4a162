// Parts of a run: what the panel's web view gets at once and what it asks for, since calls and timelines can be megabytes.
import type { RegionTimes } from '../server/protocol/measures';
import type { RegionPlace, RunResult } from '../server/protocol/results';

/** The run without the times of single calls. */
export function listed(run: RunResult): RunResult {
  const none: RegionTimes = { call_times: null, timeline: null };
  return { ...run, regions: run.regions.map((region) => ({ ...region, measures: { ...region.measures, ...none } })) };
}

export function timesOf(run: RunResult, region: number): RegionTimes | null {
  const measures = run.regions.find((each) => each.index === region)?.measures;
  return measures ? { call_times: measures.call_times, timeline: measures.timeline } : null;
}

/** The region of a name nearest to a line, else the nearest of the file. */
export function regionAt(run: RunResult, place: RegionPlace): number | null {
  const inFile = run.regions.filter((region) => region.uri === place.uri && region.series === null);
  const named = inFile.filter((region) => region.measures.name === place.name);
  const distance = (row: number | null): number => Math.abs((row ?? Infinity) - place.line);
  const nearest = (named.length > 0 ? named : inFile).sort((a, b) => distance(a.row) - distance(b.row))[0];
  return nearest?.index ?? null;
}
