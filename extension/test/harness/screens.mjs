// Pictures of the panel in all themes, to be looked at: node extension/test/harness/screens.mjs RUN.json FOLDER [REGION]
// RUN.json, with or without what was before, is made by tests/end_to_end/panel_sample.py; CHROMIUM names the browser.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { css, openPanel, savedPage, themes, USUAL_ORDER } from './panel.mjs';

const [file, folder, region = '0'] = process.argv.slice(2);
const sample = JSON.parse(readFileSync(file, 'utf8'));
const compared = sample.comparison ? sample : undefined;
const run = compared?.run ?? sample;
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
for (const theme of Object.keys(themes)) {
  for (const [name, width] of Object.entries({ wide: 1280, narrow: 538, enlarged: 330 })) {
    const { page, complaints } = await openPanel(browser, run, { theme, width, height: 900, compared });
    if (compared) await page.locator('#compared').click();
    await page.locator(`tr[data-region="${region}"]`).click();
    await page.waitForSelector('#lanes-chart svg');
    if (compared) await page.waitForSelector('#before-chart svg');
    await page.mouse.move(0, 0);
    await page.screenshot({ path: join(folder, `${theme}-${name}.png`), fullPage: true });
    if (complaints.length > 0) console.log(theme, name, complaints);
    await page.close();
  }
}
const view = {
  filter: '',
  order: USUAL_ORDER,
  hasAllColumns: false,
  chosen: Number(region),
  open: [],
  extent: 'cuda',
  span: null,
  isCompared: true,
};
writeFileSync(join(folder, 'saved.html'), savedPage(run, view, css, compared));
for (const colorScheme of ['light', 'dark']) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme });
  page.on('console', (message) => console.log('saved', message.text()));
  await page.goto(String(pathToFileURL(join(folder, 'saved.html'))));
  await page.screenshot({ path: join(folder, `saved-${colorScheme}.png`), fullPage: true });
}
await browser.close();
