// A workspace that is not trusted: its regions are shown, nothing of it is started; and once it is trusted, it runs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { scenario } from './stage.mjs';
import { until } from './waiting.mjs';

const SCRIPT = `import torch
from torch.profiler import record_function

open("ran.txt", "w").close()
for _ in range(8):
    with record_function("step"):
        torch.ones(64, 64).sum()
`;

await scenario(async (stage) => {
  stage.write('marks.py', SCRIPT);
  const started = path.join(stage.workspace, 'started.txt');
  const itsPython = stage.write('python', `#!/bin/sh\n: > '${started}'\nexec '${stage.given.interpreter}' "$@"\n`);
  fs.chmodSync(itsPython, 0o755);
  stage.write('.vscode/settings.json', JSON.stringify({ 'kinetoscope.interpreter': itsPython }));
  const exists = (name) => fs.existsSync(path.join(stage.workspace, name));

  const code = await stage.vscode({ file: 'marks.py', isTrusted: false });
  const { page } = code;

  await stage.step('regions are shown', async () => {
    await code.status('Restricted Mode').waitFor();
    await code.lens('▷ Profile').waitFor();
  });

  await stage.step('nothing runs', async () => {
    await code.lens('▷ Profile').click();
    await code.toast('Profiling runs the code of this workspace, which is not trusted.').waitFor();
    await page.keyboard.press('F1');
    await code.input().fill('>Kinetoscope: ');
    await page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Show Log' }).waitFor();
    const titles = await page.locator('.quick-input-widget .monaco-list-row').allInnerTexts();
    assert.deepEqual(
      titles.filter((title) => title.includes('Profile')),
      [],
    );
    await page.keyboard.press('Escape');
    assert.deepEqual([exists('ran.txt'), exists('started.txt')], [false, false]);
  });

  await stage.step('trusted, it runs in its own Python', async () => {
    await code.toast('which is not trusted').getByText('Manage Workspace Trust').click();
    await page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
    await until('the Python that the workspace names', () => exists('started.txt'));
    await page.locator('.tab', { hasText: 'marks.py' }).click();
    await code.lens('▷ Profile').click();
    await code.hint('record_function("step")', /^CPU /);
    assert.equal(exists('ran.txt'), true);
  });
});
