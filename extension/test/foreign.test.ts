import assert from 'node:assert/strict';
import test from 'node:test';
import { escaped, harmless, inStatusBar, plain } from '../src/foreign';

test('a name in a message is no link', () => {
  assert.equal(
    plain('Profiling [fix](command:kinetoscope.profileFile)'),
    'Profiling [fix] (command:kinetoscope.profileFile)',
  );
  assert.equal(plain('a\u001b[31mb\nc'), 'a�[31mb\nc');
});

test('an error is shown without links, and keeps what caused it', () => {
  const cause = new Error('[fix](command:kinetoscope.profileFile)');
  assert.equal(harmless(cause).message, '[fix] (command:kinetoscope.profileFile)');
  assert.equal(harmless(cause).cause, cause);
  assert.equal(harmless('[a](https://x.example)').message, '[a] (https://x.example)');
});

test('a name in a page is no markup', () => {
  assert.equal(escaped('<b title="a">&'), '&lt;b title=&quot;a&quot;&gt;&amp;');
});

test('a name in the status bar is no icon', () => {
  assert.equal(inStatusBar('warming up $(sync~spin): 1 call'), 'warming up \\$(sync~spin): 1 call');
});
