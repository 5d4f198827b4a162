// Two runs in the panel, in a real browser: CHROMIUM=… SAMPLE=compared.json node --test extension/test/harness/compared.test.mjs
// SAMPLE is what tests/end_to_end/panel_sample.py makes of tests/traces/h200/matmul_add_4096_compile.json.gz with
// --before tests/traces/h200/matmul_add_4096_warm.json.gz.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { css, openPanel, savedPage, themes } from './panel.mjs';

const sample = JSON.parse(readFileSync(process.env.SAMPLE, 'utf8'));
const { run } = sample;
let browser;

before(async () => {
  const args = ['--no-sandbox', '--disable-gpu'];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
});
after(() => browser.close());

const copyOf = (value) => JSON.parse(JSON.stringify(value));
const isCompared = { view: { isCompared: true } };
const compared = (options = {}) => openPanel(browser, run, { compared: sample, state: isCompared, ...options });
const cells = async (page) => (await page.locator('#regions tr[data-region="0"]').innerText()).split('\t');
const lanes = (page, id) => page.waitForSelector(`#${id}-chart svg.lanes`);
const axis = (page, id) => page.locator(`#${id}-chart text.axis`).allInnerTexts();
const widthOf = async (page, item) => (await page.locator(`#${item} rect`).first().boundingBox()).width;

for (const theme of Object.keys(themes)) {
  test(`nothing is refused or complained of in ${theme}`, async () => {
    const { page, complaints } = await compared({ theme });
    await lanes(page, 'before');
    assert.deepEqual(complaints, []);
    await page.close();
  });
}

test('the first screen is as it was, and one key shows what was before and takes it away again', async () => {
  const { page, posted, kept } = await openPanel(browser, run, { compared: sample });
  await lanes(page, 'lanes');
  assert.deepEqual((await cells(page)).slice(1, 3), ['176 µs', '302 µs']);
  assert.equal(await page.locator('#before-chart').count(), 0);
  assert.deepEqual(
    posted.map(({ kind }) => kind),
    ['ready', 'times'],
  );
  const comparedSwitch = page.getByRole('checkbox', { name: /^Compared with matmul_add_4096_warm\.json\.gz/ });
  await page.locator('#filter').click();
  for (let presses = 0; presses < 3; presses += 1) {
    if (await page.evaluate(() => document.activeElement?.id === 'compared')) break;
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Space');
  await lanes(page, 'before');
  assert.equal(await comparedSwitch.isChecked(), true);
  assert.deepEqual((await cells(page)).slice(1, 3), ['212 → 176 µs▼17 %', '79.9 → 302 µscannot tell']);
  assert.equal(kept.state.view.isCompared, true);
  await page.keyboard.press('Space');
  await page.locator('#before-chart').waitFor({ state: 'detached' });
  assert.deepEqual((await cells(page)).slice(1, 3), ['176 µs', '302 µs']);
  await page.close();
});

test('both median calls are drawn on one scale, and zoomed together', async () => {
  const { page, posted } = await compared();
  await lanes(page, 'before');
  const labels = await page.locator('#lanes h4').allInnerTexts();
  assert.deepEqual(labels, ['Before', 'Now']);
  assert.deepEqual(await axis(page, 'before'), await axis(page, 'lanes'));
  const [was, now] = [await widthOf(page, 'was-0'), await widthOf(page, 'item-0')];
  assert.ok(Math.abs(now / was - 302 / 79.9) < 0.1, `${now} / ${was}`);
  const whole = await axis(page, 'lanes');
  await page.locator('#before-chart').focus();
  await page.keyboard.press('+');
  assert.notDeepEqual(await axis(page, 'lanes'), whole);
  assert.deepEqual(await axis(page, 'before'), await axis(page, 'lanes'));
  await page.keyboard.press('ArrowDown');
  assert.match(await page.locator('#before-readout').innerText(), /^aten::/);
  assert.match(await page.locator('#lanes-readout').innerText(), /^matmul_add · region/);
  await page.locator('#save').click();
  const { view } = posted.at(-1);
  const saved = await browser.newPage();
  await saved.setContent(savedPage(run, view, css, sample));
  assert.equal(await saved.locator('svg.lanes').count(), 2);
  assert.match(await saved.locator('table.regions').innerText(), /212 → 176 µs\s*▼17 %/);
  await saved.close();
  await page.close();
});

test('what changed is told: kernels, operators, launches, bound and findings', async () => {
  const { page } = await compared();
  const text = await page.getByRole('region', { name: 'Before and now' }).innerText();
  assert.match(text, /CUDA total\s+212 µs\s+176 µs\s+▼17 % -19 % to -15 %/);
  assert.match(text, /CPU self\s+23\.2 µs\s+60\.2 µs\s+cannot tell -\d+ % to [\d.]+×/);
  assert.match(text, /GPU launches per call: 3 → 2\./);
  assert.match(text, /Bound: compute-bound → none\./);
  assert.match(text, /New findings: compile-tax\./);
  assert.match(text, /_bias_NNT\s+new\s+—\s+176 µs/);
  assert.match(text, /CUDAFunctor_add<BFloat16> in .*\s+gone\s+41\.4 µs\s+—/);
  assert.match(text, /Kernels: 1 kernel the same\./);
  assert.match(text, /aten::matmul\s+gone\s+525 µs\s+—/);
  await page.close();
});

test('a region that only one side has says so', async () => {
  const one = copyOf(sample);
  const [region] = one.comparison.regions;
  one.comparison.regions.push({ ...copyOf(region), name: 'old_one', in: 'a' });
  region.in = 'b';
  for (const change of [region.cpu_total_ns, region.cuda_total_ns]) Object.assign(change, { a: null, change: null });
  const { page } = await compared({ compared: one });
  await lanes(page, 'lanes');
  assert.deepEqual((await cells(page)).slice(1, 3), ['— → 176 µsnew', '— → 302 µsnew']);
  assert.match(
    await page.locator('#compared-notes').innerText(),
    /Only before: old_one \(CUDA 212 µs, CPU 79\.9 µs\)\./,
  );
  assert.match(await page.getByRole('region', { name: 'Before and now' }).innerText(), /This region is new/);
  assert.equal(await page.locator('#before-chart').count(), 0);
  await page.close();
});

test('beside an editor the verdicts are in sight, and the times before a key away', async () => {
  const { page } = await compared({ width: 538 });
  await lanes(page, 'before');
  const scrolls = () => page.locator('#scroller').evaluate((it) => it.scrollWidth > it.clientWidth);
  assert.equal(await scrolls(), false);
  assert.deepEqual((await cells(page)).slice(1, 3), ['176 µs▼17 %', '302 µscannot tell']);
  await page.locator('#columns').click();
  assert.deepEqual((await cells(page)).slice(1, 3), ['212 → 176 µs▼17 %', '79.9 → 302 µscannot tell']);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true);
  await page.close();
});
