// Before and after a change: the arrow at the line, both columns in the hover; in Details columns and lanes of both, off as
// ever and with one switch; any two runs of the list; a baseline that is pinned. All of it is run here, on the CPU, with a
// change that no noise of one process can be.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { until } from './waiting.mjs';

const SCRIPT = `import torch
from torch.profiler import record_function

TIMES = 100
a = torch.ones(16, 16)

for step in range(10):
    with record_function("work"):
        for _ in range(TIMES):
            (a @ a).relu()
`;
const THEMES = ['Default High Contrast', 'Default High Contrast Light', 'Default Light Modern', 'Default Dark Modern'];
const REGION = 'with record_function("work"):';
const TIMES_LINE = 4;

export default async (stage) => {
  stage.write('work.py', SCRIPT);
  const settings = { 'kinetoscope.saveBeforeRun': 'always', 'kinetoscope.prepare': 'off' };
  const code = await stage.vscode({ file: 'work.py', settings });
  const { page } = code;
  const runs = path.join(stage.cache, 'kinetoscope', 'runs');
  const baselines = () => fs.readdirSync(runs).filter((run) => fs.existsSync(path.join(runs, run, 'baseline')));
  const pane = page.locator('.pane', { has: page.locator('.pane-header', { hasText: 'Kinetoscope Runs' }) });
  const listed = pane.locator('.monaco-list-row', { hasText: 'work.py' });
  const panel = code.webview();
  const row = panel.locator('#regions tr[data-region="0"]');
  const comparedSwitch = panel.getByRole('checkbox', { name: /^Compared with the run of \d/ });

  const change = async (times) => {
    await code.goTo(TIMES_LINE);
    await page.keyboard.press('Shift+End');
    await page.keyboard.insertText(`TIMES = ${times}`);
  };
  const profile = async (pattern) => {
    await code.lens('▷ Profile').click();
    return (await code.hint(REGION, pattern)).hint;
  };

  await stage.step('before', async () => {
    await code.lens('▷ Profile').waitFor();
    await profile(/^CPU \d/);
    await page.keyboard.press('Escape');
    assert.doesNotMatch((await code.line(REGION)).hint, /[▲▼]/);
    await code.lens('Details').click();
    await panel.locator('#lanes-chart svg.lanes').waitFor();
    assert.equal(await comparedSwitch.count(), 0);
  });

  await stage.step('slower', async () => {
    await change(4000);
    console.log(await profile(/^CPU [^▲]* ▲[\d.]+×/));
  });

  await stage.step('details: off', async () => {
    await comparedSwitch.waitFor();
    assert.equal(await comparedSwitch.isChecked(), false);
    assert.equal(await panel.getByText('→').count(), 0);
  });

  await stage.step('details: on', async () => {
    await comparedSwitch.focus();
    await page.keyboard.press('Space');
    await panel.locator('#before-chart svg.lanes').waitFor();
    await panel.locator('#lanes-chart svg.lanes').waitFor();
    assert.match(await row.innerText(), /▲[\d.]+×/);
    const title = await row.locator('.compared').first().getAttribute('title');
    assert.match(title, /^[\d.]+( µs| ms)? → [\d.]+ m?s$/);
    assert.match(await panel.locator('#compared-notes').innerText(), /Changed since: .*work\.py\./);
    await panel.locator('#lanes h4', { hasText: 'Now' }).scrollIntoViewIfNeeded();
  });

  await stage.step('any two of the list', async () => {
    await comparedSwitch.focus();
    await page.keyboard.press('Space');
    await panel.locator('#before-chart').waitFor({ state: 'detached' });
    await pane.locator('.pane-header').click();
    // From the older one, too, the newer is what is shown.
    await listed.nth(1).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Compare with…' }).hover(); // it takes no click right after it was opened
    await page.keyboard.press('Enter');
    await code.choice('work.py').click();
    await panel.locator('#before-chart svg.lanes').waitFor();
    assert.equal(await comparedSwitch.isChecked(), true);
    assert.match(await row.innerText(), /▲[\d.]+×/);
  });

  // The last one is that of the other scenarios.
  for (const theme of THEMES) {
    await stage.step(`hover and Details in ${theme}`, async () => {
      await code.set({ 'workbench.colorTheme': theme });
      const text = await code.hoverText('with', REGION, /Compared with the run before the code changed/);
      assert.match(text, /before\s+now\s+change/);
      assert.match(text, /CPU total\s+[\d.]+ (µs|ms)\s+[\d.]+ m?s\s+[\d.]+× to [\d.]+×\s+slower/);
    });
    await code.leave();
  }

  await stage.step('pinned', async () => {
    await page.locator('.tab', { hasText: 'Kinetoscope: ' }).getByLabel('Close').click();
    await page.locator('.tab', { hasText: 'work.py' }).first().click();
    await code.command('Kinetoscope: Pin as Baseline');
    await code.runStatus(/CPU only · baseline \d\d:\d\d/);
    await code.hint(REGION, /^CPU [^▲▼]*$/); // it is the baseline itself
    assert.equal(baselines().length, 1);
  });

  await stage.step('faster than the pinned one', async () => {
    await change(90);
    await profile(/^CPU [^▼]* ▼\d+(×| %)/);
    await code.hoverText('with', REGION, /Compared with the pinned baseline/);
    await code.leave();
  });

  await stage.step('in the list of runs', async () => {
    await listed.filter({ hasText: 'baseline' }).waitFor();
    assert.equal(await listed.count(), 3);
    await listed.filter({ hasText: 'baseline' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Unpin Baseline' }).waitFor();
    await stage.picture(' menu');
    await page.keyboard.press('Escape');
  });

  await stage.step('unpinned', async () => {
    await page.locator('.tab', { hasText: 'work.py' }).first().click();
    await code.command('Kinetoscope: Unpin Baseline');
    await until('no baseline', () => baselines().length === 0);
    await code.runStatus(/CPU only$/);
  });
};
