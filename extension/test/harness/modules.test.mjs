// The icicle chart of modules, in a real browser: CHROMIUM=… SAMPLE=run.json node --test extension/test/harness/modules.test.mjs
// SAMPLE is what tests/end_to_end/panel_sample.py makes of tests/end_to_end/recorded/lightning_modules.json.gz.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { css, openPanel, savedPage, themes } from './panel.mjs';

const run = JSON.parse(readFileSync(process.env.SAMPLE, 'utf8'));
let browser;

before(async () => {
  const args = ['--no-sandbox', '--disable-gpu'];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
});
after(() => browser.close());

for (const theme of Object.keys(themes)) {
  test(`the chart fits 330 pixels, and nothing is complained of in ${theme}`, async () => {
    const { page, complaints } = await openPanel(browser, run, { theme, width: 330 });
    await page.waitForSelector('#modules-chart .item');
    assert.deepEqual(complaints, []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true);
    await page.close();
  });
}

test('by keyboard boxes are chosen and opened, as rows are, and what is open is saved', async () => {
  const { page, posted } = await openPanel(browser, run);
  const picked = page.locator('#modules-chart [aria-selected="true"]');
  const boxes = () => page.locator('#modules-chart .item').count();
  await page.locator('#modules-chart').focus();
  assert.match(await picked.getAttribute('aria-label'), /^Sequential · Sequential · CUDA total 106 µs, 100 %/);
  await page.keyboard.press('ArrowDown');
  while ((await picked.getAttribute('aria-expanded')) === null) await page.keyboard.press('ArrowRight');
  assert.equal(await page.locator('#regions tr[aria-selected="true"] th').innerText(), '▸* (Linear) ×2');
  const closed = await boxes();
  await page.keyboard.press('Enter');
  assert.equal(await boxes(), closed + 2);
  assert.equal(await page.locator('#regions tr[aria-expanded="true"]').count(), 1);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  assert.equal(await picked.getAttribute('aria-expanded'), 'true');
  await page.locator('#modules-extent button', { hasText: 'Backward' }).click();
  assert.match(await page.locator('#modules-readout').innerText(), /Backward/);
  await page.locator('#save').click();
  const saved = await browser.newPage();
  await saved.setContent(savedPage(run, posted.at(-1).view, css));
  assert.equal(await saved.locator('svg.icicle .item').count(), closed + 2);
  await saved.close();
  await page.locator('#modules-chart').focus();
  await page.keyboard.press('Escape');
  assert.equal(await boxes(), closed);
  await page.close();
});
