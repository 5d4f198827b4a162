// Messages between the panel and its web view. A run goes over as `listed`; the times of the chosen region are asked for.
import type { Comparison } from '../server/protocol/comparison';
import type { RegionTimes } from '../server/protocol/measures';
import type { RunRegion, RunResult } from '../server/protocol/results';
import type { SweepAnswer } from '../server/protocol/sweep';
import type { Extent } from './charts/modules';
import type { Span } from './charts/spans';
import type { Order } from './table/rows';

/** How the web view shows a run. */
export interface View {
  filter: string;
  order: Order;
  /** Also those that there is no room for beside each other. */
  hasAllColumns: boolean;
  chosen: number | null;
  /** What the widths of the modules are. */
  extent: Extent;
  /** The series, and names of series, that are open. */
  open: readonly number[];
  span: Span | null;
  /** Whether what was before is shown beside it. */
  isCompared: boolean;
}

/** What the web view keeps over reloads of the window: the sweep that is shown, else the file whose newest run is, null for the newest of all. */
export interface KeptState {
  sweep?: string | null;
  uri: string | null;
  run: string | null;
  view: View;
}

export type ToView =
  | { kind: 'run'; uri: string | null; run: RunResult; choose: number | null }
  | { kind: 'times'; run: string; region: number; times: RegionTimes }
  | { kind: 'comparison'; run: string; comparison: Comparison | null; isAskedFor: boolean }
  | { kind: 'before'; run: string; region: number; before: RunRegion | null }
  | { kind: 'sweep'; sweep: SweepAnswer }
  | { kind: 'nothing'; message: string };

export type ToPanel =
  | { kind: 'ready' }
  | { kind: 'times'; run: string; region: number }
  | { kind: 'before'; run: string; region: number }
  | { kind: 'reveal'; region: number; focus: boolean }
  | { kind: 'setting'; sweep: string; setting: number; region: number }
  | { kind: 'trace'; region: number | null; finding?: string }
  | { kind: 'explain'; code: string }
  | { kind: 'modules' }
  | { kind: 'copy'; text: string; what: string }
  | { kind: 'save'; view: View };
