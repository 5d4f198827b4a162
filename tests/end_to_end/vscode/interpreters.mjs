// Interpreters that will not do, one that does, and a server that dies.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { processesWith } from './processes.mjs';
import { until } from './waiting.mjs';

const SELECT = 'Choose another interpreter.';

export default async (stage) => {
  stage.bring('examples/matmul_add.py', 'chosen.py');
  const bare = path.join(stage.workspace, '.venv');
  execFileSync(stage.given.interpreter, ['-m', 'venv', '--without-pip', bare]);
  fs.symlinkSync(path.dirname(path.dirname(stage.given.interpreter)), path.join(stage.workspace, '.gpu'));
  const code = await stage.vscode({
    file: 'chosen.py',
    settings: { 'kinetoscope.interpreter': '/nowhere/python' },
  });
  const { page } = code;
  const servers = () => processesWith(path.join(code.server.folder, 'extensions', 'kinetoscope'));

  await stage.step('an interpreter that is not there', async () => {
    const toast = code.toast(`There is no Python that runs at /nowhere/python. ${SELECT}`);
    await toast.getByText('Choose Interpreter…').click();
    await code.choice('.gpu of the workspace').waitFor();
    assert.equal(await code.lens('▷ Profile').count(), 0);
    await until('no server: those that there are were found without', () => servers().length === 0);
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
    await code.command('File: Revert File');
    await code.lens(/^▷$/).waitFor({ state: 'detached' });
  });

  await stage.step('without torch another one is offered', async () => {
    await code.set({ 'kinetoscope.interpreter': '${workspaceFolder}/.venv/bin/python' });
    await code.languageStatus(/running.*\.venv\/bin\/python/);
    await page.keyboard.press('Escape');
    await code.lens('▷ Profile').click();
    const toast = code.toast(`${bare}/bin/python has no torch`);
    await toast.getByText('Choose Interpreter…').waitFor();
    await stage.picture(' toast');
    await toast.getByText('Choose Interpreter…').click();
    await code.choice('Enter a path…').waitFor();
    const rows = await page.locator('.quick-input-widget .monaco-list-row').allInnerTexts();
    assert.match(rows[0], /\.gpu of the workspace\s*Python 3\.\d+\.\d+ · torch 2\./);
    assert.match(rows.at(-1), /Enter a path…/);
    await code.choice('.venv of the workspace').locator('.codicon-check').waitFor();
  });

  await stage.step('in dark', async () => {
    await page.keyboard.press('Escape');
    await code.set({ 'workbench.colorTheme': 'Default Dark Modern' });
    await code.command('Kinetoscope: Choose Interpreter…');
    await code.choice('.gpu of the workspace').waitFor();
  });

  await stage.step('and the run goes on in the one that is chosen', async () => {
    await page.keyboard.press('Escape');
    await code.lens('▷ Profile').click();
    await code.choiceOf(code.toast('has no torch'), 'Choose Interpreter…', '.gpu of the workspace');
    await code.choice('.gpu of the workspace').click();
    await code.hint('record_function("matmul_add")', /CPU \d/);
    const settings = JSON.parse(fs.readFileSync(path.join(stage.workspace, '.vscode', 'settings.json'), 'utf8'));
    assert.equal(settings['kinetoscope.interpreter'], '${workspaceFolder}/.gpu/bin/python');
    await code.lens('▷ Profile').click();
    await code.toast('Profiling').waitFor();
    await code.toast('Profiling').waitFor({ state: 'detached' });
    const failed = (await code.toastTexts()).filter((text) => text.includes('has no torch'));
    assert.equal(failed.length, 1);
  });
};
