import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinArguments, splitArguments } from '../src/runs/arguments';

test('arguments are split as a shell does', () => {
  const cases: [string, string[]][] = [
    ['', []],
    ['  --size   64 ', ['--size', '64']],
    ['--name "two words" \'and "these"\'', ['--name', 'two words', 'and "these"']],
    ['a"b c"d', ['ab cd']],
    ["'' x", ['', 'x']],
    ['back\\ slash "in \\"quotes\\"" \'\\n\'', ['back slash', 'in "quotes"', '\\n']],
    ['"C:\\folder"', ['C:\\folder']],
    ['end\\', ['end\\']],
  ];
  for (const [text, values] of cases) assert.deepEqual(splitArguments(text, true), values, text);
});

test('on Windows a backslash is part of a path', () => {
  assert.deepEqual(splitArguments('C:\\data\\x.npy "C:\\with space"', false), ['C:\\data\\x.npy', 'C:\\with space']);
});

test('an open quote is an error that names it', () => {
  assert.throws(() => splitArguments('--name "two'), /The quote " is not closed/);
});

test('joined arguments split into the same ones', () => {
  const values = ['--size=64', '', "it's", 'two words', 'a"b', '$HOME', 'back\\slash', `both ' and "`, 'ünï', '*', '#'];
  for (const hasEscapes of [true, false]) {
    assert.deepEqual(splitArguments(joinArguments(values, hasEscapes), hasEscapes), values);
  }
  assert.equal(joinArguments(['--size', '64', '--out=a/b.json']), '--size 64 --out=a/b.json');
});
