import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ofServer } from '../src/server/setting_names';

test('an interpreter is made ready on opening in trusted workspaces alone', () => {
  const values = { prepare: 'onOpen', warmup: 3, unknown: 1 };
  assert.deepEqual(ofServer(values, true), { prepare: 'onOpen', warmup: 3 });
  assert.deepEqual(ofServer(values, false), { prepare: 'afterRun', warmup: 3 });
  assert.deepEqual(ofServer({ prepare: 'off' }, false), { prepare: 'off' });
});
