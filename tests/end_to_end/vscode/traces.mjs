// What an H200 recorded: its times at the lines, the details, and the trace in a real Perfetto UI.
import assert from 'node:assert/strict';
import path from 'node:path';
import { ORIGIN, query, servePerfetto, traceLoaded, visibleWindow } from '../perfetto_ui.mjs';
import { since } from './stage.mjs';
import { until } from './waiting.mjs';

const REGION = 'with record_function("matmul_add")';
/** Of tests/traces/runs/train_mlp_focus. */
const HINTS = {
  step: /^CUDA /,
  load: /^CUDA /,
  forward: /^CUDA 35.4 µs /,
  loss: /^CUDA 3.17 µs /,
  backward: /^CUDA 38.9 µs /,
  optimizer: /^CUDA 80.1 µs /,
};
const SLICES = (name) =>
  `select ts, dur from slice where name = '${name}' and category = 'user_annotation' order by ts`;

/** Waits until the UI has the trace and shows a call of the region, the one of that length, so large that it can be seen. */
async function callIsShown(ui, name, microseconds) {
  await traceLoaded(ui);
  const slices = await query(ui, SLICES(name), { ts: 'num', dur: 'num' });
  const isMeant = ({ dur }) => microseconds === undefined || Math.abs(dur / 1000 - microseconds) < 0.05;
  const calls = slices.filter(isMeant);
  assert.ok(calls.length, `none of ${microseconds} µs among ${JSON.stringify(slices)}`);
  await until(`a call of ${name} in sight`, async () => {
    const { start, duration } = await visibleWindow(ui);
    const isInside = ({ ts, dur }) => start <= ts && ts + dur <= start + duration && duration < 10 * dur;
    return calls.some(isInside);
  });
}

export default async (stage) => {
  stage.bring('examples/matmul_add.py');
  const code = await stage.vscode({ file: 'matmul_add.py' });
  const { page } = code;
  await code.lens('▷ Profile').waitFor();

  const load = (name) => code.loadTrace(path.join(stage.given.root, 'tests/traces/h200', name));
  const frameOf = (shown, origin) =>
    until(`a frame of ${origin}`, () => shown.frames().find((frame) => frame.url().startsWith(origin)));

  await stage.step('a trace of small matrices', async () => {
    await load('matmul_add_64_warm.json.gz');
    const { number } = await code.hint(REGION, /^CUDA 4.00 µs · CPU 68.4–152 µs$/);
    assert.equal(number, 45);
    await code.runStatus(/NVIDIA H200/);
    assert.equal(await code.squiggles('info').count(), 0);
    const text = await code.hoverText('matmul_add', REGION, /from matmul_add_64_warm.json.gz/);
    assert.match(text, /matmul_add · overhead-bound/);
  });

  await stage.step('a trace of large ones', async () => {
    await code.leave();
    await load('matmul_add_4096_warm.json.gz');
    await code.hint(REGION, /^CUDA 212 µs · CPU 64.8–153 µs$/);
    await code.hoverText('matmul_add', REGION, /matmul_add · compute-bound/);
  });

  await stage.step('the trace in Perfetto', async () => {
    await code.leave();
    const started = Date.now();
    const opening = stage.context.waitForEvent('page');
    await code.lens('Trace').click();
    stage.page = await opening;
    const ui = await frameOf(stage.page, ORIGIN);
    await callIsShown(ui, 'matmul_add', 79.9);
    console.log(`click to the call in Perfetto: ${since(started)}`);
    assert.match(await stage.page.title(), /^matmul_add/);
    const kernels = await query(ui, "select name from slice where category = 'kernel'", { name: 'str' });
    assert.equal(kernels.length, 10);
  });

  await stage.step('in a Perfetto UI of their own', async () => {
    await stage.page.close();
    const own = await servePerfetto(stage.given.perfetto);
    stage.perfettos.push(own);
    await code.set({ 'kinetoscope.perfetto': own });
    const opening = stage.context.waitForEvent('page');
    await code.lens('Trace').click();
    stage.page = await opening;
    await callIsShown(await frameOf(stage.page, own), 'matmul_add', 79.9);
  });

  await stage.step('a run of another day', async () => {
    await stage.page.close();
    stage.page = page;
    await code.set({ 'kinetoscope.perfetto': ORIGIN });
    await code.openFile('train_mlp.py');
    await code.goTo(53);
    for (const [region, hint] of Object.entries(HINTS)) await code.hint(`with record_function("${region}")`, hint);
    const widths = async () => new Set((await code.bars()).map(({ width }) => width));
    await until('wider bars at larger shares', async () => (await widths()).size > 1);
  });

  const panel = code.webview();
  const rows = panel.locator('#regions tbody tr[data-region]');
  const names = async () => (await rows.locator('th').allInnerTexts()).map((name) => name.trim());

  await stage.step('details', async () => {
    await (await code.hover('with', 'record_function("backward")')).getByText('Details', { exact: true }).click();
    await panel.locator('#regions tr[aria-selected="true"]', { hasText: 'backward' }).waitFor();
    assert.match(await panel.locator('h1').innerText(), /^train_mlp.py --steps 100000/);
    assert.match(await panel.locator('#facts').innerText(), /NVIDIA H200 · torch 2.11.0\+cu130/);
    assert.deepEqual((await names()).sort(), Object.keys(HINTS).sort());
    await panel.locator('#lanes-chart svg.lanes').waitFor();
  });

  await stage.step('sorted', async () => {
    const heading = panel.locator('#regions thead th', { hasText: 'CPU total' });
    await heading.locator('button').click();
    await until('what is longest first', async () => (await heading.getAttribute('aria-sort')) === 'descending');
    assert.equal((await names()).join(), 'step,backward,load,optimizer,forward,loss');
    await heading.locator('button').click();
    const turned = 'step,loss,forward,optimizer,load,backward';
    await until('the other way round, nested ones too', async () => (await names()).join() === turned);
    assert.equal(await heading.getAttribute('aria-sort'), 'ascending');
  });

  await stage.step('filtered', async () => {
    await panel.locator('#filter input').fill('opt');
    await until('one region', async () => (await names()).join() === 'optimizer');
    assert.equal(await panel.locator('#count').innerText(), '1 of 6 regions');
  });

  await stage.step('a row leads to its line', async () => {
    await rows.first().click();
    await until('the line of the optimizer', async () => (await code.activeLine()) === 64);
    await panel.locator('h2', { hasText: 'optimizer' }).waitFor();
    await panel.locator('#regions').press('Enter');
    await until('the cursor there', async () => (await code.cursorLine()) === 64);
  });

  await stage.step('copied as Markdown', async () => {
    await panel.locator('#copy-markdown').click();
    await code.status('Copied 1 region as Markdown').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(copied, /^\| Region .*\| CUDA total .*\n\|[-:| ]+\n\| optimizer .*\| [\d.]+ µs .*\n?$/);
  });

  await stage.step('from details to Perfetto', async () => {
    const opening = stage.context.waitForEvent('page');
    await panel.locator('#open-trace').click();
    stage.page = await opening;
    await callIsShown(await frameOf(stage.page, ORIGIN), 'optimizer');
    assert.match(await stage.page.title(), /^optimizer/);
  });

  await stage.step('in an editor tab', async () => {
    await stage.page.close();
    stage.page = page;
    await code.set({ 'kinetoscope.openTraceIn': 'editor' });
    await (await code.hover('with', 'record_function("forward")')).getByText('Trace', { exact: true }).click();
    await callIsShown(await frameOf(page, ORIGIN), 'forward');
    await page.locator('.tab', { hasText: 'forward in ' }).getByLabel('Close').click(); // it keeps keys for itself
  });
};
