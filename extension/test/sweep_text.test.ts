import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNoSweep } from '../src/runs/sweep_text';

test('a sweep is names with values, and what is none is told with an example', () => {
  for (const text of ['size=64,1024', 'size=64 compile=,yes', '-n=1,2', "name='a b',c"])
    assert.equal(whyNoSweep(text), null, text);
  for (const text of ['', 'size', 'size 64', '=1,2', '--=1', '"a']) assert(whyNoSweep(text), text);
  assert.match(whyNoSweep('size') ?? '', /size does not say what to vary: .* size=64,1024,4096/);
});
