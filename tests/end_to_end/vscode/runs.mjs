// Runs that are asked for in other ways, that do not end, that fail, and files that were not saved.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { isRunning } from './processes.mjs';
import { until } from './waiting.mjs';

const NOTES = `import sys
import torch
from torch.profiler import record_function

with open("ran.txt", "a") as notes:
    print(sys.argv[1:], file=notes)
for _ in range(8):
    with record_function("step"):
        torch.ones(64, 64).sum()
`;

const LAYERS = `import torch
from torch.profiler import record_function


def forward():
    with record_function("forward"):
        torch.ones(64, 64).sum()
`;

const USES = `import torch
from layers import forward

for _ in range(8):
    forward()
`;

const LAUNCH = {
  version: '0.2.0',
  configurations: [
    {
      name: 'Small',
      type: 'debugpy',
      request: 'launch',
      program: '${workspaceFolder}/notes.py',
      args: ['--size', '${input:size}'],
    },
  ],
  inputs: [{ id: 'size', type: 'pickString', description: 'How large?', options: ['1', '2'] }],
};

const ENDLESS = `import os, subprocess, sys, time
import torch
from torch.profiler import record_function

child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open("pids.txt", "w") as notes:
    print(os.getpid(), child.pid, file=notes)
for _ in range(2):  # fewer than it takes to warm up
    with record_function("begin"):
        torch.ones(8).sum()
while True:
    time.sleep(0.1)
`;

const FAILING = `import torch
from torch.profiler import record_function

with record_function("work"):
    torch.ones(2, 3) @ torch.ones(2, 3)
`;

const SAVING = `import os, time
import torch
from torch.profiler import record_function

with open("saver.txt", "w") as notes:
    print(os.getpid(), file=notes)
try:
    while True:
        with record_function("train"):
            torch.ones(64, 64).sum()
finally:
    time.sleep(600)
`;

const MODEL = `from torch.profiler import record_function

def forward(x):
    with record_function("forward"):
        return x + 1

def backward(x):
    with record_function("backward"):
        return x + 2
`;

const calling = (what) => `import torch
import model

for _ in range(9):
    model.${what}(torch.ones(4))
`;

export default async (stage) => {
  stage.write('model.py', MODEL);
  stage.write('fit.py', calling('backward'));
  stage.write('infer.py', calling('forward'));
  stage.write('notes.py', NOTES);
  stage.write('saving.py', SAVING);
  stage.write('twice.py', NOTES.replace('"step"', '"twice"').replace('"ran.txt"', '"twice.txt"'));
  stage.write('layers.py', LAYERS);
  stage.write('uses.py', USES);
  stage.write('.vscode/launch.json', JSON.stringify(LAUNCH));
  stage.write('endless.py', ENDLESS);
  stage.write('failing.py', FAILING);
  const ran = () => {
    const file = path.join(stage.workspace, 'ran.txt');
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n') : [];
  };
  const pids = () => fs.readFileSync(path.join(stage.workspace, 'pids.txt'), 'utf8').trim().split(' ').map(Number);
  const code = await stage.vscode({ file: 'notes.py' });
  const { page } = code;
  const isOver = () => code.toast('Profiling').waitFor({ state: 'detached' });

  await stage.step('unsaved and cancelled', async () => {
    await code.lens('▷ Profile').waitFor();
    await code.append(9, ' * 2');
    await code.lens('▷ Profile').click();
    await code.dialog().getByText('notes.py has unsaved changes.').waitFor();
    await stage.picture(' question');
    await code.dialog().getByRole('button', { name: 'Cancel' }).click();
    await code.status('the run was cancelled').waitFor();
    await isOver();
    assert.deepEqual(ran(), []);
    assert.equal(fs.readFileSync(path.join(stage.workspace, 'notes.py'), 'utf8'), NOTES);
  });

  await stage.step('unsaved and saved', async () => {
    await code.lens('▷ Profile').click();
    await code.dialog().getByRole('button', { name: 'Save', exact: true }).click();
    await code.hint('record_function("step")', /^CPU /);
    assert.deepEqual(ran(), ['[]']);
    assert.match(fs.readFileSync(path.join(stage.workspace, 'notes.py'), 'utf8'), /sum\(\) \* 2\n$/);
    await isOver();
  });

  await stage.step('with arguments', async () => {
    await code.command('Kinetoscope: Profile with Arguments…');
    await page.getByText("The script's arguments").waitFor(); // until then another field takes the text
    await code.input().fill('--size 8 "two words"');
    await stage.picture(' asked');
    await page.keyboard.press('Enter');
    await until('the script to run with them', () => ran().length === 2);
    assert.equal(ran()[1], "['--size', '8', 'two words']");
    await isOver();
  });

  await stage.step('another result is chosen', async () => {
    const lens = code.lens(/^notes\.py --size 8 two words · \d\d:\d\d · CPU only · 1 of 2 results$/);
    await lens.waitFor();
    await stage.picture(' lens');
    await lens.click();
    const rows = page.locator('.quick-input-widget .monaco-list-row');
    await rows.filter({ hasText: /^notes\.py --size 8 two words.* · CPU only · shown/ }).waitFor();
    await stage.picture(' asked');
    await rows.filter({ hasText: /^notes\.py\d/ }).click();
    const older = code.lens(/^notes\.py · \d\d:\d\d · CPU only · 2 of 2 results$/);
    await older.click();
    await rows.filter({ hasText: /^notes\.py --size 8/ }).click();
    await lens.waitFor();
    assert.equal(ran().length, 2);
  });

  await stage.step('the last arguments are there', async () => {
    await code.command('Kinetoscope: Profile with Arguments…');
    await until('them', async () => (await code.input().inputValue()) === "--size 8 'two words'");
    await page.keyboard.press('Escape');
  });

  await stage.step('a lens repeats them', async () => {
    await code.lens('▷ Profile').click();
    await until('the script to run again', () => ran().length === 3);
    assert.equal(ran()[2], "['--size', '8', 'two words']");
    await isOver();
  });

  await stage.step('and so does another choice', async () => {
    await code.lens('⌄').click();
    await code.choice('notes.py --size 8').waitFor();
    await code.choice('Small').waitFor();
    await stage.picture(' offered');
    await code.choice('asks for ${input:size}').click();
    await page.getByPlaceholder('How large?').waitFor();
    await code.choice('1').click();
    await until('the script to run as launch.json says', () => ran().length === 4);
    assert.equal(ran()[3], "['--size', '1']");
    await isOver();
  });

  await stage.step('a module asks for its script', async () => {
    await code.openFile('layers.py');
    await code.lens('▷ Profile').click();
    await code.choice('uses.py').waitFor();
    await stage.picture(' asked');
    await code.choice('uses.py').click();
    await code.hint('record_function("forward")', /^CPU /);
    await isOver();
  });

  await stage.step('a script that fails', async () => {
    await code.openFile('failing.py');
    await code.lens('▷ Profile').click();
    await code.squiggles('error').waitFor();
    await code.toast('The script failed: RuntimeError').getByText('Show Output').waitFor();
    const box = await code.hover('torch', 'torch.ones(2, 3) @');
    assert.match(await box.innerText(), /RuntimeError: mat1 and mat2 shapes cannot be multiplied/);
  });

  await stage.step('its output stands as it was printed', async () => {
    await code.leave();
    await code.toast('RuntimeError').getByText('Show Output').click();
    const printed = page.locator('.output-view .view-line', { hasText: 'Traceback (most recent call last)' }).first();
    await printed.waitFor();
    assert.match(await printed.innerText(), /^Traceback/);
    await page.keyboard.press('Control+j');
  });

  await stage.step('an endless script', async () => {
    await code.openFile('endless.py');
    await code.lens('▷ Profile').click();
    await code.toast(/warming up begin: [12] calls?/).waitFor();
    assert.deepEqual(pids().filter(isRunning), pids());
    assert.equal(pids().length, 2);
  });

  await stage.step('is asked about by a double click on another, once', async () => {
    await code.openFile('twice.py');
    await code.lens('▷ Profile').dblclick();
    await code.toast('endless.py is already being profiled. Stop it and start again?').waitFor();
    await stage.picture(' question');
    assert.equal(await code.page.locator('.notification-toast', { hasText: 'already being profiled' }).count(), 1);
    await code.toast('already being profiled').getByRole('button', { name: 'Stop and start' }).click();
    await until('the end of its processes', () => !pids().some(isRunning));
    await code.hint('record_function("twice")', /^CPU /);
    await isOver();
  });

  await stage.step('an endless script again', async () => {
    const asked = async () => (await code.toastTexts()).filter((each) => each.includes('already being')).length;
    const before = await asked();
    await code.openFile('endless.py');
    await code.lens('▷ Profile').dblclick();
    await code.toast(/warming up begin: [12] calls?/).waitFor();
    assert.equal(await asked(), before);
  });

  await stage.step('ends when cancelled', async () => {
    await code.toast('Profiling begin').getByText('Cancel', { exact: true }).click();
    await code.status('the run was cancelled').waitFor();
    await until('the end of its processes', () => !pids().some(isRunning));
    await isOver();
  });

  await stage.step('a script that saves is measured already', async () => {
    await code.openFile('saving.py');
    await code.lens('▷ Profile').click();
    await code.toast('Profiling train in saving.py: the script has been measured and does its own clean-up').waitFor();
    await code.hint('record_function("train")', /^CPU /);
    await code.runStatus(/CPU only$/);
  });

  await stage.step('and ends when that is cancelled', async () => {
    const saver = Number(fs.readFileSync(path.join(stage.workspace, 'saver.txt'), 'utf8'));
    assert.ok(isRunning(saver));
    await code.toast('does its own clean-up').getByText('Cancel', { exact: true }).click();
    await until('its end', () => !isRunning(saver));
    await isOver();
    await code.hint('record_function("train")', /^CPU /);
  });

  await stage.step('times of another script say so and lead to its run', async () => {
    for (const name of ['fit.py', 'infer.py']) {
      await code.openFile(name);
      await code.lens('▷ Profile file').click();
      await code.toast(`Profiling ${name}`).waitFor();
      await isOver();
    }
    await code.openFile('model.py');
    await code.hint('record_function("forward")', /^CPU [^·]*$/);
    await code.hint('record_function("backward")', /^CPU .* · from fit\.py$/);
    await code.lens(/^infer\.py · \d\d:\d\d · CPU only · 1 of 2 results$/).waitFor();
    await code.lens('Details', 1).click();
    await page.locator('.tab', { hasText: 'Kinetoscope: fit.py' }).waitFor();
    await code.webview().getByText('backward').first().waitFor();
  });

  await stage.step('and are cleared', async () => {
    await page.locator('.tab', { hasText: 'model.py' }).click();
    await code.command('Kinetoscope: Clear Results');
    for (const name of ['forward', 'backward']) await code.hint(`record_function("${name}")`, /^$/);
  });
};
