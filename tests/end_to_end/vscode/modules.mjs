// A model without a region: what its steps are made of, its modules by one click, as tree and icicle chart, by keyboard;
// and a region put around statements and taken out again.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { until } from './waiting.mjs';

const MODEL = `import torch
from torch import nn

class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(64, 256)
        self.down = nn.Linear(256, 64)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([MLP() for _ in range(3)])

    def forward(self, tokens):
        for layer in self.layers:
            tokens = layer(tokens)
        return tokens

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(12):
    loss = net(torch.randn(8, 64)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
`;
const LOOP_LINE = MODEL.split('\n').indexOf('for _ in range(12):') + 1;

export default async (stage) => {
  const file = stage.write('net.py', MODEL);
  const code = await stage.vscode({ file: 'net.py' });
  const { page } = code;
  const panel = code.webview();
  const rows = panel.locator('#regions tr[data-region] th');
  const chart = panel.locator('#modules-chart');
  const picked = chart.locator('[aria-selected="true"]');
  const closePanel = () => page.locator('.tab', { hasText: 'Kinetoscope: ' }).getByLabel('Close').click();

  await stage.step('a file without a region', async () => {
    await code.lens('▷ Profile file').click();
    const toast = code.toast('No record_function region ran. A step takes ');
    await toast.getByText('Profile modules', { exact: true }).waitFor();
    await stage.picture(' toast');
    await toast.getByText('Details', { exact: true }).click();
  });

  await stage.step('what its steps are made of', async () => {
    const phases = panel.locator('#contents .card', { hasText: 'Phases of' });
    for (const name of ['forward', 'backward', 'optimizer step', 'zero_grad']) {
      await phases.getByRole('rowheader', { name, exact: true }).waitFor();
    }
    await panel.locator('#contents .card', { hasText: 'Operators' }).getByText('aten::linear').waitFor();
    assert.equal(await panel.locator('#scroller').isVisible(), false);
    await panel.locator('#contents').getByText('Profile modules').waitFor();
  });

  await stage.step('one click on the lens of its class', async () => {
    await closePanel();
    await code.lens('▷ Profile modules').click();
    await code.hint('self.layers = ', /^layers\.\* ×3 CPU /);
    await code.hint('def forward(self, x)', /^layers\.\* ×3 CPU /);
    await code.hint('self.up = ', /^layers\.\*\.up ×3 CPU |^CPU /);
    await code.hint('def forward(self, tokens)', /^CPU /);
    await code.hint('net = Net()', /^CPU /);
  });

  await stage.step('the tree of its modules', async () => {
    const box = await code.hover('forward', 'def forward(self, tokens)');
    await box.getByText('Details', { exact: true }).first().click();
    await code.leave();
    await until('four rows', async () => (await rows.count()) === 4);
    assert.deepEqual((await rows.allInnerTexts()).map((text) => text.trim()).slice(0, 2), ['Net', '▸layers.* ×3']);
    await panel.locator('#regions').focus();
    await panel.locator('#regions tr[aria-selected="true"] th', { hasText: 'Net' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await rows.filter({ hasText: 'layers.0' }).waitFor();
    await stage.picture(' open');
    await page.keyboard.press('ArrowLeft');
    await until('four rows again', async () => (await rows.count()) === 4);
  });

  await stage.step('the icicle chart by keyboard', async () => {
    await chart.focus();
    await page.keyboard.press('ArrowUp');
    await until('the outermost', async () => /^Net · Net · CPU total /.test(await picked.getAttribute('aria-label')));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.equal(await picked.getAttribute('aria-expanded'), 'true');
    await chart.locator('[aria-label^="layers.1 · MLP · CPU total "]').waitFor();
    await page.keyboard.press('ArrowDown');
    assert.match(
      await panel.locator('#modules-readout').innerText(),
      /^layers\.\d · MLP · CPU total .* median of a call /,
    );
    await page.keyboard.press('Escape');
    assert.match(await picked.getAttribute('aria-label'), /^layers\.\* ×3/);
  });

  /** Selects whole lines, of the file's or with what is above them. */
  const select = async (first, count) => {
    await page.locator('.tab', { hasText: 'net.py' }).first().click();
    await code.goTo(first);
    for (let line = 0; line < count; line += 1) await page.keyboard.press('Shift+ArrowDown');
  };
  const isWrapped = () => until('the region', () => code.line('with record_function("train_step"):'));
  const isAsBefore = async () => {
    await until('no region', async () => !(await code.line('record_function')));
    await page.keyboard.press('Control+s');
    await page.locator('.tab.dirty').waitFor({ state: 'detached' });
    assert.equal(fs.readFileSync(file, 'utf8'), MODEL);
  };

  await stage.step('a region around selected statements', async () => {
    await closePanel();
    await select(LOOP_LINE + 1, 4);
    await page.keyboard.press('Control+Shift+r');
    const entry = page.locator('.action-widget .monaco-list-row.action', { hasText: 'Measure this block' });
    await entry.waitFor();
    await stage.picture(' menu');
    await page.mouse.move(0, 0);
    await page.mouse.move(9, 9);
    await entry.click();
    await isWrapped();
    await code.line('from torch.profiler import record_function');
  });

  await stage.step('one undo gives the old text', async () => {
    await page.keyboard.press('Control+z');
    await isAsBefore();
  });

  await stage.step('the same from the palette, and its removal', async () => {
    await select(LOOP_LINE + 1, 4);
    await code.command('Kinetoscope: Measure This Block');
    const { number } = await isWrapped();
    await stage.picture(' wrapped');
    await code.lens('▷ Profile').first().waitFor();
    await code.goTo(number);
    await code.command('Kinetoscope: Remove the Region');
    await isAsBefore();
  });

  await stage.step('what cannot be done says why', async () => {
    await select(LOOP_LINE, 2);
    await code.command('Kinetoscope: Measure This Block');
    await page.locator('.monaco-editor-overlaymessage', { hasText: 'The selection cuts a statement.' }).waitFor();
  });

  await stage.step('the menu of the editor has them', async () => {
    await page.keyboard.press('Escape');
    await page
      .locator('.view-line', { hasText: 'loss.backward()' })
      .click({ button: 'right', position: { x: 60, y: 8 } });
    const menu = page.locator('.context-view .monaco-menu');
    await menu.getByText('Kinetoscope', { exact: true }).first().hover();
    for (const title of ['Measure This Block', 'Measure This Function', 'Measure the Loop Body', 'Remove the Region']) {
      await menu.getByText(title, { exact: true }).waitFor();
    }
  });
};
