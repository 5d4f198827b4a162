// The picker of Profile with…: arguments are given a name. A sweep: asked for there, cancelled in its second half, and shown as a page with its chart.
import assert from 'node:assert/strict';
import { until } from './waiting.mjs';

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
    await code.command('Kinetoscope: Profile with Arguments…');
    await code.input().fill('--size 9');
    await page.keyboard.press('Enter');
    await code.hint('record_function("product")', /^CPU /);
    await code.lens('⌄').click();
    await code.choice('product.py --size 9').hover();
    await code.choice('product.py --size 9').getByRole('button', { name: 'Give These Arguments a Name' }).click();
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

  await stage.step('shown with what is done', async () => {
    const frames = () => page.frames().filter((frame) => frame.url().includes('fake.html'));
    const image = await until('the chart', async () => {
      for (const frame of frames()) {
        const found = frame.locator('img[alt^="Totals per call"]');
        if (!(await found.count())) continue;
        const seen = await found.evaluate((each) => ({ width: each.naturalWidth, text: document.body.innerText }));
        if (seen.width > 100) return seen; // it is drawn
      }
      return null;
    });
    assert.match(image.text, /The sweep was cancelled after 2 runs/);
    assert.match(image.text, /product\s+11\s+8\s/);
  });
};
