// Before and after a change: the arrow at the line, both columns in the hover, and a baseline that is pinned. All of it is
// run here, on the CPU, with a change that no noise of one process can be.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { until } from './waiting.mjs';

const SCRIPT = `import torch
from torch.profiler import record_function

TIMES = 200
a = torch.ones(64, 64)

for step in range(20):
    with record_function("work"):
        for _ in range(TIMES):
            (a @ a).relu()
`;
const REGION = 'with record_function("work"):';
const TIMES_LINE = 4;

export default async (stage) => {
  stage.write('work.py', SCRIPT);
  const settings = { 'kinetoscope.saveBeforeRun': 'always', 'kinetoscope.prepare': 'off' };
  const code = await stage.vscode({ file: 'work.py', settings });
  const { page } = code;
  const runs = path.join(stage.cache, 'kinetoscope', 'runs');
  const baselines = () => fs.readdirSync(runs).filter((run) => fs.existsSync(path.join(runs, run, 'baseline')));

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
    await profile(/^CPU [\d.–]+ (µs|ms)/);
    await page.keyboard.press('Escape');
    assert.doesNotMatch((await code.line(REGION)).hint, /[▲▼]/);
  });

  await stage.step('slower', async () => {
    await change(8000);
    console.log(await profile(/^CPU [\d.–]+ ms ▲[\d.]+×/));
  });

  for (const theme of ['Default Dark Modern', 'Default Light Modern']) {
    await stage.step(`hover in ${theme}`, async () => {
      await code.set({ 'workbench.colorTheme': theme });
      const text = await code.hoverText('with', REGION, /Compared with the run before the code changed/);
      assert.match(text, /before\s+now\s+change/);
      assert.match(text, /CPU total\s+[\d.]+ (µs|ms)\s+[\d.]+ ms\s+[\d.]+× to [\d.]+×\s+slower/);
    });
    await code.leave();
  }

  await stage.step('pinned', async () => {
    await code.command('Kinetoscope: Pin as Baseline');
    await code.runStatus(/CPU only · baseline \d\d:\d\d/);
    await code.hint(REGION, /^CPU [^▲▼]*$/); // it is the baseline itself
    assert.equal(baselines().length, 1);
  });

  await stage.step('faster than the pinned one', async () => {
    await change(180);
    await profile(/^CPU [\d.–]+ (µs|ms) ▼\d+(×| %)/);
    await code.hoverText('with', REGION, /Compared with the pinned baseline/);
    await code.leave();
  });

  await stage.step('in the list of runs', async () => {
    const pane = page.locator('.pane', { has: page.locator('.pane-header', { hasText: 'Kinetoscope Runs' }) });
    await pane.locator('.pane-header').click();
    await pane.locator('.monaco-list-row', { hasText: 'baseline' }).waitFor();
    assert.equal(await pane.locator('.monaco-list-row').count(), 3);
    await pane.locator('.monaco-list-row', { hasText: 'baseline' }).click({ button: 'right' });
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
