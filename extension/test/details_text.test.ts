import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countText, fileName, kernelName, printable, shareText, timeText } from '../src/details/text';
import { html } from '../src/details/markup';
import { ticks } from '../src/details/charts/scale';

test('times are those of kinetoscope_core/text.py, ties to the even digit included', () => {
  const said: [number, string][] = [
    [0, '0 ns'],
    [999, '999 ns'],
    [1_000, '1.00 µs'],
    [1_115, '1.11 µs'],
    [1_125, '1.12 µs'],
    [1_135, '1.14 µs'],
    [9_995, '9.99 µs'],
    [99_949, '99.9 µs'],
    [99_950, '100 µs'],
    [999_499, '999 µs'],
    [999_500, '1.00 ms'],
    [19_712, '19.7 µs'],
    [214_000, '214 µs'],
    [59_999_999_999, '60.0 s'],
    [12_345_678_900_000, '12346 s'],
  ];
  for (const [ns, text] of said) assert.equal(timeText(ns), text);
});

test('shares never say nothing of what is something', () => {
  assert.deepEqual([0, 0.0004, 0.001, 0.3726, 0.9994, 0.9996, 1].map(shareText), [
    '0 %',
    '< 0.1 %',
    '0.1 %',
    '37.3 %',
    '99.9 %',
    '100 %',
    '100 %',
  ]);
  assert.equal(countText(1, 'launch') + countText(2, 'launch') + countText(0, 'region'), '1 launch2 launches0 regions');
});

test('a kernel has its short name, and in results of older versions its whole one', () => {
  assert.equal(kernelName({ name: 'void gemm<float>(int)', short: 'gemm<float>' }), 'gemm<float>');
  assert.equal(kernelName({ name: 'void gemm<float>(int)' }), 'void gemm<float>(int)');
});

test('names stay in one line, and files are named without their folders', () => {
  assert.equal(printable('a\nb\u001b[31m\u2028é'), 'a\\nb\\x1b[31m\\u2028é');
  assert.equal(fileName('file:///w/my%20train.py'), 'my train.py');
  assert.equal(fileName('/w/100%.json'), '100%.json');
});

test('whatever is put into markup is escaped, but for markup', () => {
  const name = `<img src=x onerror="alert('&')">`;
  assert.equal(
    html`<b title="${name}">${[html`<i>${1.005}</i>`, name]}${null}</b>`.text,
    '<b title="&lt;img src=x onerror=&quot;alert(&#39;&amp;&#39;)&quot;&gt;"><i>1</i>' +
      '&lt;img src=x onerror=&quot;alert(&#39;&amp;&#39;)&quot;&gt;</b>',
  );
});

test('an axis has round steps in one unit', () => {
  assert.deepEqual(
    ticks(0, 105_000, 8).map((tick) => tick.text),
    ['0', '20 µs', '40 µs', '60 µs', '80 µs', '100 µs'],
  );
  assert.deepEqual(
    ticks(1_400_000, 1_401_000, 3).map((tick) => tick.text),
    ['1.4000 ms', '1.4005 ms', '1.4010 ms'],
  );
  assert.deepEqual(
    ticks(0, 3, 10).map((tick) => tick.ns),
    [0, 1, 2, 3],
  );
});
