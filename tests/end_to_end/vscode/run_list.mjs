// The view of runs: what was measured, and what can be done with it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { ORIGIN, traceLoaded } from '../perfetto_ui.mjs';
import { until } from './waiting.mjs';

const THEMES = ['Default High Contrast', 'Default High Contrast Light', 'Default Light Modern', 'Default Dark Modern'];

const SCRIPT = `import torch
from torch.profiler import record_function

for _ in range(8):
    with record_function("work"):
        torch.ones(64, 64).sum()
`;

export default async (stage) => {
  stage.write('listed.py', SCRIPT);
  const code = await stage.vscode({ file: 'listed.py' });
  const { page } = code;
  const pane = page.locator('.pane', { has: page.locator('.pane-header', { hasText: 'Kinetoscope Runs' }) });
  const rows = pane.locator('.monaco-list-row');
  const texts = async () => (await rows.allInnerTexts()).map((text) => text.replaceAll('\n', ' '));
  const listed = (...wanted) =>
    until(
      `the runs ${wanted.join(', ')}`,
      async () => {
        const found = await texts();
        return found.length === wanted.length && wanted.every((pattern, index) => pattern.test(found[index]));
      },
      { otherwise: texts },
    );
  const act = async (row, title) => {
    await row.hover();
    await row.getByRole('button', { name: title }).click();
  };
  const panel = code.webview();
  const runs = path.join(stage.cache, 'kinetoscope', 'runs');

  await stage.step('a run of another day', async () => {
    await code.lens('▷ Profile').waitFor();
    await pane.locator('.pane-header').click();
    await listed(
      /^\d+ \w+( \d{4})? train_mlp.py ?CUDA [\d.]+ (µs|ms) in step · \d\d:\d\d · --steps 100000.* · NVIDIA H200/,
    );
  });

  await stage.step('a new one comes by itself', async () => {
    await code.lens('▷ Profile').click();
    await listed(/^\d\d:\d\d listed.py ?CPU [\d.–]+ (µs|ms) in work · CPU only/, /train_mlp.py/);
  });

  await stage.step('its details', async () => {
    await page.keyboard.press('Escape');
    await act(rows.nth(1), 'Show at the Lines');
    await rows.nth(1).click();
    await panel.locator('h1', { hasText: 'train_mlp.py' }).waitFor();
    await rows.nth(0).click();
    await panel.locator('h1', { hasText: 'listed.py' }).waitFor();
  });

  await stage.step('at the lines', async () => {
    await act(rows.nth(1), 'Show at the Lines');
    await page.locator('.tab.active', { hasText: 'train_mlp.py' }).waitFor();
    await code.hint('record_function("step")', /^CUDA /);
    await until('the other file', async () => {
      await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'listed.py' }).dblclick();
      return page.locator('.tab.active[data-resource-name="listed.py"]').isVisible();
    });
    await code.hint('with record_function("work")', /^CPU /);
  });

  for (const theme of THEMES) {
    await stage.step(theme, async () => {
      await code.set({ 'workbench.colorTheme': theme });
      await rows.nth(1).hover();
    });
  }

  await stage.step('its trace', async () => {
    const opening = stage.context.waitForEvent('page');
    await act(rows.nth(1), 'Open Trace in Perfetto');
    const trace = await opening;
    await traceLoaded(await until('its frame', () => trace.frames().find((each) => each.url().startsWith(ORIGIN))));
    await trace.close();
  });

  await stage.step('pinned', async () => {
    const stored = () => fs.readdirSync(runs).filter((run) => fs.existsSync(path.join(runs, run, 'pinned'))).length;
    await act(rows.nth(1), 'Pin');
    await rows.nth(1).locator('.codicon-pinned').first().waitFor();
    assert.equal(stored(), 1);
    await act(rows.nth(1), 'Unpin');
    await until('no pin', () => stored() === 0);
  });

  await stage.step('deleted', async () => {
    await act(rows.nth(0), 'Delete');
    await code.dialog().getByText('Delete the run listed.py?').waitFor();
    await stage.picture(' asked');
    await code.dialog().getByRole('button', { name: 'Delete' }).click();
    await listed(/train_mlp.py/);
    await code.hint('with record_function("work")', /^$/);
    assert.equal(fs.readdirSync(runs).length, 1);
  });

  const [run] = fs.readdirSync(runs);
  const kept = path.join(stage.cache, run);
  await stage.step('deleted by another program', async () => {
    fs.cpSync(path.join(runs, run), kept, { recursive: true });
    const env = { ...process.env, XDG_CACHE_HOME: stage.cache };
    const program =
      "from kinetoscope_core.cli.main import main; main(['runs', *__import__('sys').argv[1:], '--delete'])";
    execFileSync(stage.given.interpreter, ['-c', program, run], { env });
    await pane.getByText('Nothing has been measured yet.').waitFor();
  });

  await stage.step('stored by another program', async () => {
    fs.renameSync(kept, path.join(runs, run));
    await listed(/train_mlp.py/);
  });
};
