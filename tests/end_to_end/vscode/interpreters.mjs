// Pythons that cannot run the server, one that can, without a reload; the server killed, and taken from elsewhere.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { processesWith } from './processes.mjs';
import { scenario } from './stage.mjs';
import { until } from './waiting.mjs';

const SCRIPT = `import torch
from torch.profiler import record_function

for _ in range(8):
    with record_function("step"):
        torch.ones(64, 64).sum()
`;

/** A real Python 3.9, if this machine has one. */
function oldPython() {
  const versions = path.join(os.homedir(), '.pyenv', 'versions');
  const old = fs.existsSync(versions) ? fs.readdirSync(versions).find((name) => name.startsWith('3.9.')) : undefined;
  return old && path.join(versions, old, 'bin', 'python3');
}

await scenario(async (stage) => {
  stage.write('steps.py', SCRIPT);
  const missing = path.join(stage.given.scratch, 'nowhere', 'python3');
  const code = await stage.vscode({ file: 'steps.py', settings: { 'kinetoscope.interpreter': missing } });
  const { page } = code;
  const serve = path.join(code.server.folder, 'extensions');
  const servers = () => processesWith(serve).filter((pid) => processesWith('serve.py').includes(pid));

  await stage.step('one that is missing', async () => {
    const toast = code.toast(`There is no Python that runs at ${missing}. Select another interpreter.`);
    await toast.getByText('Select Interpreter').waitFor();
    await toast.getByText('Open Settings').click();
    await page.locator('.settings-editor').getByText('Interpreter').first().waitFor();
    assert.deepEqual(servers(), []);
  });

  const old = oldPython();
  if (old) {
    await stage.step('one that is too old', async () => {
      await code.set({ 'kinetoscope.interpreter': old });
      await code.toast(`is Python 3.9`).getByText('Select Interpreter').waitFor();
    });
  } else {
    console.log('no Python 3.9 here: that step was not played');
  }

  await stage.step('one that works, without a reload', async () => {
    await code.set({ 'kinetoscope.interpreter': stage.given.interpreter });
    await page.locator('.tab', { hasText: 'steps.py' }).click();
    await code.lens('▷ Profile').click();
    await code.hint('record_function("step")', /^CPU /);
    assert.equal(servers().length, 1);
  });

  await stage.step('a server that is killed comes back', async () => {
    const [killed] = servers();
    process.kill(killed, 'SIGKILL');
    await until('another one', () => servers().length === 1 && servers()[0] !== killed);
    await code.lens('Details').waitFor();
    await code.hint('record_function("step")', /^CPU /);
  });

  await stage.step('the server that is installed there', async () => {
    const file = path.join(code.server.folder, 'user-data', 'User', 'settings.json');
    const settings = { ...code.server.settings, 'kinetoscope.importStrategy': 'fromEnvironment' };
    fs.writeFileSync(file, JSON.stringify(settings));
    const installed = `${stage.given.interpreter} -I -m kinetoscope_server`;
    await until('it', () => processesWith(installed).length > 0 && servers().length === 0);
    await code.lens('Details').waitFor();
    await code.lens('▷ Profile').click();
    await until('a run', async () => (await code.toastTexts()).some((text) => text.startsWith('Profiling step')));
    await code.hint('record_function("step")', /^CPU /);
  });
});
