import assert from 'node:assert/strict';
import test from 'node:test';
import { plain } from '../src/foreign';

test('a name in a message is no link', () => {
  assert.equal(
    plain('Profiling [fix](command:kinetoscope.profileFile)'),
    'Profiling [fix] (command:kinetoscope.profileFile)',
  );
  assert.equal(plain('a\u001b[31mb\nc'), 'a�[31mb\nc');
});
