// The panel in a real browser, by keyboard and mouse: CHROMIUM=… SAMPLE=run.json node --test extension/test/harness/
// SAMPLE is what tests/end_to_end/panel_sample.py makes of tests/traces/h200/train_mlp.json.gz with --source examples/train_mlp.py.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { css, listed, openPanel, savedPage, themes } from './panel.mjs';

const run = JSON.parse(readFileSync(process.env.SAMPLE, 'utf8'));
const BACKWARD = run.regions.find((region) => region.measures.name === 'backward');
let browser;

before(async () => {
  const args = ['--no-sandbox', '--disable-gpu'];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
});
after(() => browser.close());

const copyOf = (value) => JSON.parse(JSON.stringify(value));
const names = (page) => page.locator('#regions th.name').allInnerTexts();
const focused = (page) => page.evaluate(() => document.activeElement?.id || document.activeElement?.dataset.column);
const chosen = (page) => page.locator('#regions tr[aria-selected="true"] th.name').innerText();
const drawnItems = (page) => page.locator('svg.lanes .item').evaluateAll((items) => items.map((item) => item.id));
const charts = (page) => page.waitForSelector('#lanes-chart svg.lanes');

async function tabTo(page, id) {
  for (let presses = 0; presses < 20; presses += 1) {
    if ((await focused(page)) === id) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not lead to ${id}`);
}

for (const theme of Object.keys(themes)) {
  test(`nothing is refused or complained of in ${theme}`, async () => {
    const { page, complaints, posted } = await openPanel(browser, run, { theme });
    await charts(page);
    assert.deepEqual(complaints, []);
    assert.deepEqual(posted, [{ kind: 'ready' }, { kind: 'times', run: run.id, region: 0 }]);
    assert.ok(
      await page.evaluate(() => document.querySelector('vscode-button').shadowRoot.adoptedStyleSheets.length > 0),
    );
    await page.close();
  });
}

test('the headings order the table by keyboard, and say so', async () => {
  const { page } = await openPanel(browser, run);
  await tabTo(page, 'share');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  assert.equal((await names(page))[0], 'backward');
  await page.keyboard.press('Enter');
  assert.equal((await names(page))[0], 'train_step');
  assert.equal(await page.locator('th[aria-sort="descending"] button').getAttribute('data-column'), 'name');
  await page.keyboard.press('End');
  assert.equal(await focused(page), 'backward_cuda');
  await page.close();
});

test('beside an editor the times are in sight, and the other columns a key away', async () => {
  const { page, kept } = await openPanel(browser, run, { width: 538 });
  const headings = async () =>
    (await page.locator('#regions thead th').allInnerTexts()).map((text) => text.replace(/\s*▾/, ''));
  const scrolls = () => page.locator('#scroller').evaluate((it) => it.scrollWidth > it.clientWidth);
  assert.deepEqual(await headings(), ['Region', 'CUDA total', 'CPU total']);
  assert.equal(await scrolls(), false);
  await tabTo(page, 'columns');
  await page.keyboard.press('Enter');
  assert.deepEqual((await headings()).slice(3), [
    'Of GPU time',
    'Bound',
    'CUDA self',
    'CPU self',
    'Launches',
    'Line',
    'Backward',
    'Measured',
  ]);
  assert.equal(await scrolls(), true);
  assert.match(await page.locator('#caption').innerText(), /^Medians of the measured calls/);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.locator('#columns').waitFor({ state: 'hidden' });
  const { page: again } = await openPanel(browser, run, { width: 538, state: kept.state });
  assert.equal(await again.locator('#regions thead th').count(), 11);
  await again.locator('#columns').click();
  assert.equal(await again.locator('#regions thead th').count(), 3);
  await page.close();
  await again.close();
});

test('at 200 % beside an editor the table is on the first screen, with its times', async () => {
  const { page } = await openPanel(browser, run, { width: 330, height: 380 });
  const { y, height } = await page.locator('#scroller').boundingBox();
  assert.ok(y < 380 / 3, `begins at ${y}`);
  assert.ok(y + height <= 380, `ends at ${y + height}`);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true);
  assert.deepEqual(await page.locator('#regions thead th').allInnerTexts(), ['Region', 'CUDA total', 'CPU total']);
  await page.close();
});

test('nested regions stand below and right of the one around them, and say how deep they are', async () => {
  const { page } = await openPanel(browser, run);
  const left = (name) =>
    page
      .locator('#regions th.name > span', { hasText: new RegExp(`^${name}$`) })
      .evaluate((it) => it.getBoundingClientRect().x);
  assert.ok((await left('layer_N ×8')) > (await left('forward')));
  assert.ok((await left('forward')) > (await left('train_step')));
  const level = page.locator('#regions tr', { has: page.getByText('layer_N ×8', { exact: true }) });
  assert.equal(await level.getAttribute('aria-level'), '3');
  await page.close();
});

test('a series opens to its names by keyboard and mouse, and is kept open', async () => {
  const { page, kept } = await openPanel(browser, run);
  const series = page.locator('#regions tr[aria-expanded]');
  assert.equal(await series.getAttribute('aria-expanded'), 'false');
  assert.match(await series.locator('th span').getAttribute('title'), /^layer_N ×8, the slowest is layer_\d$/);
  await tabTo(page, 'regions');
  while (!(await chosen(page)).includes('layer_N')) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  assert.equal(await series.getAttribute('aria-expanded'), 'true');
  assert.equal((await names(page)).length, 17);
  await page.keyboard.press('ArrowRight');
  assert.match(await chosen(page), /layer_\d/);
  const level = page.locator('#regions tr[aria-selected="true"]');
  assert.equal(await level.getAttribute('aria-level'), '4');
  await charts(page);
  const { page: again } = await openPanel(browser, run, { state: kept.state });
  assert.equal((await names(again)).length, 17);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  assert.equal((await names(page)).length, 9);
  await series.locator('.opener').click();
  assert.equal((await names(page)).length, 17);
  await page.locator('#filter').click();
  await page.keyboard.type('layer_3');
  await series.waitFor({ state: 'detached' });
  assert.deepEqual(await names(page), ['layer_3']);
  await page.close();
  await again.close();
});

test('arrow keys choose a region, Enter goes to its line, and Tab leads on to its charts', async () => {
  const { page, posted } = await openPanel(browser, run);
  await tabTo(page, 'regions');
  await page.keyboard.press('ArrowDown');
  assert.equal(await chosen(page), 'backward');
  await page.keyboard.press('Enter');
  await charts(page);
  assert.deepEqual(posted.at(-1), { kind: 'reveal', region: BACKWARD.index, focus: true });
  await tabTo(page, 'lanes-chart');
  assert.match(await page.locator('#lanes-readout').innerText(), /^backward · region · 1\.49 ms$/);
  // Of an even number of calls, too, the call that is drawn is the one whose time is shown.
  assert.match(await page.locator(`#region-${BACKWARD.index}`).innerText(), /\t275 µs\t1\.49–5\.51 ms\t/);
  assert.match(
    await page.locator('#lanes').innerText(),
    /The call with the median CPU total, drawn to scale: 1\.49 ms on the CPU, 275 µs of CUDA total;/,
  );
  await page.keyboard.press('ArrowDown');
  assert.match(await page.locator('#lanes-readout').innerText(), /^aten::/);
  const picked = await page.locator('#lanes-chart').getAttribute('aria-activedescendant');
  const label = await page.locator(`#${picked}`).getAttribute('aria-label');
  assert.equal(label, await page.locator('#lanes-readout').innerText());
  await page.close();
});

test('by keyboard a finding leads to its page and to its place in the trace, and the run has its own', async () => {
  const found = copyOf(run);
  const shown = found.regions[BACKWARD.index].measures.findings;
  found.findings = [{ ...shown[0], code: 'outside-regions' }];
  const { page, posted } = await openPanel(browser, found);
  assert.match(await page.locator('#notes .findings').innerText(), /^outside-regions/);
  await page.locator(`#region-${BACKWARD.index}`).click();
  await charts(page);
  const findings = page.locator('#region .findings li');
  assert.equal(await findings.count(), 1);
  const cores = findings.filter({ hasText: 'tensor-cores-unused' });
  assert.match(await cores.innerText(), /multiplies in fp32 .* Could save up to 179 µs per call/);
  await page.locator('#open-trace').focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.deepEqual(posted.at(-1), { kind: 'explain', code: 'overhead-bound' });
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.deepEqual(posted.at(-1), { kind: 'explain', code: 'tensor-cores-unused' });
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const place = { region: BACKWARD.index, finding: 'tensor-cores-unused' };
  assert.deepEqual(posted.at(-1), { kind: 'trace', ...place });
  await page.locator('#notes').getByText('Open trace there').click();
  assert.deepEqual(posted.at(-1), { kind: 'trace', region: null, finding: 'outside-regions' });
  await page.close();
});

test('a click goes to the line and leaves the focus, a double click takes it there', async () => {
  const { page, posted } = await openPanel(browser, run);
  await page.locator(`#region-${BACKWARD.index}`).click();
  const reveals = () =>
    posted.filter((message) => message.kind === 'reveal').map(({ region, focus }) => ({ region, focus }));
  assert.deepEqual(reveals(), [{ region: BACKWARD.index, focus: false }]);
  assert.equal(await chosen(page), 'backward');
  await page.locator(`#region-${BACKWARD.index}`).dblclick();
  assert.deepEqual(reveals().at(-1), { region: BACKWARD.index, focus: true });
  await page.locator('#open-trace').click();
  assert.deepEqual(posted.at(-1), { kind: 'trace', region: BACKWARD.index });
  await page.close();
});

test('the filter is kept, counts, and is what is copied', async () => {
  const { page, posted, kept } = await openPanel(browser, run);
  await page.locator('#filter').click();
  await page.keyboard.type('layer mixed');
  assert.equal(await page.locator('#count').innerText(), '3 of 9 regions');
  assert.deepEqual((await names(page)).sort(), ['layer_2', 'layer_4', 'layer_6']);
  await page.locator('#copy-csv').click();
  const copied = posted.at(-1);
  assert.equal(copied.kind, 'copy');
  assert.equal(copied.text.trim().split('\r\n').length, 4);
  const { page: again } = await openPanel(browser, run, { state: kept.state });
  assert.equal(await again.locator('#count').innerText(), '3 of 9 regions');
  await page.close();
  await again.close();
});

test('keys zoom, and what is shown is what is saved', async () => {
  const { page, posted } = await openPanel(browser, run);
  await charts(page);
  await tabTo(page, 'lanes-chart');
  await page.keyboard.press('+');
  await page.keyboard.press('Shift+ArrowRight');
  await page.locator('#save').click();
  const { view } = posted.at(-1);
  const whole = run.regions[0].measures.timeline.end_ns;
  assert.ok(Math.abs(view.span.to - view.span.from - whole / 2) < 1);
  assert.ok(view.span.from > 0);
  const html = savedPage(run, view, css);
  const saved = await browser.newPage();
  const complaints = [];
  saved.on('console', (message) => complaints.push(message.text()));
  await saved.setContent(html);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await drawnItems(saved), await drawnItems(page));
  assert.equal(
    await saved.locator('table.regions tbody tr').count(),
    run.regions.filter(({ series }) => series === null).length,
  );
  await saved.close();
  await page.close();
});

test('an edit moves the line and marks it stale, without taking the chart away', async () => {
  const { page, send } = await openPanel(browser, run);
  await page.locator(`#region-${BACKWARD.index}`).click();
  await charts(page);
  await page.locator('#lanes-chart').focus();
  await page.keyboard.press('ArrowDown');
  const before = await page.locator('#lanes-readout').innerText();
  const edited = copyOf(run);
  edited.regions[BACKWARD.index].row += 4;
  edited.regions[BACKWARD.index].stale = ['its code has changed since it was measured'];
  await send({ kind: 'run', uri: null, run: listed(edited), choose: null });
  assert.equal(await page.locator('#go-to-line').innerText(), 'train_mlp.py:65');
  assert.match(await page.locator('#region-facts').innerText(), /^Stale: its code has changed/);
  assert.equal(await page.locator('#lanes-readout').innerText(), before);
  assert.equal(await focused(page), 'lanes-chart');
  await page.close();
});

test('only rows in sight are in the page, and the last one can be reached', async () => {
  const many = copyOf(run);
  many.regions = Array.from({ length: 500 }, (_, index) => {
    const region = copyOf(run.regions[index % run.regions.length]);
    region.measures.name += `_${index}`;
    return { ...region, index, parent: null, share: 1 - index / 1000 };
  });
  const { page } = await openPanel(browser, many);
  assert.ok((await names(page)).length < 100);
  await tabTo(page, 'regions');
  await page.keyboard.press('End');
  assert.match(await chosen(page), /_499$/);
  assert.ok(await page.locator('#regions tr[aria-selected="true"]').isVisible());
  await page.close();
});
