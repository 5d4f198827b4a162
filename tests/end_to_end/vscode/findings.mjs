// A finding of an H200's trace from the squiggle to its page and its place in the trace; the edit that it offers, and the
// trace of the edited script, in which it is gone. recorded/README.md says how the two traces came about.
import assert from 'node:assert/strict';
import path from 'node:path';
import { ORIGIN, query, traceLoaded, visibleWindow } from '../perfetto_ui.mjs';
import { until } from './waiting.mjs';

const RECORDED = 'tests/end_to_end/vscode/recorded';
const REGION = 'with record_function("multiply")';
const REGION_LINE = 10;
const CODE = 'tensor-cores-unused';
const EDIT = 'torch.set_float32_matmul_precision("high")';

export default async (stage) => {
  stage.bring(`${RECORDED}/multiply.py`);
  const code = await stage.vscode({ file: 'multiply.py' });
  const { page } = code;
  const load = (name) => code.loadTrace(path.join(stage.given.root, RECORDED, name));
  const preview = code.webview('vscode.markdown-language-features').locator('.markdown-body');
  const pageIsShown = () => preview.getByRole('heading', { name: CODE, exact: true }).waitFor();
  const closePage = async () => {
    await page
      .locator('.tab.active', { hasText: `${CODE}.md` })
      .getByLabel('Close')
      .click();
    await page.locator('.tab', { hasText: `${CODE}.md` }).waitFor({ state: 'detached' });
  };

  await stage.step('a finding is a squiggle', async () => {
    await code.lens('▷ Profile').waitFor();
    await load('multiply.json.gz');
    const { number } = await code.hint(REGION, /^CUDA 339 µs · CPU 37.5 µs \(12 µs\)$/);
    assert.equal(number, REGION_LINE);
    await code.squiggles('warning').waitFor();
    await page.locator('.tab', { hasText: 'Kinetoscope: ' }).getByLabel('Close').click();
  });

  await stage.step('it says what it costs and what it can save', async () => {
    const text = await (await code.hover('multiply', REGION)).innerText();
    assert.match(text, /multiply multiplies in fp32 without tensor cores: 8 kernels, 2.71 ms of 2.71 ms on the GPU/);
    assert.equal(text.split('Could save up to 297 µs per call').length, 2, 'it is said once');
    const gaps = await page.locator('.monaco-editor .monaco-hover:not(.hidden) table').first().evaluate(gapsOf);
    assert.ok(Math.min(...gaps) >= 8, `pixels between the columns of its table: ${gaps}`);
    const { x, y } = await page.locator('.editor-instance .monaco-editor').first().boundingBox();
    const box = await page.locator('.monaco-editor .monaco-hover:not(.hidden)').first().boundingBox();
    await stage.cut('finding-light', { x, y, width: 900, height: box.y + box.height + 10 - y });
  });

  await stage.step('its code opens its page', async () => {
    await page.locator('.monaco-hover:not(.hidden) a.code-link', { hasText: CODE }).click();
    await pageIsShown();
  });

  await stage.step('so does the hover of the region', async () => {
    await closePage();
    const box = await code.hover('with', REGION);
    assert.match(await box.innerText(), /tensor-cores-unused: multiply multiplies in fp32/);
    await box.locator('.rendered-markdown a', { hasText: CODE }).click();
    await pageIsShown();
  });

  await stage.step('and the Problems panel', async () => {
    await closePage();
    const row = (await code.problems()).filter({ hasText: CODE });
    await stage.picture(' itself');
    await row.locator('a', { hasText: CODE }).click();
    await pageIsShown();
  });

  await stage.step('what can be done: the edit first, and little else', async () => {
    await page.keyboard.press('Control+Shift+m');
    await page.keyboard.press('Control+j');
    await closePage();
    const entries = await code.actions(REGION_LINE);
    const titles = (await entries.allInnerTexts()).map((title) => title.trim());
    const wanted = ['Multiply in TF32 from here on: set_float32_matmul_precision', `Ignore here: ${CODE}`];
    assert.deepEqual(titles.slice(0, 2), wanted);
    assert.ok(titles.includes('Profile again: multiply'), titles.join(', '));
    await page.keyboard.press('Escape');
  });

  const EXPECTED = '# kinetoscope: expect';
  await stage.step('what is expected of it is checked while it is typed', async () => {
    await code.append(REGION_LINE - 1, `\n${EXPECTED} cuda < 250us, launches = 1, cpu < 1`);
    await until('two squiggles', async () => (await code.squiggles('error').count()) === 2);
    await code.hoverText('1', 'cpu < 1', /1 has no unit\. Write ns, us, ms or s behind it\./);
    await code.hoverText('with', REGION, /expected launches = 1: holds/);
    await stage.picture(' in the hover');
    await code.hoverText('cuda', 'cuda < 250us', /CUDA 339 µs per call \(.*\)\. Expected: cuda < 250us\./);
  });

  await stage.step('and a quick fix sets the limit to what was measured', async () => {
    await code.act(REGION_LINE, 'Change to: expect cuda < 380us');
    await until('the limit', async () => (await code.line(EXPECTED)).text.includes('cuda < 380us, launches = 1'));
    await until('one squiggle', async () => (await code.squiggles('error').count()) === 1);
    await page.keyboard.press('Control+Shift+k');
    await until('no squiggle', async () => !(await code.squiggles('error').count()));
  });

  const kernelIsShown = async (ui) => {
    await traceLoaded(ui);
    const kernels = await query(ui, "select ts, dur from slice where category = 'kernel' and name like '%sgemm%'", {
      ts: 'num',
      dur: 'num',
    });
    await until('one of the kernels in sight', async () => {
      const { start, duration } = await visibleWindow(ui);
      return kernels.some(({ ts, dur }) => start <= ts && ts + dur <= start + duration && duration < 10 * dur);
    });
  };
  const perfettoOf = (shown) =>
    until('the Perfetto UI', () => shown.frames().find((frame) => frame.url().startsWith(ORIGIN)));

  const showInTrace = async () =>
    (await code.hover('with', REGION)).getByText('Show in trace', { exact: true }).click();
  await stage.step('the trace where it shows', async () => {
    const opening = stage.context.waitForEvent('page');
    await showInTrace();
    stage.page = await opening;
    await kernelIsShown(await perfettoOf(stage.page));
  });

  const panel = code.webview();
  await stage.step('in the details', async () => {
    await stage.page.close();
    stage.page = page;
    await code.lens('Details').click();
    const finding = panel.locator('#region .findings li');
    assert.match(
      await finding.innerText(),
      /^tensor-cores-unused\s+multiply multiplies in fp32 .* Could save up to 297 µs per call/,
    );
    await panel.locator('#regions svg.severity.warning').waitFor();
  });

  await stage.step('whose links lead to both', async () => {
    await panel.locator('#region .findings').getByRole('button', { name: CODE, exact: true }).click();
    await pageIsShown();
    await closePage();
    const opening = stage.context.waitForEvent('page');
    await panel.locator('#region .findings').getByText('Open trace there').click();
    stage.page = await opening;
    await kernelIsShown(await perfettoOf(stage.page));
  });

  await stage.step('in an editor tab', async () => {
    await stage.page.close();
    stage.page = page;
    await page.locator('.tab', { hasText: 'Kinetoscope: ' }).getByLabel('Close').click();
    await code.set({ 'kinetoscope.openTraceIn': 'editor' });
    await showInTrace();
    await kernelIsShown(await perfettoOf(page));
  });

  await stage.step('the edit', async () => {
    await page.locator('.tab', { hasText: 'multiply in ' }).getByLabel('Close').click();
    await code.act(REGION_LINE, 'Multiply in TF32 from here on');
    const { number } = await until('the line', () => code.line(EDIT));
    assert.equal(number, 6);
    await page.keyboard.press('Control+s');
  });

  await stage.step('and the run of the edited script', async () => {
    await load('multiply_tf32.json.gz');
    const { number } = await code.hint(REGION, /^CUDA 47.7 µs · CPU 37.1 µs \(9.6 µs\)$/);
    assert.equal(number, REGION_LINE + 2);
    await until('no warning', async () => !(await code.squiggles('warning').count()));
    assert.equal(await code.squiggles('info').count(), 0);
    const text = await (await code.hover('multiply', REGION)).innerText();
    assert.match(text, /multiply · compute-bound/);
    assert.doesNotMatch(text, /tensor/);
    await page.keyboard.press('Control+Shift+m');
    await page.locator('.markers-panel').waitFor();
    await page.locator('.markers-panel .monaco-list-row', { hasText: 'multiply.py' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Control+j');
  });
};

/** Runs in the page: pixels between the texts of neighbouring cells of a table. */
function gapsOf(table) {
  const edges = (cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const { left, right } = range.getBoundingClientRect();
    const spaces = cell.textContent.startsWith('\u2003') ? parseFloat(getComputedStyle(cell).fontSize) : 0;
    return { left: left + spaces, right };
  };
  return [...table.rows].flatMap(({ cells }) =>
    [...cells].slice(1).flatMap((cell, index) => {
      if (!cell.textContent.trim() || !cells[index].textContent.trim()) return [];
      return [Math.round(edges(cell).left - edges(cells[index]).right)];
    }),
  );
}
