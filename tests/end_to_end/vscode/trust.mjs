// A workspace that is not trusted: regions are shown, and nothing of it is started before it is trusted.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { until } from './waiting.mjs';

const SCRIPT = `import torch
from torch.profiler import record_function

open("ran.txt", "w").close()
for _ in range(8):
    with record_function("step"):
        torch.ones(64, 64).sum()
`;

export default async (stage) => {
  stage.write('script.py', SCRIPT);
  const python = stage.write(
    'python',
    `#!/bin/sh\ntouch "${stage.workspace}/started.txt"\nexec "${stage.given.interpreter}" "$@"\n`,
  );
  fs.chmodSync(python, 0o755);
  stage.write('.vscode/settings.json', JSON.stringify({ 'kinetoscope.interpreter': './python' }));
  const isThere = (name) => fs.existsSync(path.join(stage.workspace, name));
  const code = await stage.vscode({ file: 'script.py', isTrusted: false });
  const { page } = code;

  await stage.step('regions are shown', async () => {
    await code.lens('▷ Profile').waitFor();
    await code.status('Restricted Mode').waitFor();
    assert.ok(!isThere('started.txt'), "the workspace's interpreter was started");
  });

  await stage.step('a click is refused', async () => {
    await code.lens('▷ Profile').click();
    await code.toast('Profiling runs the code of this workspace, which is not trusted.').waitFor();
    await page.keyboard.press('F1');
    await code.input().fill('>Kinetoscope: ');
    const offered = page.locator('.quick-input-widget .monaco-list-row');
    await offered.filter({ hasText: 'Show Log' }).waitFor();
    assert.equal(await offered.filter({ hasText: 'Profile' }).count(), 0);
    await page.keyboard.press('Escape');
    assert.ok(!(await code.toastTexts()).some((text) => text.startsWith('Profiling step')));
    assert.ok(!isThere('ran.txt'), 'the script ran');
    assert.ok(!isThere('started.txt'), "the workspace's interpreter was started");
  });

  await stage.step('trusted it runs', async () => {
    await code.toast('not trusted').getByText('Manage Workspace Trust').click();
    await page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).first().click();
    await until("the workspace's interpreter", () => isThere('started.txt'));
    await page.locator('.tab', { hasText: 'script.py' }).click();
    await code.lens('▷ Profile').click();
    await code.hint('record_function("step")', /^CPU /);
    assert.ok(isThere('ran.txt'));
  });
};
