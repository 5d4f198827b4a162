// What a newcomer is shown: the extension installed while VS Code runs, the walkthrough with its pages, the example that it
// opens, and the state of the server.
import assert from 'node:assert/strict';
import { since } from './stage.mjs';
import { until } from './waiting.mjs';

/** The steps of package.json, and what their pages say. */
const STEPS = {
  interpreter: 'It must be CPython 3.10 or newer and have torch 2.1 or newer.',
  example: 'Kinetoscope finds the regions of a file by reading it',
  profile: 'At 64 the GPU is idle while the CPU launches kernels',
  read: 'the time from entering the region to leaving it',
  trace: 'The upper tracks are the CPU',
};

export default async (stage) => {
  stage.write('empty.py', '# nothing to measure\n');
  stage.bring('examples/matmul_add.py');
  const code = await stage.step('VS Code without the extension', async () => {
    const opened = await stage.vscode({ file: 'matmul_add.py', extensions: null });
    await opened.textIsShown();
    console.log(`opened to text: ${since(opened.opened)}`);
    return opened;
  });
  const { page } = code;
  await stage.step('lenses and the run menu come when it is installed, without a reload', async () => {
    const started = Date.now();
    await code.install(stage.given.vsix);
    await code.lens('▷ Profile').waitFor();
    console.log(`installed to lenses: ${since(started)}`);
    await page.locator('.editor-actions').getByLabel('Profile File').waitFor();
  });
  const guide = page.locator('.gettingStartedContainer');
  const step = (id) => guide.locator(`.getting-started-step[data-step-id$="#${id}"]`);

  await stage.step('the state of the server', async () => {
    await code.clear('empty.py', { 'kinetoscope.prepare': 'off' });
    await code.languageStatus(/Kinetoscope: running/);
  });

  await stage.step('the walkthrough', async () => {
    await page.keyboard.press('Escape');
    await code.command('Welcome: Open Walkthrough...');
    await code.input().fill('Kinetoscope');
    await page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Get Started with Kinetoscope' }).click();
    await guide.getByText('CUDA and CPU times beside your record_function regions.').waitFor();
  });

  for (const [id, text] of Object.entries(STEPS)) {
    await stage.step(`its step ${id}`, async () => {
      await step(id).click();
      await code.webview('').getByText(text).waitFor();
      await step(id)
        .locator('.step-description-container a, .step-description-container .monaco-button')
        .first()
        .waitFor();
    });
  }

  await stage.step('what cannot be done yet says so', async () => {
    await step('profile').click();
    await step('profile').getByRole('button', { name: 'Profile with Arguments…' }).click();
    await code.toast('Open a Python file with record_function regions first.').getByText('Open the Example').waitFor();
    await stage.picture(' itself');
    await page.keyboard.press('Escape');
  });

  await stage.step('the example', async () => {
    await step('example').click();
    assert.equal(await step('example').locator('.codicon.complete').count(), 0);
    await step('example').getByRole('button', { name: 'Open the Example' }).click();
    await page.locator('.tab.active', { hasText: 'matmul_add.py' }).waitFor();
    await code.lens('▷ Profile').waitFor();
  });

  await stage.step('is a step that is done', async () => {
    await page.locator('.tab', { hasText: 'Walkthrough: Kinetoscope' }).click();
    await step('example').locator('.codicon.complete').waitFor();
    await page.locator('.tab', { hasText: 'matmul_add.py' }).click();
  });

  await stage.step('a changed example is kept', async () => {
    await code.append(1, ' changed');
    await page.keyboard.press('Control+s');
    const tab = page.locator('.tab', { hasText: 'matmul_add.py' });
    await tab.and(page.locator('.dirty')).waitFor({ state: 'detached' });
    await tab.getByLabel('Close').click();
    await tab.waitFor({ state: 'detached' });
    await code.command('Kinetoscope: Open the Example');
    await page.locator('.tab.active', { hasText: 'matmul_add.py' }).waitFor();
    await until('the change', () => code.line('changed'));
  });

  await stage.step('its steps are done once they were done, in whatever way, and not before', async () => {
    const done = (id) => step(id).locator('.codicon.complete');
    await page.locator('.tab', { hasText: 'Walkthrough: Kinetoscope' }).click();
    await step('profile').click();
    for (const id of ['interpreter', 'profile', 'read']) assert.equal(await done(id).count(), 0, id);
    await code.webview('').locator('img').first().waitFor();
    await stage.picture(' picture');
    await page.locator('.tab', { hasText: 'matmul_add.py' }).click();
    await code.lens('▷ Profile').click();
    await code.hint('record_function("matmul_add")', /^CPU /);
    await code.lens('Details').click();
    await page.locator('.tab', { hasText: 'Walkthrough: Kinetoscope' }).click();
    for (const id of ['interpreter', 'profile', 'read']) await done(id).waitFor();
    await page.locator('.tab', { hasText: 'matmul_add.py' }).first().click();
  });
};
