// A trace from elsewhere: from the Explorer, at the file that has its regions, and as an editor.
import fs from 'node:fs';
import path from 'node:path';
import { ORIGIN, traceLoaded } from '../perfetto_ui.mjs';
import { until } from './waiting.mjs';

const THEMES = ['Default High Contrast', 'Default High Contrast Light', 'Default Light Modern', 'Default Dark Modern'];
const TRACE = 'small.pt.trace.json.gz';

export default async (stage) => {
  stage.write('empty.py', 'import torch\n');
  const recorded = path.join(stage.given.root, 'tests/traces/h200/matmul_add_64_warm.json.gz');
  fs.copyFileSync(recorded, path.join(stage.workspace, TRACE));
  const code = await stage.vscode({ file: 'empty.py' });
  const { page } = code;
  const file = page.locator('.explorer-folders-view .monaco-list-row', { hasText: TRACE });
  const menu = page.locator('.context-view .monaco-menu');
  /** The web view of ours, of several, that shows this. */
  const webview = (selector, text) =>
    until(`a web view with ${text}`, async () => {
      for (const frame of page.frames()) {
        if (!frame.url().includes('extensionId=kinetoscope.kinetoscope')) continue;
        for (const inner of frame.childFrames()) {
          if (await inner.locator(selector, { hasText: text }).count()) return inner;
        }
      }
      return null;
    });

  const choose = async (title) => {
    await file.click({ button: 'right' });
    const entry = menu.getByText(title, { exact: true });
    // A menu takes no click right after it was opened.
    await until('the end of the menu', async () => (await entry.count()) === 0 || (await entry.click(), false));
  };
  const load = () => choose('Load Trace');

  await stage.step('from the Explorer, with no source there', async () => {
    await code.lens('▷ Profile file').waitFor();
    await load();
    await code
      .toast(`Loaded ${TRACE}: its 1 region is not in any file here.`)
      .getByText('Choose Source File…')
      .waitFor();
    await webview('h1', TRACE);
    await stage.picture(' itself');
    await page.keyboard.press('Escape');
  });

  await stage.step('the file that has its regions is found', async () => {
    stage.bring('examples/matmul_add.py');
    await load();
    await code.toast(`Loaded ${TRACE}: 1 of 1 region found in matmul_add.py.`).waitFor();
    await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'matmul_add.py' }).click();
    await code.hint('with record_function("matmul_add")', /^CUDA 4.00 µs/);
  });

  await stage.step('as an editor', async () => {
    await choose('Open With...');
    await page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Kinetoscope Trace' }).click();
    await webview('[role=status]', '1 of 1 region found in matmul_add.py.');
  });

  for (const theme of THEMES) {
    await stage.step(theme, async () => {
      await code.set({ 'workbench.colorTheme': theme });
      await page.locator('.tab', { hasText: TRACE }).first().click();
    });
  }

  await stage.step('from it to Perfetto', async () => {
    const opening = stage.context.waitForEvent('page');
    await (await webview('[role=status]', 'Loaded')).locator('#trace').click();
    const trace = await opening;
    await traceLoaded(await until('its frame', () => trace.frames().find((each) => each.url().startsWith(ORIGIN))));
    await trace.close();
  });
};
