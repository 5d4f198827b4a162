// Parts of a run: what the panel's web view gets at once and what it asks for, since calls and timelines can be megabytes.
import type { RegionTimes } from '../server/protocol/measures';
import type { RegionPlace, RunRegion, RunResult } from '../server/protocol/results';

/** The run without the times of single calls. */
export function listed(run: RunResult): RunResult {
  const none: RegionTimes = { call_times: null, timeline: null };
  return { ...run, regions: run.regions.map((region) => ({ ...region, measures: { ...region.measures, ...none } })) };
}

export function timesOf(run: RunResult, region: number): RegionTimes | null {
  const measures = run.regions.find((each) => each.index === region)?.measures;
  return measures ? { call_times: measures.call_times, timeline: measures.timeline } : null;
}

/** The region of a name nearest to a line, else the nearest of the file; a module stands at its `forward`, too. */
export function regionAt(run: RunResult, place: RegionPlace): number | null {
  const file = decodeURIComponent(place.uri);
  const distance = ({ uri, row, measures: { module } }: RunRegion): number => {
    const rows = uri === place.uri ? [row ?? Infinity] : [];
    if (module?.file && module.line !== null && file.endsWith(module.file)) rows.push(module.line - 1);
    return Math.min(...rows.map((each) => Math.abs(each - place.line)));
  };
  const rows = run.regions.filter((region) => region.series === null);
  const inFile = rows
    .map((region) => ({ region, far: distance(region) }))
    .filter(({ region, far }) => region.uri === place.uri || far < Infinity);
  const named = inFile.filter(({ region }) => region.measures.name === place.name);
  const nearest = (named.length > 0 ? named : inFile).sort((a, b) => a.far - b.far)[0];
  return nearest?.region.index ?? null;
}
