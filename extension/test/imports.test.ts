// Imports between the files of the extension, those of types included: no cycle, and folders that know only what is below.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const ROOT = 'extension/src';

const PLAIN = ['details/text', 'details/markup', 'details/plain_table', 'details/tree'];

/** What the files of a folder may import besides each other. Files that stand in no folder of the list may import all. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  server: ['foreign'],
  runs: ['foreign', 'server', 'details/text'],
  editor: ['foreign', 'server', 'runs'],
  'details/charts': [...PLAIN, 'server/protocol'],
  'details/region': [...PLAIN, 'server/protocol', 'details/charts'],
  'details/table': [...PLAIN, 'server/protocol', 'details/region'],
  'details/view': ['details', 'server/protocol'],
  details: ['foreign', 'server/protocol'],
};

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replaceAll('\\', '/').slice(0, -'.ts'.length));
const importsOf = new Map(files.map((file) => [file, imports(file)]));

function imports(file: string): string[] {
  const source = readFileSync(join(ROOT, `${file}.ts`), 'utf8');
  const found = [...source.matchAll(/^(?:import|export) [^;]*?from '(\.[^']*)';$/gm)];
  return found.map(([, path]) => join(dirname(file), path ?? '').replaceAll('\\', '/'));
}

const isIn = (file: string, folder: string): boolean => file === folder || file.startsWith(`${folder}/`);

test('every relative import is one of a file that there is', () => {
  assert.ok(files.includes('extension') && (importsOf.get('extension')?.length ?? 0) > 10);
  for (const [file, targets] of importsOf) {
    for (const target of targets) assert.ok(existsSync(join(ROOT, `${target}.ts`)), `${file} imports ${target}`);
  }
});

test('no file imports itself over others', () => {
  const done = new Set<string>();
  const follow = (file: string, way: readonly string[]): void => {
    assert.ok(!way.includes(file), [...way.slice(way.indexOf(file)), file].join(' → '));
    if (done.has(file)) return;
    for (const target of importsOf.get(file) ?? []) follow(target, [...way, file]);
    done.add(file);
  };
  for (const file of files) follow(file, []);
});

test('folders import only what is below them, and nobody the side of the web view', () => {
  for (const [file, targets] of importsOf) {
    const folder = Object.keys(MAY_IMPORT).find((each) => isIn(file, each));
    for (const target of targets) {
      const isAllowed = !folder || [folder, ...(MAY_IMPORT[folder] ?? [])].some((each) => isIn(target, each));
      assert.ok(isAllowed, `${file} imports ${target}`);
      assert.ok(isIn(file, 'details/view') || !isIn(target, 'details/view'), `${file} imports ${target}`);
    }
  }
});
