import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launches, questionFor } from '../src/runs/launches';

const VARIABLES = { workspaceFolder: '/work', file: '/work/model.py' };

test('configurations that launch Python are commands, with the variables that are known', () => {
  const found = launches(
    [
      {
        type: 'debugpy',
        request: 'launch',
        name: 'Train',
        program: '${workspaceFolder}/train.py',
        args: ['--data', '${workspaceFolder}/data', '--epochs', 2],
        env: { SIZE: 4, NAME: '${file}' },
        envFile: '${workspaceFolder}/train.env',
        cwd: '${workspaceFolder}/run',
        python: '${command:python.interpreterPath}',
      },
      { type: 'python', request: 'launch', name: 'Tests', module: 'pytest', args: ['${file}'] },
    ],
    VARIABLES,
  );
  assert.deepEqual(found, [
    {
      name: 'Train',
      command: {
        script: '/work/train.py',
        arguments: ['--data', '/work/data', '--epochs', '2'],
        environment: { SIZE: '4', NAME: '/work/model.py' },
        folder: '/work/run',
        envFile: '/work/train.env',
      },
      asks: [],
    },
    { name: 'Tests', command: { module: 'pytest', arguments: ['/work/model.py'], environment: {} }, asks: [] },
  ]);
});

test('what a configuration asks for is said, and filled by the answers', () => {
  const asking = {
    type: 'debugpy',
    request: 'launch',
    name: 'Asks',
    program: '${workspaceFolder}/train.py',
    args: '--size ${input:size} ${command:pickArgs}',
    env: { TOKEN: '${input:token}', SIZE: '${input:size}' },
    cwd: '${command:folder}',
  };
  const [found] = launches([asking], VARIABLES);
  assert.deepEqual(found?.asks, ['input:size', 'command:pickArgs', 'input:token', 'command:folder']);
  const answers = { 'input:size': '4', 'command:pickArgs': "--name 'a b'", 'input:token': 't', 'command:folder': '/x' };
  const [filled] = launches([asking], { ...VARIABLES, ...answers });
  assert.deepEqual(filled, {
    name: 'Asks',
    command: {
      script: '/work/train.py',
      arguments: ['--size', '4', '--name', 'a b'],
      environment: { TOKEN: 't', SIZE: '4' },
      folder: '/x',
    },
    asks: [],
  });
});

test('a person is asked as the inputs of launch.json say, where that can be done', () => {
  const inputs = [
    { id: 'size', type: 'pickString', description: 'Size', options: ['1', { label: 'two', value: '2' }] },
    { id: 'token', type: 'promptString', password: true },
    { id: 'made', type: 'command', command: 'extension.make' },
    null,
  ];
  assert.deepEqual(questionFor('input:size', inputs), {
    description: 'Size',
    value: '',
    isSecret: false,
    options: ['1', '2'],
  });
  const token = { description: 'input:token', value: '', isSecret: true, options: null };
  assert.deepEqual(questionFor('input:token', inputs), token);
  assert.ok(questionFor('command:pickArgs', inputs));
  for (const other of ['input:made', 'input:gone', 'command:folder']) {
    assert.equal(questionFor(other, inputs), undefined);
  }
});

test('what attaches or is no Python is left out', () => {
  const program = '${workspaceFolder}/train.py';
  const others = [
    { type: 'debugpy', request: 'attach', name: 'Attach', program },
    { type: 'node', request: 'launch', name: 'Node', program },
    { type: 'debugpy', request: 'launch', name: 'Nothing' },
    null,
    'text',
  ];
  assert.deepEqual(launches(others, VARIABLES), []);
});
