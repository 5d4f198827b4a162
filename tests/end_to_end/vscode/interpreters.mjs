// Interpreters that will not do, one that does, and a server that dies.
import assert from 'node:assert/strict';
import path from 'node:path';
import { processesWith } from './processes.mjs';
import { until } from './waiting.mjs';

const SELECT = 'Select another interpreter.';

export default async (stage) => {
  stage.bring('examples/matmul_add.py');
  const code = await stage.vscode({
    file: 'matmul_add.py',
    settings: { 'kinetoscope.interpreter': '/nowhere/python' },
  });
  const { page } = code;
  const servers = () => processesWith(path.join(code.server.folder, 'extensions', 'kinetoscope'));

  await stage.step('an interpreter that is not there', async () => {
    const toast = code.toast(`There is no Python that runs at /nowhere/python. ${SELECT}`);
    await toast.getByText('Select Interpreter').waitFor();
    assert.equal(await code.lens('▷ Profile').count(), 0);
    assert.deepEqual(servers(), []);
  });

  await stage.step('one that is too old', async () => {
    const { old } = stage.given;
    if (!old) return console.log('          (there is no Python before 3.10 on this machine)');
    await code.set({ 'kinetoscope.interpreter': old });
    await code.toast(`Kinetoscope's server needs 3.10 or newer. ${SELECT}`).waitFor();
    return assert.deepEqual(servers(), []);
  });

  await stage.step('one that will do', async () => {
    await code.set({ 'kinetoscope.interpreter': stage.given.interpreter });
    await code.lens('▷ Profile').waitFor();
    assert.equal(servers().length, 1);
  });

  await stage.step('a running server is replaced, and nothing else is said', async () => {
    await code.set({ 'kinetoscope.interpreter': '/nowhere/python3' });
    await code.toast(`There is no Python that runs at /nowhere/python3. ${SELECT}`).waitFor();
    await code.set({ 'kinetoscope.interpreter': stage.given.interpreter });
    await code.lens('▷ Profile').waitFor();
    const said = (await code.toastTexts()).filter((text) => !text.includes(SELECT));
    assert.deepEqual(said, []);
  });

  await stage.step('a server that is killed comes back', async () => {
    const [killed] = servers();
    process.kill(killed, 'SIGKILL');
    await until('another one', () => servers().some((pid) => pid !== killed));
    await code.append(46, '\nwith record_function("more"):\nrun(x, w, b)');
    await code.lens(/^▷$/).waitFor();
  });

  await stage.step('restarted by hand', async () => {
    const [before] = servers();
    await code.command('Kinetoscope: Restart Server');
    await until('another one', () => servers().length === 1 && servers()[0] !== before);
    await code.lens(/^▷$/).waitFor();
    await page.keyboard.press('Control+z');
  });
};
