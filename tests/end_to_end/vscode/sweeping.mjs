// The picker of Profile with…: arguments are given a name. A sweep: asked for there, cancelled in its second half, and shown in Details, where a click shows a
// setting at the lines.
import assert from 'node:assert/strict';

const THEMES = ['Default High Contrast', 'Default High Contrast Light', 'Default Light Modern', 'Default Dark Modern'];

const SCRIPT = `import argparse, time
import torch
from torch.profiler import record_function

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=8)
size = parser.parse_args().size
if size > 9000:
    time.sleep(600)
for _ in range(9):
    with record_function("product"):
        torch.ones(size, size) @ torch.ones(size, size)
`;

export default async (stage) => {
  stage.write('product.py', SCRIPT);
  const code = await stage.vscode({ file: 'product.py' });
  const { page } = code;

  await stage.step('arguments get a name', async () => {
    await code.lens('⌄').click();
    await code.choice('Other Arguments…').click();
    await page.getByText("The script's arguments").waitFor(); // until then another field takes the text
    await code.input().fill('--size 9');
    await page.keyboard.press('Enter');
    await code.hint('record_function("product")', /^CPU /);
    await code.lens('⌄').click();
    await code.choice('product.py --size 9').hover();
    await code.choice('product.py --size 9').getByRole('button', { name: 'Give These Arguments a Name' }).click();
    await page.getByText('A name for these arguments').waitFor(); // until then the list's own field takes the text
    await code.input().fill('small');
    await page.keyboard.press('Enter');
    await code.choice('small: product.py --size 9').waitFor();
    await stage.picture(' offered');
    await page.keyboard.press('Escape');
    await code.lens('⌄').click();
    await code.choice('small: product.py --size 9').hover();
    await code.choice('small: product.py --size 9').getByRole('button', { name: 'Forget This Name' }).click();
    await code.choice('small: product.py --size 9').waitFor({ state: 'detached' });
    await code.choice('product.py --size 9').waitFor();
    await page.keyboard.press('Escape');
  });

  await stage.step('asked for', async () => {
    await code.lens('⌄').click();
    await code.choice('Sweep…').click();
    await page.getByText('Sweep (1/2)').waitFor(); // until then the list's own field takes the text
    await code.input().fill('size');
    await page.getByText('size does not say what to vary').waitFor();
    await stage.picture(' refused');
    await code.input().fill('size=8,600,9001');
    await page.keyboard.press('Enter');
    await code.choice('Run each setting once').click();
  });

  await stage.step('cancelled in the last setting', async () => {
    await code.toast('run 3 of 3, size=9001: torch imported').waitFor();
    await code.toast('Profiling product.py').getByText('Cancel', { exact: true }).click();
    await code.status('the run was cancelled').waitFor();
  });

  const panel = code.webview();
  const rows = panel.locator('#sweep tr[data-setting]');

  await stage.step('shown in Details with what is done', async () => {
    await panel.locator('#sweep .sweep-chart svg').waitFor();
    assert.match(await panel.locator('#sweep h1').innerText(), /product\.py --size 9, 2 of 3 settings, 2 of 3 runs$/);
    assert.match(await panel.locator('#sweep .notes').innerText(), /The sweep was cancelled after 2 runs/);
    assert.match(await rows.first().innerText(), /^product\s+11\s+8\s/);
    assert.equal(await rows.count(), 2);
  });

  await stage.step('a setting that is clicked is shown at the lines', async () => {
    const time = /([\d.]+ [mµ]s)/;
    for (const [index, size] of [
      [1, 600],
      [0, 8],
    ]) {
      await rows.nth(index).click();
      await code.lens(`product.py --size ${size} · size=${size} of the sweep`).waitFor();
      const [, shown] = time.exec(await rows.nth(index).innerText());
      // Calls that took very different times are a range.
      await code.hint(
        'record_function("product")',
        new RegExp(`^CPU (${shown.replace('.', '\\.')}|[\\d.]+( [mµ]s)?–)`),
      );
    }
    assert.equal(await rows.nth(0).getAttribute('aria-selected'), 'true');
    assert.equal(await rows.nth(1).getAttribute('aria-selected'), null);
  });

  for (const theme of THEMES) {
    await stage.step(theme, async () => {
      await code.set({ 'workbench.colorTheme': theme });
      await code.hover('with', 'record_function("product")');
      await stage.picture(' hover');
      await code.leave();
    });
  }

  await stage.step('Details of a run are shown in its place, and the sweep again', async () => {
    await code.lens('Details').click();
    await panel.locator('#run #regions tr[data-region]').first().waitFor();
    await panel.locator('#sweep').waitFor({ state: 'hidden' });
    await code.command('Kinetoscope: Show Last Sweep');
    await panel.locator('#sweep h1').waitFor();
    await panel.locator('#run').waitFor({ state: 'hidden' });
  });
};
