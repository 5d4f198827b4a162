import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf } from '../src/details/document';
import { listed } from '../src/details/listing';
import { savedPage } from '../src/details/page';
import { runFacts, runNotes } from '../src/details/run_markup';
import { region, run, usualView } from './details_sample';

test('a saved page brings all that it shows, and runs and loads nothing', () => {
  const page = savedPage(run, usualView, '.regions { color: red }');
  assert.match(page, /<style>\s*:root[^<]*\.regions { color: red }\s*<\/style>/);
  assert.match(page, /default-src 'none'; style-src 'unsafe-inline'/);
  assert.doesNotMatch(page, /<script|<link|<img|https?:\/\/(?!www\.w3\.org)/);
  assert.match(page, /svg[^>]*class="lanes"/);
  assert.match(page, /svg[^>]*class="calls"/);
  assert.match(page, /150 ns/);
});

test('it has the rows of the filter, and the chosen region only if that is among them', () => {
  const page = savedPage(run, { ...usualView, filter: 'layer_9' }, '');
  assert.match(page, /layer_9/);
  assert.doesNotMatch(page, /layer_10|class="chosen"/);
  assert.match(page, /Filter: “layer_9”/);
});

test('names are text wherever they stand', () => {
  const evil = '</style><script>alert(1)</script>';
  const page = savedPage(
    { ...run, title: evil, regions: [region(0, { name: evil }, { stale: [evil] })] },
    usualView,
    '',
  );
  assert.doesNotMatch(page, /<script/);
});

test('a region without a timeline says why none is drawn', () => {
  const page = savedPage({ ...run, regions: [region(0, { timeline: null })] }, usualView, '');
  assert.match(page, /Only the 100 regions with the most CPU time are drawn/);
  assert.match(page, /svg[^>]*class="calls"/);
  assert.doesNotMatch(page, /svg[^>]*class="lanes"/);
});

test('of a run its device, local time and what lies outside regions is said', () => {
  process.env.TZ = 'Asia/Tokyo';
  assert.deepEqual(runFacts(listed({ ...run, outside_regions_ns: 20 })), [
    'NVIDIA H200',
    'torch 2.11.0',
    '29 Nov 2026, 21:00:00',
    'GPU time 300 ns, 20 ns of it outside any region',
  ]);
  const problem = { message: 'A file was repaired.', file: '/w/a.py', line: 3 };
  const notes = runNotes(listed({ ...run, problems: [problem, problem, problem] })).text;
  assert.match(notes, /3 notes on this run/);
  assert.match(notes, /a\.py:3/);
  assert.match(notes, /Not listed: 1 region that torch or Kinetoscope added/);
});

test('the page of the panel lets in one script by its nonce, and styles of its own', () => {
  const page = documentOf({ script: 's.js', style: 's.css', source: 'https://x', nonce: 'n0' });
  assert.match(page, /default-src &#39;none&#39;; style-src https:\/\/x; script-src &#39;nonce-n0&#39;"/);
  assert.match(page, /<script nonce="n0" src="s.js">/);
});
