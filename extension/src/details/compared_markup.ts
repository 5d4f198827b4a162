// What is compared with what, and what the table has no row for.
import type { ComparedSide, Comparison, RegionComparison } from '../server/protocol/comparison';
import { html, nothing, type Markup } from './markup';
import { SHOWN } from './plain_table';
import { countText, fileName, printable, startedText, timeText } from './text';

/** Label of the switch; what ran is named where it is not the same. */
export function comparedWith({ a, b }: Comparison): string {
  return `Compared with ${whichText(a, b)}`;
}

function whichText(side: ComparedSide, other: ComparedSide): string {
  const when = side.started === null ? (side.runs[0] ?? '') : startedText(side.started);
  return printable(side.title === other.title ? `the run of ${when}` : `${side.title}, ${when}`);
}

/** Of how many runs the times are, what else is different, and which regions are no longer there. */
export function comparedNotes({ a, b, differences, code_changed: changed, regions }: Comparison): Markup {
  const gone = regions.filter((each) => each.in === 'a');
  const said = [
    `Before: ${countText(a.processes, 'run')}, now: ${countText(b.processes, 'run')}.`,
    ...differences.map((each) => `Also different: ${printable(each)}.`),
    ...(changed.length > 0 ? [`Changed since: ${changed.map((file) => printable(fileName(file))).join(', ')}.`] : []),
  ];
  return html`<p class="quiet">${said.join(' ')}</p>
    ${gone.length === 0 ? nothing : html`<p>Only before: ${goneText(gone)}.</p>`}`;
}

function goneText(gone: readonly RegionComparison[]): string {
  const named = gone.slice(0, SHOWN).map(({ name, cuda_total_ns: cuda, cpu_total_ns: cpu }) => {
    const times = [
      ...(cuda?.a == null ? [] : [`CUDA ${timeText(cuda.a)}`]),
      ...(cpu.a === null ? [] : [`CPU ${timeText(cpu.a)}`]),
    ];
    return `${printable(name)} (${times.join(', ')})`;
  });
  const more = gone.length > SHOWN ? [`${gone.length - SHOWN} more`] : [];
  return [...named, ...more].join(', ');
}
