// What a run without regions of the user's holds: the phases of its steps, its costliest kernels and operators.
import type { Contents, RunResult } from '../server/protocol/results';
import { html, nothing, type Markup } from './markup';
import { card } from './region/cards';
import { namesShown, plainTable, SHOWN, type Heading } from './plain_table';
import { countText, kernelName, operatorName, printable, timeText } from './text';

const KNOWN_BY: Readonly<Record<NonNullable<Contents['steps']>['known_by'], string>> = {
  ProfilerStep: 'a step is a ProfilerStep#N',
  'optimizer step': 'a step ends with the optimizer’s',
  'data loading': 'a step is a batch',
};

/** With `isSaved`, nothing can be run from it. */
export function contentsMarkup({ contents, script, device_total_ns }: RunResult, isSaved = false): Markup {
  if (contents === null) return nothing;
  const hasCuda = device_total_ns !== null;
  const button =
    isSaved || script === null
      ? nothing
      : html`<vscode-button data-modules title="Run it again, with a region for each module of the model">
          Profile modules
        </vscode-button>`;
  return html`<header class="region-head">
      <h2>What torch marks and runs</h2>
      ${button}
    </header>
    <p class="quiet">To measure a part of the program, select its statements and choose “Measure This Block”.</p>
    <div class="cards">
      ${phasesMarkup(contents, hasCuda)} ${contents.kernels.length === 0 ? nothing : kernelsMarkup(contents)}
      ${contents.operators.length === 0 ? nothing : operatorsMarkup(contents, hasCuda)}
    </div>`;
}

function phasesMarkup({ phases, steps }: Contents, hasCuda: boolean): Markup {
  if (phases.length === 0) {
    return html`<p class="quiet">No phases of a step: it has no backward pass, optimizer step or DataLoader.</p>`;
  }
  const cuda = (title: string): Heading[] => (hasCuda ? [[title, 'number']] : []);
  const perStep: Heading[] = steps === null ? [] : [['CPU per step', 'number main'], ...cuda('CUDA per step')];
  const headings: Heading[] = [
    ['Phase', 'row'],
    ...perStep,
    ['CPU', 'number'],
    ...cuda('CUDA'),
    ...cuda('Launches'),
    ['Times', 'number'],
  ];
  const time = (ns: number | undefined | null): string => (ns == null ? '' : timeText(ns));
  const rows = phases.map((phase) => [
    phase.name,
    ...(steps === null ? [] : [time(phase.cpu_per_step_ns?.median)]),
    ...(steps === null || !hasCuda ? [] : [time(phase.cuda_per_step_ns?.median)]),
    time(phase.cpu_ns),
    ...(hasCuda ? [time(phase.cuda_ns), phase.launches ?? ''] : []),
    phase.calls ?? '',
  ]);
  const title =
    steps === null ? 'Phases' : `Phases of ${countText(steps.count, 'step')} of ${timeText(steps.took_ns.median)}`;
  const caption =
    steps === null
      ? nothing
      : html`<p class="quiet">Medians per step (${KNOWN_BY[steps.known_by]}); sums over the whole recording.</p>`;
  return card(title, html`${plainTable(headings, rows, 'numbers')}${caption}`, 'many');
}

function kernelsMarkup({ kernels, kernel_names: names }: Contents): Markup {
  const headings: Heading[] = [
    [namesShown('Kernel or copy', kernels.length, names), 'name'],
    ['Count', 'number'],
    ['CUDA', 'number'],
  ];
  const rows = kernels
    .slice(0, SHOWN)
    .map((each) => [
      html`<span class="clamped" title="${printable(each.name)}">${kernelName(each)}</span>`,
      each.count,
      timeText(each.total_ns),
    ]);
  return card('Kernels', plainTable(headings, rows));
}

function operatorsMarkup({ operators, operator_names: names }: Contents, hasCuda: boolean): Markup {
  const headings: Heading[] = [
    [namesShown('Operator', operators.length, names), 'name'],
    ['Count', 'number'],
    ...(hasCuda ? [['CUDA', 'number'] as const] : []),
    ['CPU', 'number'],
  ];
  const rows = operators
    .slice(0, SHOWN)
    .map((each) => [
      html`<span title="${printable(each.name)}">${operatorName(each.name)}</span>`,
      each.count,
      ...(hasCuda ? [each.cuda_total_ns === null ? '' : timeText(each.cuda_total_ns)] : []),
      timeText(each.cpu_total_ns),
    ]);
  return card('Operators', plainTable(headings, rows));
}
