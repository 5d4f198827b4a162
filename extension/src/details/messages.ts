// What the panel and its web view tell each other. Regions go over without their calls and timeline, which can be
// megabytes; those of the chosen one are asked for.
import type { Measures, CallTimes, RunRegion, RunResult, Timeline, Unmeasured } from '../server/protocol';
import type { Order } from './table/rows';

export interface ListedRegion extends Omit<RunRegion, 'measures'> {
  measures: Measures | Unmeasured;
}

export interface ListedRun extends Omit<RunResult, 'regions'> {
  regions: ListedRegion[];
}

/** What is long of a region; null where a result stored by an older version lacks it. */
export interface RegionTimes {
  calls: CallTimes[] | null;
  timeline: Timeline | null;
}

/** A span of a timeline, in its nanoseconds. */
export interface Span {
  from: number;
  to: number;
}

/** How the web view shows a run. */
export interface View {
  filter: string;
  order: Order;
  chosen: number | null;
  span: Span | null;
}

/** What the web view keeps over reloads of the window: the file whose newest run is shown, null for the newest of all. */
export interface KeptState {
  uri: string | null;
  run: string | null;
  view: View;
}

export type ToView =
  | { kind: 'run'; uri: string | null; run: ListedRun; choose: number | null }
  | { kind: 'times'; run: string; region: number; times: RegionTimes }
  | { kind: 'nothing'; message: string };

export type ToPanel =
  | { kind: 'ready' }
  | { kind: 'times'; run: string; region: number }
  | { kind: 'reveal'; region: number; focus: boolean }
  | { kind: 'trace'; region: number | null; finding?: string }
  | { kind: 'explain'; code: string }
  | { kind: 'copy'; text: string; what: string }
  | { kind: 'save'; view: View };
