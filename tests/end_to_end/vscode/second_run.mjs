// What follows a first run: a finding of it, the interpreter that is made ready, a comment that switches the finding off,
// and a fixed script whose run no longer has it. All of it is run here, on the CPU.
import assert from 'node:assert/strict';
import { since } from './stage.mjs';
import { until } from './waiting.mjs';

const SCRIPT = `import torch
from torch.profiler import record_function


@torch.compile(backend="eager", dynamic=False)
def score(batch):
    return (batch @ batch.T).relu().sum()


for step in range(40):
    batch = torch.randn(8 + step, 64)
    with record_function("score"):
        score(batch)
`;
const REGION = 'with record_function("score"):';
const REGION_LINE = 12;
const TIMES = /^CPU [\d.–]+ (µs|ms)/;

export default async (stage) => {
  stage.write('score.py', SCRIPT);
  const code = await stage.vscode({ file: 'score.py', settings: { 'kinetoscope.saveBeforeRun': 'always' } });
  const { page } = code;

  /** Clicks on Profile and waits for the run's end; says how long it took. */
  const profile = async (what) => {
    const started = Date.now();
    await code.lens('▷ Profile').click();
    await code.toast('Profiling score').waitFor();
    await code.toast('Profiling').waitFor({ state: 'detached' });
    await code.hint(REGION, TIMES);
    console.log(`click to times, ${what}: ${since(started)}`);
  };
  const story = async () => {
    const text = await (await code.hover('with', REGION)).innerText();
    await code.leave();
    return text;
  };

  await stage.step('a bad script has a squiggle', async () => {
    await code.lens('▷ Profile').waitFor();
    await profile('first');
    await code.squiggles('warning').waitFor();
    assert.match(await story(), /compiling: score compiles 5× over 5 calls/);
  });

  await stage.step('the next interpreter is ready', async () => {
    await code.languageStatus(/Interpreter for the next run: ready, [\d.]+ MB/);
  });

  await stage.step('a second click', async () => {
    await page.keyboard.press('Escape');
    await profile('second, in the interpreter that was ready');
    await code.squiggles('warning').waitFor();
  });

  await stage.step('ignored by a comment', async () => {
    await code.act(REGION_LINE, 'Ignore here: compiling');
    await until('the comment', async () => (await code.line(REGION)).text.includes('# kinetoscope: ignore[compiling]'));
    await until('no squiggle', async () => !(await code.squiggles('warning').count()));
  });

  await stage.step('the next run leaves it so', async () => {
    await profile('with the comment');
    assert.equal(await code.squiggles('warning').count(), 0);
    assert.match(await story(), /compiling \(ignored here\): score compiles 5×/);
  });

  await stage.step('fixed it is gone', async () => {
    while ((await code.line(REGION)).text.includes('ignore')) await page.keyboard.press('Control+z');
    await code.squiggles('warning').waitFor();
    await code.goTo(5);
    await page.keyboard.press('Shift+End');
    await page.keyboard.insertText('@torch.compile(backend="eager", dynamic=True)');
    await profile('fixed');
    await until('no squiggle', async () => !(await code.squiggles('warning').count()));
    const told = await story();
    assert.match(told, /No longer found: compiling\./);
    assert.doesNotMatch(told, /compiling:/);
  });
};
