import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barStyle, heatOf } from '../src/editor/heat';

test('a bar is wider the larger the share, and there is none where the share is not known', () => {
  assert.deepEqual([0.5, 0.4, 0.39, 0.1, 0.01, null].map(heatOf), [0, 0, 1, 2, 3, undefined]);
});

test('a bar says whether its share is of the result that the file shows, and of this code', () => {
  assert.equal(barStyle({ stale: [], origin: '' }), 'solid');
  assert.equal(barStyle({ stale: ['the region was edited'], origin: '' }), 'dotted');
  assert.equal(barStyle({ stale: [], origin: 'from infer.py' }), 'dashed');
});
