import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heatOf } from '../src/editor/heat';
import { ago, baselineText, runTooltip, statusText, warmText } from '../src/editor/status_text';

const device = { name: 'NVIDIA H200', count: 1 };
const onGpu = {
  device,
  torch: null,
  started: null,
  measures: { cuda_total_ns: { sum: 1, median: 1, min: 1, max: 1 } },
};
const onCpu = { ...onGpu, device: null, measures: { cuda_total_ns: null } };

test('the status bar names the device, and marks what is stale', () => {
  assert.equal(statusText(onGpu, false), 'NVIDIA H200');
  assert.equal(statusText({ ...onGpu, device: { ...device, count: 8 } }, true), '8 × NVIDIA H200 ~');
  assert.equal(statusText(onCpu, false), 'CPU only');
  assert.equal(statusText({ ...onGpu, device: null }, false), 'GPU');
  assert.equal(statusText({ ...onCpu, device }, false), 'CPU only');
});

test('the status bar names a pinned baseline', () => {
  const now = new Date('2026-11-29T16:00:00Z');
  const baseline = { run: '20261129-120000-aaaaaa', started: '2026-11-29T15:00:00Z', is_pinned: true };
  assert.match(baselineText(baseline, now).join(), /^baseline \d\d:00$/);
  assert.deepEqual(baselineText({ ...baseline, is_pinned: false }, now), []);
  assert.deepEqual(baselineText(null, now), []);
});

test('the language status says what is made ready for the next run', () => {
  assert.equal(
    warmText({ state: 'preparing', gpu: false, memory_bytes: null }),
    'Interpreter for the next run: preparing',
  );
  assert.equal(
    warmText({ state: 'ready', gpu: true, memory_bytes: 303_714_304 }),
    'Interpreter for the next run: ready, 304 MB, with CUDA, which holds GPU memory',
  );
});

test('its tooltip says when and with which torch, as far as that is known', () => {
  const now = new Date('2026-11-29T12:00:00Z');
  const run = { ...onGpu, torch: '2.11.0', started: '2026-11-29T11:55:00+00:00' };
  assert.match(
    runTooltip(run, false, now),
    /^Kinetoscope: Profiled 5 minutes ago on NVIDIA H200 with torch 2\.11\.0\.\n/,
  );
  assert.match(runTooltip(onCpu, true, now), /A trace from elsewhere .*\n.* changed/);
});

test('times past are said as people say them', () => {
  const now = new Date('2026-11-29T12:00:00Z');
  const before = (minutes: number): string => ago(new Date(now.getTime() - minutes * 60_000), now);
  assert.deepEqual([0, 1, 59, 120, 24 * 60, 72 * 60].map(before), [
    'just now',
    '1 minute ago',
    '59 minutes ago',
    '2 hours ago',
    'yesterday',
    '3 days ago',
  ]);
});

test('heat goes by the share of the run', () => {
  assert.deepEqual([1, 0.4, 0.39, 0.2, 0.1, 0.05, 0, null].map(heatOf), [0, 0, 1, 1, 2, 3, 3, undefined]);
});
