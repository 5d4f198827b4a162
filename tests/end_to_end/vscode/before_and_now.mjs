// Details of a run whose code was changed: off as ever, and with one switch what was before, as columns and as lanes. Any
// two runs of the list can be compared. All of it is run here, on the CPU, with a change that no noise can be.
import assert from 'node:assert/strict';

const SCRIPT = `import torch
from torch.profiler import record_function

TIMES = 200
a = torch.ones(64, 64)

for step in range(20):
    with record_function("work"):
        for _ in range(TIMES):
            (a @ a).relu()
`;
const REGION = 'with record_function("work"):';
const TIMES_LINE = 4;

export default async (stage) => {
  stage.write('work.py', SCRIPT);
  const settings = { 'kinetoscope.saveBeforeRun': 'always', 'kinetoscope.prepare': 'off' };
  const code = await stage.vscode({ file: 'work.py', settings });
  const { page } = code;
  const panel = code.webview();
  const row = panel.locator('#regions tr[data-region="0"]');
  const comparedSwitch = panel.getByRole('checkbox', { name: /^Compared with the run of \d/ });

  const change = async (times) => {
    await code.goTo(TIMES_LINE);
    await page.keyboard.press('Shift+End');
    await page.keyboard.insertText(`TIMES = ${times}`);
  };
  const profile = async () => {
    await code.lens('▷ Profile').click();
    await code.toast('Profiling').waitFor();
    await code.toast('Profiling').waitFor({ state: 'detached' });
    await code.hint(REGION, /^CPU [\d.–]+ (µs|ms)/);
    await page.keyboard.press('Escape');
  };

  await stage.step('before and after', async () => {
    await code.lens('▷ Profile').waitFor();
    await profile();
    await code.lens('Details').click();
    await panel.locator('#lanes-chart svg.lanes').waitFor();
    assert.equal(await comparedSwitch.count(), 0);
    await change(8000);
    await profile();
  });

  await stage.step('off', async () => {
    await comparedSwitch.waitFor();
    assert.equal(await comparedSwitch.isChecked(), false);
    assert.equal(await panel.getByText('→').count(), 0);
  });

  await stage.step('on', async () => {
    await comparedSwitch.focus();
    await page.keyboard.press('Space');
    await panel.locator('#before-chart svg.lanes').waitFor();
    await panel.locator('#lanes-chart svg.lanes').waitFor();
    assert.match(await row.innerText(), /▲[\d.]+×/);
    const title = await row.locator('.compared').first().getAttribute('title');
    assert.match(title, /^[\d.]+( µs)? → [\d.]+ (µs|ms)$/);
    assert.match(await panel.locator('#compared-notes').innerText(), /Changed since: .*work\.py\./);
    await panel.locator('#lanes h4', { hasText: 'Now' }).scrollIntoViewIfNeeded();
  });

  await stage.step('any two of the list', async () => {
    await comparedSwitch.focus();
    await page.keyboard.press('Space');
    await panel.locator('#before-chart').waitFor({ state: 'detached' });
    const pane = page.locator('.pane', { has: page.locator('.pane-header', { hasText: 'Kinetoscope Runs' }) });
    await pane.locator('.pane-header').click();
    // From the older one, too, the newer is what is shown.
    await pane.locator('.monaco-list-row').nth(1).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Compare with…' }).hover(); // it takes no click right after it was opened
    await page.keyboard.press('Enter');
    await code.choice('work.py').click();
    await panel.locator('#before-chart svg.lanes').waitFor();
    assert.equal(await comparedSwitch.isChecked(), true);
    assert.match(await row.innerText(), /▲[\d.]+×/);
  });
};
