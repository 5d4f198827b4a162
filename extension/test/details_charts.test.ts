import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lanesLayout, linkedTo, neighbour, wholeSpan } from '../src/details/charts/lanes';
import { itemText, lanesCaption, lanesSvg, lanesTable } from '../src/details/charts/lanes_drawing';
import { compositionMarkup, compositionsOf } from '../src/details/region/composition';
import { callsLayout, callsSummary, callText } from '../src/details/charts/calls';
import { callsCaption } from '../src/details/charts/calls_drawing';
import { moved, showing, zoomed } from '../src/details/charts/spans';
import { measures, calls, spread, timeline } from './details_sample';

const WIDTH = 2_000;
const layout = lanesLayout(timeline, WIDTH, wholeSpan(timeline));
const boxOf = (item: number): (typeof layout.boxes)[number] => {
  const box = layout.boxes.find((each) => each.item === item);
  assert.ok(box);
  return box;
};

test('slices stand to scale, those of one depth in one row', () => {
  // 200 ns on 2,000 pixels; a pixel is left between neighbours.
  assert.deepEqual([boxOf(1).x, boxOf(1).width], [100, 399]);
  assert.deepEqual([boxOf(5).x, boxOf(5).width], [500, 499]);
  assert.equal(boxOf(1).y, boxOf(4).y);
  assert.ok(boxOf(2).y > boxOf(1).y && boxOf(3).y > boxOf(2).y);
  assert.deepEqual(
    layout.lanes.map((lane) => lane.title),
    ['CPU', 'CPU, other thread', 'GPU, stream 7'],
  );
  assert.equal(layout.left, 1_000);
});

test('where a region ends soon, that is not written over the title of the lane', () => {
  const textAt = (cpu_total_ns: number): number => {
    const short = { ...timeline, cpu_total_ns };
    const { text } = lanesSvg(lanesLayout(short, WIDTH, wholeSpan(short)), short);
    return Number(/class="left"\s+x="([\d.]+)"/.exec(text)?.[1]);
  };
  assert.equal(textAt(100), 1_004);
  assert.ok(textAt(1) > 'CPU'.length * 8, `its end is at 10, the text at ${textAt(1)}`);
});

test('a launch is connected with what it launched', () => {
  assert.deepEqual(
    layout.links.map(({ launch, activity, x1, x2 }) => ({ launch, activity, x1, x2 })),
    [
      { launch: 2, activity: 5, x1: 200, x2: 500 },
      { launch: 3, activity: 6, x1: 600, x2: 1_500 },
    ],
  );
  assert.deepEqual(
    [2, 5, 0].map((item) => linkedTo(timeline, item)),
    [5, 2, null],
  );
});

test('gaps of a stream are named, unless what was left out may lie in them', () => {
  assert.deepEqual(
    layout.gaps.map(({ x, width, text }) => ({ x, width, text })),
    [
      { x: 0, width: 500, text: 'gap 50 ns' },
      { x: 1_000, width: 500, text: 'gap 50 ns' },
    ],
  );
  const partly = { ...timeline, device_left_out: 3 };
  assert.deepEqual(lanesLayout(partly, WIDTH, wholeSpan(partly)).gaps, []);
  assert.match(lanesCaption(partly, measures), /The shortest are not drawn: 3 GPU activities\.$/);
  assert.doesNotMatch(lanesCaption(partly, measures), /gap/);
});

test('arrow keys walk along a row and to the nearest of the next', () => {
  const from = (item: number, key: string): number => neighbour(layout, timeline, item, key);
  assert.equal(from(1, 'ArrowRight'), 4);
  assert.equal(from(4, 'ArrowRight'), 4);
  assert.equal(from(4, 'ArrowDown'), 2);
  assert.equal(from(3, 'ArrowDown'), 5);
  assert.equal(from(6, 'ArrowUp'), 3);
  assert.equal(from(0, 'ArrowUp'), 0);
});

test('each thing drawn is said in words', () => {
  assert.equal(
    itemText(timeline, 2),
    'cudaLaunchKernel · launch · 10 ns, starting 20 ns in · launched gemm<float>, which began 30 ns after the start',
  );
  assert.equal(
    itemText(timeline, 5),
    'gemm<float> · GPU, stream 7 · 50 ns, starting 50 ns in · began 30 ns after the start of cudaLaunchKernel',
  );
  assert.match(
    lanesCaption(timeline, measures),
    /^The call with the median CPU total, drawn to scale: 100 ns on the CPU, 100 ns of CUDA total; its last GPU activity ends 100 ns after/,
  );
  assert.match(
    lanesCaption(timeline, { ...measures, cuda_total_ns: spread(120) }),
    /100 ns of CUDA total \(the median of all calls is 120 ns\);/,
  );
  assert.match(lanesCaption({ ...timeline, device: [], end_ns: 100 }, measures), /no GPU activity/);
  assert.equal(lanesTable(timeline).text.match(/<tr>/g)?.length, 8);
});

test('zooming stays within the call and keeps what is pointed at in place', () => {
  const whole = { from: 0, to: 1_000 };
  assert.deepEqual(zoomed(whole, whole, 0.5, 200), { from: 100, to: 600 });
  assert.deepEqual(zoomed({ from: 900, to: 1_000 }, whole, 2, 1_000), { from: 800, to: 1_000 });
  assert.deepEqual(zoomed(whole, whole, 2, 500), whole);
  assert.deepEqual(moved({ from: 100, to: 300 }, whole, -500), { from: 0, to: 200 });
  assert.deepEqual(showing({ from: 100, to: 300 }, whole, 350, 360), { from: 160, to: 360 });
  assert.deepEqual(showing({ from: 100, to: 300 }, whole, 120, 130), { from: 100, to: 300 });
});

test('calls stand in order, and one that is far above the median is cut', () => {
  const { lanes, median, warmups, numbers } = callsLayout(calls, measures, 600);
  assert.deepEqual(
    lanes.map((lane) => lane.kind),
    ['cuda', 'cpu'],
  );
  const bars = lanes[1]?.bars ?? [];
  assert.deepEqual(
    bars.map((bar) => bar.cut),
    ['900 ns', null, null, null],
  );
  assert.deepEqual(
    bars.map((bar) => bar.isHatched),
    [true, false, false, false],
  );
  const heights = bars.map((bar) => bar.height);
  assert.deepEqual(
    heights,
    [...heights].sort((a, b) => b - a),
  );
  assert.equal(median, 2);
  assert.ok(warmups);
  assert.deepEqual(
    numbers.map((each) => each.text),
    ['1', '2', '3', '4'],
  );
});

test('of a choice among many calls no number is claimed', () => {
  const many = { ...measures, calls: 900 };
  assert.deepEqual(callsLayout(calls, many, 600).numbers, []);
  assert.match(callsCaption(calls, many), /^4 of 900 calls, evenly chosen/);
  assert.match(callText(calls, many, 1, false), /^Call 2 of the 4 kept · /);
});

test('a call is said in words, and so is the chart', () => {
  assert.equal(
    callText(calls, measures, 2, true),
    'Call 3 of 4 (median CPU total) · CUDA 100 ns, busy 80 ns · CPU 100 ns, self 10 ns · 4.00 µs after the first',
  );
  assert.equal(
    callsSummary(calls, measures),
    '4 calls in order of time, 1 of them warm-up. CUDA median 100 ns, from 100 ns to 100 ns. CPU median 100 ns, from 90 ns to 110 ns',
  );
});

test('without a GPU the calls have one lane', () => {
  const cpu = { ...measures, cuda_total_ns: null };
  const none = calls.map((each) => ({ ...each, cuda_total_ns: null, cuda_busy_ns: null }));
  assert.deepEqual(
    callsLayout(none, cpu, 600).lanes.map((lane) => lane.kind),
    ['cpu'],
  );
  assert.doesNotMatch(callText(none, cpu, 1, false), /CUDA/);
});

test('a call that raised says so, and looks like one that is not measured where others are', () => {
  const failing = calls.map((each, index) => ({ ...each, raised: index === 3 ? 'KeyError' : null }));
  const some = { ...measures, raised: 1, exception: 'KeyError' };
  assert.match(callText(failing, some, 3, false), /^Call 4 of 4 \(raised KeyError\)/);
  assert.match(callsCaption(failing, some), /Hatched: warm-up or raised, not measured\.$/);
  const hatched = (of: typeof some): number[] =>
    callsLayout(failing, of, 600).lanes[1]?.bars.flatMap((bar) => (bar.isHatched ? [bar.index] : [])) ?? [];
  assert.deepEqual(hatched(some), [0, 3]);
  assert.deepEqual(hatched({ ...some, is_raised: true }), [0]);
});

test('the parts of a total add up to it', () => {
  assert.ok(measures.breakdown);
  const [cuda, cpu] = compositionsOf(measures.breakdown);
  assert.deepEqual([cuda?.totalNs, cpu?.totalNs], [300, 300]);
  const alone = compositionsOf({
    ...measures.breakdown,
    cuda_nested_ns: null,
    cuda_self_ns: null,
    cpu_api_calls_ns: 0,
  });
  assert.deepEqual(
    alone.map(({ title, parts }) => [title, parts.map((part) => part.name)]),
    [['CPU total', ['operators', 'self']]],
  );
});

test('what is waited for the autograd thread is a part of its own, with what that thread ran', () => {
  const operator = { name: 'autograd::engine::evaluate_function: MulBackward0', is_on_other_thread: true, count: 3 };
  const breakdown = {
    ...measures.breakdown,
    cpu_autograd_wait_ns: 20,
    autograd_operators: [{ ...operator, cpu_total_ns: 15, cuda_total_ns: 40 }],
    autograd_operator_names: 2,
  };
  assert.deepEqual(
    compositionsOf(breakdown)[1]?.parts.map(({ name, ns }) => [name, ns]),
    [
      ['operators', 120],
      ['CUDA API calls', 150],
      ['self, waiting for the autograd thread', 20],
      ['self, all else', 10],
    ],
  );
  const page = compositionMarkup({ ...measures, breakdown }).text;
  assert.match(page, /Meanwhile on the autograd thread<[^]*Operator, 1 of 2/);
  assert.match(page, /MulBackward0<[^]*>15 ns<[^]*>75\.0 %</);
  assert.doesNotMatch(page, />0 ns</);
});
