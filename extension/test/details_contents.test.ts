import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentsMarkup } from '../src/details/contents_markup';
import { savedPage } from '../src/details/page';
import type { Contents, Phase, RunResult } from '../src/server/protocol/results';
import { run, spread, usualView } from './details_sample';

const phase = (name: string, calls: number | null, more: Partial<Phase> = {}): Phase => ({
  name,
  calls,
  cpu_ns: 4_000,
  cuda_ns: 3_000,
  launches: 7,
  cpu_per_step_ns: spread(1_230),
  cuda_per_step_ns: spread(456),
  ...more,
});

const contents: Contents = {
  kernels: [{ name: 'void gemm<float>(int)', short: 'gemm<float>', count: 3, total_ns: 2_000 }],
  kernel_names: 1,
  activities: 3,
  operators: [{ name: 'aten::mm', is_on_other_thread: false, count: 3, cpu_total_ns: 900, cuda_total_ns: 800 }],
  operator_names: 8,
  phases: [phase('forward', 8), phase('everything else', null)],
  steps: { count: 5, known_by: 'optimizer step', took_ns: spread(2_500) },
};
const without: RunResult = { ...run, contents, regions: [] };
const cells = (text: string): string =>
  text
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

test('a run without regions is shown as the phases of its steps, its kernels and its operators', () => {
  const text = cells(contentsMarkup(without).text);
  assert.match(text, /Phases of 5 steps of 2\.50 µs/);
  assert.match(text, /Phase CPU per step CUDA per step CPU CUDA Launches Times/);
  assert.match(text, /forward 1\.23 µs 456 ns 4\.00 µs 3\.00 µs 7 8 everything else/);
  assert.match(text, /Medians per step \(a step ends with the optimizer’s\)/);
  assert.match(text, /gemm&lt;float&gt; 3 2\.00 µs/);
  assert.match(text, /Operator, 1 of 8 Count CUDA CPU aten::mm 3 800 ns 900 ns/);
});

test('without a GPU nothing is said of one, and without steps nothing of a step', () => {
  const phases = [phase('backward', 1, { cuda_ns: null, launches: null, cpu_per_step_ns: null })];
  const known = { ...contents, kernels: [], operators: [], steps: null, phases };
  const text = cells(contentsMarkup({ ...without, device_total_ns: null, contents: known }).text);
  assert.match(text, /Phase CPU Times backward 4\.00 µs 1$/);
  const none = contentsMarkup({ ...without, contents: { ...known, phases: [] } }).text;
  assert.match(none, /No phases of a step/);
});

test('modules can be profiled from there where a file ran, and nothing from a saved page, which has no empty table', () => {
  assert.match(contentsMarkup(without).text, /<vscode-button data-modules/);
  assert.doesNotMatch(contentsMarkup({ ...without, script: null }).text, /vscode-button/);
  const page = savedPage(without, usualView, '');
  assert.match(page, /Phases of 5 steps/);
  assert.doesNotMatch(page, /vscode-button|<table class="regions"/);
});
