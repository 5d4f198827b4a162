import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  comparable,
  contextOf,
  descriptionOf,
  iconOf,
  labelOf,
  sidesOf,
  tooltipOf,
  whenText,
} from '../src/runs/list_texts';
import type { RunRow } from '../src/server/protocol/results';

process.env.TZ = 'America/New_York';

const NOW = new Date('2026-08-31T16:00:00Z');
const ROW: RunRow = {
  id: '20260831-120000-aaaaaa',
  title: 'train.py --epochs 1',
  script: 'train.py',
  arguments: ['--epochs', '1'],
  started: '2026-08-31T12:05:09+00:00',
  seconds: 8.12,
  device: { name: 'NVIDIA H200', count: 1 },
  regions: 16,
  largest: { name: 'step', cuda_total_ns: 1_234_000, cpu_total_ns: 2_000_000 },
  is_loaded: false,
  is_pinned: true,
  is_baseline: false,
  size_bytes: 1_230_000,
  problem: null,
};

test('times are local, and a day is named only where it is another one', () => {
  assert.equal(whenText(new Date('2026-08-31T12:05:09Z'), NOW), '08:05');
  assert.equal(whenText(new Date('2026-08-31T03:00:00Z'), NOW), '30 Aug 23:00');
  assert.equal(whenText(new Date('2025-08-31T12:00:00Z'), NOW), '31 Aug 2025 08:00');
});

test('a run says when it ran, what took longest, and on what', () => {
  assert.equal(labelOf(ROW, NOW), '08:05 train.py');
  assert.equal(descriptionOf(ROW, NOW), 'CUDA 1.23 ms in step · --epochs 1 · NVIDIA H200');
  const largest = { name: 'step', cuda_total_ns: null, cpu_total_ns: 2_000_000 };
  const cpu = { ...ROW, device: null, arguments: [], largest };
  assert.equal(descriptionOf(cpu, NOW), 'CPU 2.00 ms in step · CPU only');
  const loaded = { ...cpu, started: null, seconds: null, is_loaded: true, script: 'a.pt.trace.json' };
  assert.equal(`${labelOf(loaded, NOW)} ${descriptionOf(loaded, NOW)}`, 'a.pt.trace.json CPU 2.00 ms in step');
  const damaged = { ...ROW, problem: 'It is damaged.' };
  assert.equal(`${labelOf(damaged, NOW)} ${descriptionOf(damaged, NOW)}`, '20260831-120000-aaaaaa It is damaged.');
});

test('a run of another day begins with the day, and its time comes after what took longest', () => {
  const started = '2026-08-31T03:00:00Z';
  assert.equal(labelOf({ ...ROW, started }, NOW), '30 Aug train.py');
  assert.equal(descriptionOf({ ...ROW, started }, NOW), 'CUDA 1.23 ms in step · 23:00 · --epochs 1 · NVIDIA H200');
  assert.equal(labelOf({ ...ROW, started: '2025-08-31T12:00:00Z' }, NOW), '31 Aug 2025 train.py');
});

test('a baseline is named', () => {
  const baseline = { ...ROW, is_baseline: true };
  assert.match(descriptionOf(baseline, NOW), /^baseline · CUDA /);
  assert.match(tooltipOf(baseline), /\nBaseline of its script and arguments: /);
  assert.deepEqual([baseline, ROW, { ...ROW, is_pinned: false }].map(iconOf), ['target', 'pinned', 'history']);
});

test('its tooltip says all', () => {
  assert.deepEqual(tooltipOf(ROW).split('\n'), [
    'train.py --epochs 1',
    'Started 31 Aug 2026, 08:05:09',
    'Ran for 8.1 s',
    'NVIDIA H200',
    '16 regions',
    'Largest region: CUDA 1.23 ms in step (the median of its calls)',
    '1.2 MB',
    'Pinned: it stays until you delete it',
  ]);
});

test('menus tell runs that are stored, pinned, loaded and damaged apart', () => {
  assert.equal(contextOf(ROW), 'run pinned other');
  assert.equal(contextOf({ ...ROW, is_pinned: false, is_baseline: true }), 'run unpinned baseline');
  assert.equal(contextOf({ ...ROW, is_loaded: true }), 'loaded');
  assert.equal(contextOf({ ...ROW, problem: 'It is damaged.' }), 'damaged');
});

test('a run can be compared with every other stored one, those of the same arguments first, and the older is before', () => {
  const older = { ...ROW, id: '20260830-120000-aaaaaa' };
  const other = { ...ROW, id: '20260901-120000-aaaaaa', title: 'infer.py' };
  const rows = [{ ...ROW, id: 'loaded-1', is_loaded: true }, { ...ROW, id: 'x', problem: '?' }, other, ROW, older];
  assert.deepEqual(comparable(rows, ROW), [older, other]);
  assert.deepEqual(sidesOf(ROW, older), { run: ROW.id, other: older.id });
  assert.deepEqual(sidesOf(ROW, other), { run: other.id, other: ROW.id });
});
