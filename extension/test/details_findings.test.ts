import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsMarkup, shownFindings, warningMark } from '../src/details/region/findings_markup';
import { savedPage } from '../src/details/page';
import { finding, region, run, usualView } from './details_sample';

const plain = (markup: { text: string }): string =>
  markup.text
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

test('a finding has its severity, what it says, what can be saved, its page and its place in the trace', () => {
  const markup = findingsMarkup([finding()], 3);
  assert.equal(
    plain(markup),
    'Warning tiny-kernels step launches 20 kernels a call. Could save up to 500 ns per call (50 %). Open trace there',
  );
  assert.match(markup.text, /data-explain="tiny-kernels"/);
  assert.match(markup.text, /data-spot="tiny-kernels"\s+data-region="3"/);
});

test('what is not known is not said, and what cannot be done is not offered', () => {
  const text = findingsMarkup([finding({ message: 'step launches 20 kernels a call.', spot: null })], 3).text;
  assert.doesNotMatch(text, /save|null|data-spot/);
});

test('those of the run name no region', () => {
  assert.match(findingsMarkup([finding()], null).text, /aria-label="Findings of the run".*data-region=""/s);
});

test('the bound is shown elsewhere, and those switched off come last and say so', () => {
  const codes = ['a', 'compute-bound', 'b', 'mixed'].map((code) => finding({ code, is_suppressed: code === 'a' }));
  assert.deepEqual(
    shownFindings(codes).map(({ code }) => code),
    ['b', 'a'],
  );
  assert.match(findingsMarkup(codes, 0).text, /class="suppressed".*\(ignored here\)/s);
});

test('nothing is shown where nothing was found, or nothing was looked for', () => {
  for (const findings of [[], null]) assert.equal(findingsMarkup(findings, 0).text, '');
});

test('the table marks regions with warnings, and no others', () => {
  assert.match(warningMark([finding(), finding({ code: 'idle-gap' })]).text, /2 findings: tiny-kernels, idle-gap/);
  for (const quiet of [finding({ severity: 'information' }), finding({ is_suppressed: true })]) {
    assert.equal(warningMark([quiet]).text, '');
  }
});

test('a saved page tells them, without buttons', () => {
  const found = {
    ...run,
    findings: [finding({ code: 'outside-regions' })],
    regions: [region(0, { findings: [finding()] })],
  };
  const page = savedPage(found, usualView, '');
  assert.match(page, /<b>outside-regions<\/b>/);
  assert.match(page, /<b>tiny-kernels<\/b>/);
  assert.doesNotMatch(page, /<button/);
});
