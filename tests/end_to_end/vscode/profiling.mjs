// The example from opening it to its times, and what edits do to them.
import assert from 'node:assert/strict';
import { since } from './stage.mjs';
import { until } from './waiting.mjs';

const REGION = 'with record_function("matmul_add")';
const REGION_LINE = 45;
/** The median with self, or from where to where the middle half of the calls goes. */
const CPU_TIMES = /^CPU ([\d.]+ (µs|ms|s) \([\d.]+ (µs|ms|s)\)|[\d.]+( (µs|ms|s))?–[\d.]+ (µs|ms|s))$/;

export default async (stage) => {
  stage.bring('examples/matmul_add.py');
  const code = await stage.vscode({ file: 'matmul_add.py' });
  const { page } = code;

  await stage.step('the play menu has it', async () => {
    await code.lens('▷ Profile').waitFor();
    await page.locator('.editor-actions').getByLabel('Run or Debug...').click();
    await page.locator('.monaco-menu').getByText('Profile with Arguments…').waitFor();
    await page.locator('.monaco-menu').getByText('Profile File').waitFor();
  });

  const started = Date.now();
  await stage.step('a click on Profile', async () => {
    await page.keyboard.press('Escape');
    await code.lens('▷ Profile').click();
    await code.toast('Profiling matmul_add in matmul_add.py: running').getByText('Cancel', { exact: true }).waitFor();
  });

  await stage.step('times at the line', async () => {
    const line = await code.hint(REGION, CPU_TIMES);
    console.log(`click to times: ${since(started)}`);
    assert.equal(line.number, REGION_LINE);
    assert.equal((await code.lines()).filter(({ hint }) => hint).length, 1);
    await code.lens('Trace').waitFor();
    await code.lens('Details').waitFor();
    await code.toast('Profiling').waitFor({ state: 'detached' });
    const phases = (await code.toastTexts()).map((text) => text.replace('Profiling matmul_add in matmul_add.py: ', ''));
    // VS Code shows one in a tenth of a second: all that comes after torch may be over before it would say so, since the
    // profiler starts in 0.02 s. Which phases there are, and in which order, tests/runner/test_endings.py says.
    const expected = ['running', 'torch imported'];
    assert.deepEqual(
      expected.filter((phase) => phases.includes(phase)),
      expected,
      `phases: ${phases.join(', ')}`,
    );
    await code.runStatus(/CPU only$/);
  });

  await stage.step('the whole story on hovering', async () => {
    const box = await code.hover('"matmul_add"', REGION);
    const text = await box.innerText();
    assert.match(text, /CPU total/);
    assert.match(text, /No CUDA times: /);
    for (const link of ['Profile again', 'Trace']) await box.getByText(link, { exact: true }).waitFor();
    await box.getByText('Details', { exact: true }).click();
    await code.webview().locator('#no-cuda').getByText('No CUDA times: torch').waitFor();
    await code.webview().locator('#regions tr[aria-selected="true"]', { hasText: 'matmul_add' }).waitFor();
  });

  await stage.step('a bar by its share', async () => {
    await page.locator('.tab', { hasText: 'Kinetoscope: ' }).getByLabel('Close').click();
    const styles = async () => (await code.bars()).map(({ style }) => style).join();
    await until('one solid bar', async () => (await styles()) === 'solid');
  });

  await stage.step('an edit above moves the times', async () => {
    await code.append(9, '\nimport os');
    const line = await until('the times one line further down', async () => {
      const { number, hint } = await code.line(REGION);
      return number === REGION_LINE + 1 && hint && { number, hint };
    });
    assert.match(line.hint, CPU_TIMES);
  });

  await stage.step('an edit inside makes them stale', async () => {
    await code.append(REGION_LINE + 2, '\nrun(w, x, b)');
    await code.hint(REGION, /^~ CPU /);
    await until('a dotted bar', async () => (await code.bars()).some(({ style }) => style === 'dotted'));
    await code.runStatus(/CPU only ~$/);
    const box = await code.hover('"matmul_add"', REGION);
    assert.match(await box.innerText(), /Stale: its code has changed since it was measured/);
  });

  await stage.step('undone they are fresh', async () => {
    await code.leave();
    while (await code.line('run(w')) await page.keyboard.press('Control+z'); // typing is undone in pieces
    await code.hint(REGION, CPU_TIMES);
    await until('a solid bar', async () => (await code.bars()).some(({ style }) => style === 'solid'));
  });
};
