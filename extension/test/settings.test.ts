import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withHintsSeen, withoutOwn } from '../src/server/own_settings';

test('an interpreter is made ready on opening in trusted workspaces alone', () => {
  const values = { prepare: 'onOpen', warmupCalls: 3, openTraceIn: 'editor' };
  assert.deepEqual(withoutOwn(values, true), { prepare: 'onOpen', warmupCalls: 3 });
  assert.deepEqual(withoutOwn(values, false), { prepare: 'afterRun', warmupCalls: 3 });
  assert.deepEqual(withoutOwn({ prepare: 'off' }, false), { prepare: 'off' });
});

test('where the editor shows no hints, times stand in the lenses, unless they are off', () => {
  assert.deepEqual(withHintsSeen({ hints: 'total' }, true), { hints: 'total' });
  assert.deepEqual(withHintsSeen({ hints: 'total' }, false), { hints: 'lens' });
  assert.deepEqual(withHintsSeen({ hints: 'off' }, false), { hints: 'off' });
});
