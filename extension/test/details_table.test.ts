import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellText, columnsOf, tellingColumns, whyNoCuda } from '../src/details/table/columns';
import { csvOf, markdownOf } from '../src/details/exports';
import { listed, regionAt, timesOf } from '../src/details/listing';
import { arranged, filtered, nextOrder, regionsOf, USUAL_ORDER, type Order } from '../src/details/table/rows';
import { savedPage } from '../src/details/page';
import type { Measures } from '../src/server/protocol/measures';
import { region, run, spread } from './details_sample';

const shown = listed(run);
const columns = columnsOf(shown);
const regions = regionsOf(shown);
const names = (list: typeof regions): string[] => list.map((each) => each.measures.name);
const ordered = (order: Order): typeof regions => arranged(shown, regions, columns, order).map(({ region }) => region);

test('what torch marks is listed only where nothing has a line', () => {
  assert.deepEqual(names(regions), ['step', 'layer_10|a', 'layer_9', 'load, "all"']);
  assert.equal(regionsOf({ ...shown, run: null }).length, 5);
});

test('each word of the filter must be found, in name, file or bound', () => {
  assert.deepEqual(names(filtered(regions, ' LAYER  mixed ')), ['layer_10|a']);
  assert.deepEqual(names(filtered(regions, 'train.py over')), ['step']);
  assert.equal(filtered(regions, '').length, 4);
});

test('the order is by numbers or by names with numbers in them, and what was not measured comes last both ways', () => {
  const by = (column: 'cuda_total' | 'name', descending: boolean): string[] => names(ordered({ column, descending }));
  assert.deepEqual(by('cuda_total', true), ['layer_9', 'step', 'layer_10|a', 'load, "all"']);
  assert.deepEqual(by('cuda_total', false), ['layer_10|a', 'step', 'layer_9', 'load, "all"']);
  assert.deepEqual(by('name', false), ['layer_9', 'layer_10|a', 'load, "all"', 'step']);
});

test('numbers begin with the largest, names with the first; a second click turns the order', () => {
  const [name, total] = ['name', 'cuda_total'].map((id) => columns.find((column) => column.id === id));
  assert.ok(name && total);
  assert.deepEqual(nextOrder(USUAL_ORDER, total), { column: 'cuda_total', descending: true });
  assert.deepEqual(nextOrder({ column: 'cuda_total', descending: true }, total), {
    column: 'cuda_total',
    descending: false,
  });
  assert.deepEqual(nextOrder(USUAL_ORDER, name), { column: 'name', descending: false });
});

test('without CUDA times there are no columns of them, and why is said once', () => {
  const cpu = { ...shown, device_total_ns: null, no_cuda_because: 'torch is built without CUDA' };
  const ids = columnsOf(cpu).map((column) => column.id);
  assert.deepEqual(ids, ['name', 'cpu_total', 'share', 'cpu_self', 'line', 'measured']);
  assert.equal(whyNoCuda(cpu), 'No CUDA times: torch is built without CUDA.');
  assert.equal(whyNoCuda(shown), '');
});

test('columns that say nothing here are left out, and what is the same for all is said once', () => {
  const tellingOf = (changes: Partial<Measures>[]) => {
    const made = listed({ ...run, regions: changes.map((each, index) => region(index, each, { share: index / 10 })) });
    const { columns: found, same } = tellingColumns(columnsOf(made), made.regions);
    return { ids: found.map(({ id }) => id), same };
  };
  assert.deepEqual(
    tellingOf([{ cuda_self_ns: spread(100), cuda_busy_ns: spread(100) }, { cuda_busy_ns: spread(100) }]),
    {
      ids: ['name', 'cuda_total', 'cpu_total', 'share', 'cuda_self', 'line'],
      same: ['Bound: overhead-bound', 'CPU self: 10 ns', 'Launches: 2', 'Measured: 3 of 4'],
    },
  );
  assert.deepEqual(tellingOf([{}]).same, []);
  assert.deepEqual(tellingOf([{}]).ids.includes('backward_cuda'), false);
  assert.ok(tellingOf([{ backward_cuda_ns: spread(7) }, {}]).ids.includes('backward_cuda'));
});

test('each region stands below the one that it is nested in, also where that one is not listed', () => {
  const at = (index: number, name: string, total: number, parent: number | null) =>
    region(index, { name, cuda_total_ns: spread(total) }, { parent });
  const nested = listed({
    ...run,
    regions: [
      at(0, 'ProfilerStep#N', 100, null),
      at(1, 'forward', 30, 0),
      at(2, 'layer_1', 5, 1),
      at(3, 'layer_0', 20, 1),
      at(4, 'backward', 60, 0),
      at(5, 'AdamW.step', 8, 6),
      at(6, 'optimizer', 9, null),
    ],
  });
  const shownAs = (regionsShown: typeof regions, column: 'cuda_total' | 'cuda_self') =>
    arranged(nested, regionsShown, columnsOf(nested), { column, descending: true }).map(
      ({ region: { measures }, depth }) => '  '.repeat(depth) + measures.name,
    );
  const users = nested.regions.slice(1);
  const tree = ['backward', 'forward', '  layer_0', '  layer_1', 'optimizer', '  AdamW.step'];
  assert.deepEqual(shownAs(users, 'cuda_total'), tree);
  assert.deepEqual(shownAs(filtered(users, 'layer'), 'cuda_total'), ['layer_0', 'layer_1']);
  assert.ok(shownAs(users, 'cuda_self').every((name) => !name.startsWith(' ')));
});

test('what has no time has none in any column, and a series says how many names it stands for', () => {
  const series = region(0, { name: 'step N', names: 12 });
  const nothing = Object.fromEntries(
    ['cpu_total_ns', 'cpu_self_ns', 'cuda_total_ns', 'cuda_self_ns', 'cuda_busy_ns', 'backward_cuda_ns']
      .concat('launches', 'bound', 'median_call', 'breakdown', 'findings')
      .map((name) => [name, null]),
  ) as Partial<Measures>;
  const open = region(1, { ...nothing, name: 'training', measured: 0, unfinished: 1, at_least_ns: 4_130_000_000 });
  const mixed = listed({ ...run, regions: [series, open] });
  const cells = (index: number): string[] =>
    columnsOf(mixed).map((column) => {
      const row = mixed.regions[index];
      return row ? `${column.id}: ${cellText(column, row)}` : '';
    });
  assert.ok(cells(0).includes('name: step N (12 names)'));
  assert.ok(cells(1).includes('cpu_total: '));
  assert.ok(cells(1).includes('measured: at least 4.13 s, not ended'));
  const page = savedPage(
    { ...run, regions: [series, { ...open, share: null }] },
    {
      filter: '',
      order: USUAL_ORDER,
      hasAllColumns: false,
      chosen: 1,
      open: [],
      extent: 'cuda' as const,
      span: null,
      isCompared: false,
    },
    '',
  );
  assert.match(page, /Not measured: at least 4\.13 s, not ended/);
  assert.doesNotMatch(page, /The median call/);
});

test('a line is named with its file where there are several', () => {
  const two = listed({ ...run, regions: [region(0, {}), region(1, {}, { uri: 'file:///w/model.py' })] });
  const line = columnsOf(two).find((column) => column.id === 'line');
  assert.deepEqual(
    two.regions.map((each) => line?.value(each)),
    ['train.py:1', 'model.py:2'],
  );
});

test('Markdown has the times as they are shown, and no cell ends early', () => {
  const lines = markdownOf(columns, ordered(USUAL_ORDER)).split('\n');
  assert.equal(
    lines[0],
    '| Region | CUDA total | CPU total | Of GPU time | Bound | CUDA self | CPU self | Launches | Line | CUDA busy | Backward | Measured |',
  );
  assert.equal(lines[1], '|:--|--:|--:|--:|:--|--:|--:|--:|--:|--:|--:|--:|');
  assert.equal(
    lines[3],
    '| layer\\_9 | 1.50 µs | 100 ns | 80.0 % | compute-bound | 40 ns | 10 ns | 2 | 3 | 80 ns | 0 ns | 3 of 4 |',
  );
  assert.equal(lines[4]?.startsWith('| layer\\_10\\|a | 60 ns |'), true);
  assert.equal(lines[5]?.startsWith('| load, "all" |  | 100 ns |  |  |  | 10 ns | 2 | 4 | 80 ns |'), true);
});

test('CSV has nanoseconds and quotes what needs it', () => {
  const lines = csvOf(columns, regions).split('\r\n');
  assert.equal(
    lines[0],
    'region,cuda_total_ns_median,cpu_total_ns_median,share,bound,cuda_self_ns_median,cpu_self_ns_median,launches_median,line,cuda_busy_ns_median,backward_cuda_ns_median,measured',
  );
  assert.equal(lines[1], 'step,100,100,1,overhead-bound,40,10,2,1,80,0,3');
  assert.equal(lines[4], '"load, ""all""",,100,,,,10,2,4,80,0,3');
  assert.equal(lines[5], '');
});

test('what is long goes over only when it is asked for', () => {
  assert.ok(!JSON.stringify(listed({ ...run, regions: [region(0, {})] })).includes('cudaLaunchKernel","thread'));
  assert.equal(timesOf(run, 2)?.timeline?.host.length, 5);
  assert.equal(timesOf(run, 99), null);
});

test('a region is found by its name, nearest to the line', () => {
  const twice = {
    ...run,
    regions: [region(0, {}, { row: 3 }), region(1, {}, { row: 30 }), region(2, { name: 'other' })],
  };
  const at = (line: number, name: string, uri = 'file:///w/train.py'): number | null =>
    regionAt(twice, { uri, line, name });
  assert.equal(at(28, 'step'), 1);
  assert.equal(at(2, 'other'), 2);
  assert.equal(at(3, 'renamed since'), 0);
  assert.equal(at(3, 'step', 'file:///w/else.py'), null);
});

test('where the calls lie far apart, the table has their middle half, as the line has', () => {
  const wide = region(0, { cpu_middle_ns: [76_000, 344_000], cuda_middle_ns: [980, 2_000] });
  const texts = (of: typeof wide): string[] =>
    columns.filter(({ id }) => id === 'cpu_total' || id === 'cuda_total').map((column) => cellText(column, of));
  assert.deepEqual(texts(wide), ['980 ns–2.00 µs', '76.0–344 µs']);
  assert.deepEqual(texts(region(0, { cpu_middle_ns: [76_000, 151_999] })), ['100 ns', '100 ns']);
  const view = {
    filter: '',
    order: USUAL_ORDER,
    hasAllColumns: false,
    chosen: null,
    open: [],
    extent: 'cuda' as const,
    span: null,
    isCompared: false,
  };
  const page = savedPage({ ...run, regions: [wide] }, view, '');
  assert.match(page, /76\.0–344<span class="unit"> µs/);
  assert.match(page, /of calls that lie far apart, from where to where their middle half goes/);
  assert.doesNotMatch(savedPage(run, view, ''), /lie far apart/);
});
