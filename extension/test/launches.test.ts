import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launches } from '../src/runs/launches';

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
        env: { SIZE: 4, NAME: '${file}', ASKED: '${input:name}' },
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
      },
    },
    { name: 'Tests', command: { module: 'pytest', arguments: ['/work/model.py'], environment: {} } },
  ]);
});

test('what asks for something, attaches, or is no Python is left out', () => {
  const program = '${workspaceFolder}/train.py';
  const others = [
    { type: 'debugpy', request: 'launch', name: 'Asks', program, args: ['${command:pickArgs}'] },
    { type: 'debugpy', request: 'launch', name: 'Asks', program: '${input:script}' },
    { type: 'debugpy', request: 'attach', name: 'Attach', program },
    { type: 'node', request: 'launch', name: 'Node', program },
    { type: 'debugpy', request: 'launch', name: 'Nothing' },
    null,
    'text',
  ];
  assert.deepEqual(launches(others, VARIABLES), []);
});
