// Texts of the status bar. Knows no VS Code.
import { whenText } from '../runs/list_texts';
import type { WarmParams } from '../server/protocol/profiling';
import type { Baseline, Device, ShownRegion } from '../server/protocol/results';

type MeasuredOn = Pick<ShownRegion, 'device' | 'torch' | 'started'> & {
  measures: Pick<ShownRegion['measures'], 'cuda_total_ns'>;
};

/** `NVIDIA H200`, `8 × NVIDIA H200` or `CPU only`, with ` ~` where the code has changed since. */
export function statusText({ device, measures }: MeasuredOn, isStale: boolean): string {
  // Not every trace names the GPU whose work it holds, and not every run on a GPU launches something.
  const name = measures.cuda_total_ns === null ? 'CPU only' : device ? deviceText(device) : 'GPU';
  return name + (isStale ? ' ~' : '');
}

/** `baseline 14:32`, where one is pinned. */
export function baselineText(baseline: Baseline | null, now: Date): string[] {
  return baseline?.is_pinned ? [`baseline ${whenText(new Date(baseline.started), now)}`] : [];
}

function deviceText({ name, count }: Device): string {
  return count > 1 ? `${count} × ${name}` : name;
}

/** `Interpreter for the next run: ready, 304 MB`. */
export function warmText({ state, gpu, memory_bytes }: WarmParams): string {
  const memory = memory_bytes === null ? [] : [`${Math.round(memory_bytes / 1e6).toString()} MB`];
  return `Interpreter for the next run: ${[state, ...memory, ...(gpu ? ['with CUDA, which holds GPU memory'] : [])].join(', ')}`;
}

export function runTooltip(run: MeasuredOn, isStale: boolean, now: Date): string {
  const facts = [
    run.started ? `Profiled ${ago(new Date(run.started), now)}` : 'A trace from elsewhere',
    `on ${statusText(run, false)}`,
    ...(run.torch ? [`with torch ${run.torch}`] : []),
  ];
  const stale = isStale ? '\nThe code has changed since: profile again.' : '';
  return `Kinetoscope: ${facts.join(' ')}.${stale}\nClick for the details.`;
}

/** `just now`, `5 minutes ago`, `yesterday` and so on. */
export function ago(then: Date, now: Date): string {
  const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  const minutes = Math.round((then.getTime() - now.getTime()) / 60_000);
  if (minutes === 0) return 'just now';
  if (Math.abs(minutes) < 60) return format.format(minutes, 'minute');
  if (Math.abs(minutes) < 24 * 60) return format.format(Math.round(minutes / 60), 'hour');
  return format.format(Math.round(minutes / (24 * 60)), 'day');
}
