// What a run is compared with, as the panel and a saved page show it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparedNotes, comparedWith } from '../src/details/compared_markup';
import { Comparing } from '../src/details/comparing';
import { csvOf, markdownOf } from '../src/details/exports';
import { listed } from '../src/details/listing';
import { savedPage } from '../src/details/page';
import { beforeMarkup } from '../src/details/region/before_markup';
import { changeText, intervalText, timeTexts } from '../src/details/region/change_text';
import { comparedIn, regionBefore } from '../src/details/region/compared';
import { cellText, columnsOf } from '../src/details/table/columns';
import type { Change, Comparison, RegionComparison, Shares } from '../src/server/protocol/comparison';
import { region, run, usualView } from './details_sample';

process.env.TZ = 'UTC';

const change = (changes: Partial<Change> = {}): Change => ({
  a: 214_000,
  b: 146_000,
  change: -0.318,
  low: -0.35,
  high: -0.29,
  verdict: 'faster',
  more_runs: null,
  ...changes,
});
const shares: Shares = { new: [], gone: [], changed: [], same: 2, is_whole: true };

const compared = (changes: Partial<RegionComparison> = {}): RegionComparison => ({
  name: 'step',
  file: '/w/train.py',
  line: 1,
  in: 'both',
  was: null,
  cpu_total_ns: change({ a: 900, b: 1_200, change: 0.33, low: -0.12, high: 1.4, verdict: 'unknown', more_runs: 2 }),
  cpu_self_ns: change({ verdict: 'same', low: -0.01, high: 0.02 }),
  cuda_total_ns: change(),
  cuda_self_ns: null,
  launches: { a: 5, b: 1 },
  bound: { a: 'overhead', b: 'mixed' },
  kernels: shares,
  operators: null,
  findings_new: ['compile-tax'],
  findings_gone: ['tiny-kernels', 'overhead-bound'],
  ...changes,
});

const comparison: Comparison = {
  a: { title: run.title, runs: ['before'], processes: 3, started: '2026-11-29T11:00:00+00:00' },
  b: { title: run.title, runs: [run.id], processes: 1, started: '2026-11-29T12:00:00+00:00' },
  differences: ['torch 2.10 and 2.11'],
  code_changed: ['/w/train.py'],
  regions: [compared(), compared({ name: 'gone_one', in: 'a', was: null })],
};
const [step = region(0, {})] = run.regions;

test('an arrow only where there is a difference beyond noise, and what it lies between', () => {
  assert.equal(changeText(change()), '▼32 %');
  assert.equal(changeText(change({ change: 1.3, verdict: 'slower' })), '▲2.3×');
  assert.equal(changeText(change({ change: 0.041, verdict: 'slower' })), '▲4.1 %');
  assert.equal(changeText(change({ verdict: 'same' })), 'no difference');
  const unknown = change({ verdict: 'unknown', low: -0.12, high: 0.4, more_runs: 2 });
  assert.equal(changeText(unknown), 'cannot tell');
  assert.equal(intervalText(unknown), '-12 % to +40 %, 2 more runs would do');
  assert.equal(changeText(change({ a: null, change: null, verdict: 'unknown' })), '');
});

test('one unit is said once, and a time that is not there is a dash', () => {
  assert.equal(timeTexts(change()).join(' '), '214 → 146 µs');
  assert.equal(timeTexts(change({ a: 980_000, b: 1_020_000 })).join(' '), '980 µs → 1.02 ms');
  assert.equal(timeTexts(change({ a: null })).join(' '), '— → 146 µs');
  assert.equal(timeTexts(change({ b: null })).join(' '), '214 µs → —');
});

test('the totals are compared in the table and in what is copied, only while the switch is on', () => {
  const shown = listed(run);
  const columns = columnsOf(shown, comparedIn(comparison));
  const cell = (id: string, of = columns): string[] =>
    of.filter((column) => column.id === id).map((column) => cellText(column, step));
  assert.deepEqual(cell('cuda_total'), ['214 → 146 µs ▼32 %']);
  assert.deepEqual(cell('cpu_total'), ['900 ns → 1.20 µs cannot tell']);
  assert.match(markdownOf(columns, [step]), /214 → 146 µs ▼32 %/);
  const [head = '', row = ''] = csvOf(columns, [step]).split('\r\n');
  assert.match(head, /^region,cuda_total_ns_before,cuda_total_ns_now,cuda_total_verdict,cpu_total_ns_before,/);
  assert.match(row, /^step,214000,146000,faster,900,1200,unknown,/);
  assert.deepEqual(cell('cuda_total', columnsOf(shown)), ['100 ns']);
});

test('a region is found again by name and place, under the name that it had', () => {
  const [renamed] = [compared({ was: { name: 'layer_9', file: '/w/train.py', line: 1 } })];
  assert.equal(regionBefore(run, renamed)?.index, 2);
  assert.equal(regionBefore(run, compared())?.index, 0);
  assert.equal(regionBefore(run, compared({ in: 'b' })), undefined);
});

test('the page of a region tells what changed, and nothing of bounds twice', () => {
  const page = beforeMarkup(compared({ was: { name: 'old', file: '/w/train.py', line: 7 } })).text;
  for (const sentence of [
    'Was old at line 7.',
    'GPU launches per call: 5 → 1.',
    'Bound: overhead-bound → mixed.',
    'No longer found: tiny-kernels.',
    'New findings: compile-tax.',
    'Kernels: 2 kernels the same.',
  ]) {
    assert.ok(page.includes(sentence), sentence);
  }
  assert.match(page, /aria-label="faster by 32 %"/);
});

test('what is compared with what is said, and what is only before', () => {
  assert.equal(comparedWith(comparison), 'Compared with the run of 29 Nov 2026, 11:00:00');
  const other = { ...comparison, a: { ...comparison.a, title: 'train.py --size 128' } };
  assert.equal(comparedWith(other), 'Compared with train.py --size 128, 29 Nov 2026, 11:00:00');
  const notes = comparedNotes(comparison).text;
  assert.match(
    notes,
    /Before: 3 runs, now: 1 run\. Also different: torch 2\.10 and 2\.11\. Changed since: train\.py\./,
  );
  assert.match(notes, /Only before: gone_one \(CUDA 214 µs, CPU 900 ns\)\./);
});

test('a saved page has columns and lanes of both while they are compared', () => {
  const view = { ...usualView, isCompared: true };
  const page = savedPage(run, view, '', { comparison, before: run });
  assert.equal(page.match(/class="lanes"/g)?.length, 2);
  assert.match(page, /Compared with the run of/);
  assert.match(savedPage(run, view, '', { comparison, before: null }), /▼32 %/);
  assert.doesNotMatch(savedPage(run, { ...view, isCompared: false }, '', { comparison, before: run }), /▼32 %/);
});

test('a comparison is asked for once, and again when runs have changed', async () => {
  const asked: unknown[] = [];
  const comparing = new Comparing({
    compare: (params) => {
      asked.push(params);
      return Promise.resolve(comparison);
    },
    fetch: (params) => {
      asked.push(params);
      return Promise.resolve({ ...run, id: 'before' });
    },
  });
  const params = { run: run.id, other: null };
  assert.equal(await comparing.ask(params), true);
  assert.equal(await comparing.ask({ ...params }), false);
  assert.equal((await comparing.regionBefore(step))?.index, 0);
  assert.equal((await comparing.runBefore())?.id, 'before');
  assert.deepEqual(asked, [params, { uri: null, run: 'before' }]);
  comparing.forget();
  assert.equal(await comparing.ask(params), true);
});
