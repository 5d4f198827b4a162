import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutOwn } from '../src/server/own_settings';

test('an interpreter is made ready on opening in trusted workspaces alone', () => {
  const values = { prepare: 'onOpen', warmup: 3, openTraceIn: 'editor' };
  assert.deepEqual(withoutOwn(values, true), { prepare: 'onOpen', warmup: 3 });
  assert.deepEqual(withoutOwn(values, false), { prepare: 'afterRun', warmup: 3 });
  assert.deepEqual(withoutOwn({ prepare: 'off' }, false), { prepare: 'off' });
});
