import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boxBeside, icicleLayout, type IcicleLayout } from '../src/details/charts/icicle';
import { boxText, icicleCaption } from '../src/details/charts/icicle_drawing';
import { extentsOf, moduleTree } from '../src/details/charts/modules';
import { regionAt } from '../src/details/listing';
import { rowsOf } from '../src/details/table/rows';
import { nameBelow } from '../src/details/text';
import type { RunRegion, RunResult } from '../src/server/protocol/results';
import { region, run, spread } from './details_sample';

const module = { class_name: 'Block', file: null, line: null, is_compiled: false };

/** A module whose calls were all measured but warm-up, 5 of 8. */
function at(index: number, name: string, ns: number, rest: Partial<RunRegion>, more = {}): RunRegion {
  const sum = { sum: ns, median: ns / 5, min: 0, max: ns };
  const measures = { name, calls: 8, measured: 5, cuda_total_ns: sum, backward_cuda_ns: { ...sum, sum: 2 * ns } };
  return region(index, { ...measures, origin: 'module', module, ...more }, rest);
}

const model: RunResult = {
  ...run,
  backward: { total_ns: 2_500, of_regions_ns: 2_000 },
  regions: [
    at(0, 'Llama', 1_000, {}),
    at(1, 'embed', 100, { parent: 0 }),
    at(2, 'layers.*', 800, { parent: 0 }, { names: 2, slowest: 'layers.1', calls: 16, measured: 10 }),
    at(3, 'layers.*.mlp', 600, { parent: 2 }, { names: 2, slowest: 'layers.1.mlp', calls: 16, measured: 10 }),
    at(4, 'layers.0', 300, { parent: 0, series: 2 }),
    at(5, 'layers.0.mlp', 200, { parent: 2, series: 3, inside: 4 }),
    at(6, 'layers.1', 500, { parent: 0, series: 2 }),
    at(7, 'layers.1.mlp', 400, { parent: 2, series: 3, inside: 6 }),
    at(8, 'relu', 26, { parent: 0 }, { calls: 16, measured: 13, module: { ...module, is_compiled: true } }),
    at(9, 'layers.*.mlp.gate', 50, { parent: 3 }, { names: 2, slowest: null, calls: 16, measured: 10 }),
    at(10, 'layers.0.mlp.gate', 20, { parent: 3, series: 9, inside: 5 }),
    at(11, 'layers.1.mlp.gate', 30, { parent: 3, series: 9, inside: 7 }),
  ],
};

const drawn = (open: readonly number[]): IcicleLayout => icicleLayout(moduleTree(model, 'cuda', open).roots, 1_000);
test('at the forward of its class a module is found, at another line the region that stands next to it', () => {
  const forward = (line: number): object => ({ module: { ...module, file: '/w/my net.py', line } });
  const uri = 'file:///w/my%20net.py';
  const regions = [at(0, 'Net', 9, { uri, row: 25 }, forward(20)), at(1, 'layers.*', 8, { uri, row: 17 }, forward(11))];
  const found = (line: number, name = 'def forward(self):'): number | null =>
    regionAt({ ...model, regions }, { uri, line, name });
  assert.deepEqual([found(19), found(10), found(17), found(25), found(0, 'Net')], [0, 1, 1, 0, 0]);
});

test('below a module, a name is shown without what that one is called', () => {
  const [llama, , series, mlp] = model.regions.map(({ measures }) => measures);
  assert.ok(llama && series && mlp);
  assert.equal(nameBelow(mlp, series), 'mlp ×2');
  assert.equal(nameBelow(series, llama), 'layers.* ×2');
  assert.equal(nameBelow(mlp, null), 'layers.*.mlp ×2');
  assert.equal(nameBelow({ ...mlp, name: 'layers.*_norm' }, series), 'layers.*_norm ×2');
  assert.equal(nameBelow({ ...mlp, module: null }, series), 'layers.*.mlp ×2');
});

const names = (layout: IcicleLayout): string[][] =>
  layout.rows.map((row) => row.map(({ node }) => node.region.measures.name));

test('levels are the rows of the tree: closed a series is one box, open it stands above its names', () => {
  assert.deepEqual(names(drawn([])), [
    ['Llama'],
    ['embed', 'layers.*', 'relu'],
    ['layers.*.mlp'],
    ['layers.*.mlp.gate'],
  ]);
  assert.deepEqual(names(drawn([3])).slice(2), [['layers.*.mlp'], ['layers.0.mlp', 'layers.1.mlp']]);
  assert.deepEqual(names(drawn([2])).slice(2), [['layers.0', 'layers.1']]);
  assert.deepEqual(names(drawn([2, 6, 7])).slice(2), [
    ['layers.0', 'layers.1'],
    ['layers.1.mlp'],
    ['layers.1.mlp.gate'],
  ]);
  assert.deepEqual(names(drawn([2, 6])).slice(2), [['layers.0', 'layers.1'], ['layers.1.mlp']]);
});

test('the table has the same rows, and the filter finds a name whose series it does not find', () => {
  const rows = (filter: string, open: readonly number[]): string[] =>
    rowsOf(model, filter, open).map(({ measures }) => measures.name);
  assert.deepEqual(rows('', [2]), ['Llama', 'embed', 'layers.*', 'layers.0', 'layers.1', 'relu']);
  assert.deepEqual(rows('mlp', []), ['layers.*.mlp', 'layers.*.mlp.gate']);
  assert.deepEqual(rows('layers.1', []), ['layers.1', 'layers.1.mlp', 'layers.1.mlp.gate']);
});

test('a module with other measured calls is reckoned to those of the outermost', () => {
  const { base, roots } = moduleTree(model, 'cuda', []);
  assert.equal(base?.measures.name, 'Llama');
  const relu = roots[0]?.children.find(({ region: { measures } }) => measures.name === 'relu');
  assert.equal(relu?.ns, 20); // 26 in 13 of 16 calls; 5 of 8 calls of the model have 10 of these 16
  assert.equal(roots[0]?.rest, 1_000 - 100 - 800 - 20);
});

test('each box says what it is, and the caption what the widths are and what could not be attributed', () => {
  const tree = moduleTree(model, 'backward', []);
  const layers = tree.roots[0]?.children.find(({ region: { index } }) => index === 2);
  assert.ok(layers);
  assert.equal(
    boxText(layers, tree, 'backward'),
    'layers.* ×2 · Block · Backward 1.60 µs, 80.0 % · 400 ns of it in no nested module · median of a call 160 ns · the slowest is layers.1',
  );
  assert.match(icicleCaption(model, tree, 'backward'), /5 measured calls of Llama.*500 ns \(20\.0 %\) could not be/);
  assert.deepEqual(extentsOf(model), ['cuda', 'cpu', 'backward']);
  assert.deepEqual(extentsOf(run), []);
});

test('arrow keys lead along a level, up and down', () => {
  const layout = drawn([]);
  const layers = layout.rows[1]?.[1];
  assert.ok(layers);
  const after = (key: string): string | undefined => boxBeside(layout, layers, key)?.node.region.measures.name;
  assert.deepEqual(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home'].map(after), [
    'embed',
    'relu',
    'Llama',
    'layers.*.mlp',
    'Llama',
  ]);
  assert.equal(boxBeside(layout, layers, 'x'), null);
});

test('of any tree, boxes of a level never overlap, children lie in their parent where they fit, each module is there once', () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let turn = 0; turn < 200; turn += 1) {
    const isLawful = turn % 2 === 0;
    const regions: RunRegion[] = [];
    const add = (ns: number, parent: number | null, depth: number): void => {
      const index = regions.length;
      regions.push(at(index, `m${index}`, ns, { parent }, { cuda_total_ns: spread(ns, 1) }));
      let left = ns;
      for (let child = 0; depth < 4 && child < random(5); child += 1) {
        const part = 1 + random(isLawful ? Math.max(1, left - 1) : 2 * ns);
        if (isLawful && part >= left) break;
        left -= part;
        add(part, index, depth + 1);
      }
    };
    for (let root = 0; root < 1 + random(3); root += 1) add(1_000 + random(1_000_000), null, 0);
    const { rows } = icicleLayout(moduleTree({ ...model, regions }, 'cuda', []).roots, 777);
    const boxes = rows.flat();
    assert.deepEqual(
      boxes.map(({ node }) => node.region.index).sort((a, b) => a - b),
      regions.map(({ index }) => index),
    );
    for (const row of rows) {
      row.forEach((box, place) => {
        const next = row[place + 1];
        assert.ok(box.x + box.width <= (next ? next.x : 777) + 1e-6);
      });
    }
    for (const { x, width, above } of isLawful ? boxes : []) {
      assert.ok(!above || (x >= above.x - 1e-6 && x + width <= above.x + above.width + 1e-6));
    }
  }
});
