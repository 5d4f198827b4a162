import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { OWN_SETTINGS } from '../src/server/own_settings';

// The tests run in the repository's root (package.json, "unit").
interface Setting {
  order: number;
  scope: string;
  default: unknown;
  markdownDescription: string;
  properties?: Record<string, { default: string }>;
}
interface Manifest {
  version: string;
  icon: string;
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
  contributes: {
    commands: { command: string; title: string; icon?: string }[];
    menus: Record<string, { command?: string; submenu?: string }[]>;
    configuration: { title: string; properties: Record<string, Setting> }[];
    walkthroughs: { steps: { media: { markdown: string } }[] }[];
  };
}
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const page = readFileSync('docs/lsp.md', 'utf8');
const groups = manifest.contributes.configuration;
const settings = Object.fromEntries(groups.flatMap((each) => Object.entries(each.properties)));

function rowsOf(heading: string): string[][] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
}

test('the settings of the server are those of docs/lsp.md, with their defaults', () => {
  const rows = rowsOf('Settings');
  const names = new Set(Object.keys(settings).map((name) => name.split('.')[1] ?? ''));
  for (const name of OWN_SETTINGS) assert.ok(names.delete(name), name);
  assert.deepEqual(rows.map((row) => row[1]).sort(), [...names].sort());
  for (const [, name = '', value = ''] of rows) {
    assert.deepEqual(defaultOf(name), JSON.parse(value), name);
  }
});

/** VS Code makes one object of the settings whose names share a beginning, such as `prepared.packages`. */
function defaultOf(name: string): unknown {
  const own = settings[`kinetoscope.${name}`];
  if (own) return own.default;
  const beginning = `kinetoscope.${name}.`;
  const parts = Object.entries(settings).filter(([each]) => each.startsWith(beginning));
  return parts.length
    ? Object.fromEntries(parts.map(([each, part]) => [each.slice(beginning.length), part.default]))
    : undefined;
}

test('settings stand by what they are for, in an order of their own, what is changed most first', () => {
  for (const { title, properties } of groups) {
    const orders = Object.values(properties).map((each) => each.order);
    assert.deepEqual(
      orders,
      orders.map((_, index) => index + 1),
      title,
    );
  }
  assert.deepEqual(Object.keys(groups[1]?.properties ?? {}).slice(0, 2), [
    'kinetoscope.measuredCalls',
    'kinetoscope.warmupCalls',
  ]);
});

test('the severities are those of docs/lsp.md', () => {
  const documented = rowsOf('Diagnostics').flatMap(([, codes = '', severity = '']) =>
    codes.split(', ').map((code) => [code, severity]),
  );
  const properties = settings['kinetoscope.severities']?.properties ?? {};
  const set = Object.entries(properties).map(([code, value]) => [code, value.default]);
  assert.deepEqual(set.sort(), documented.sort());
});

test('every setting is described, and those that lead to code being run are restricted', () => {
  for (const [name, setting] of Object.entries(settings)) assert(setting.markdownDescription.length > 20, name);
  const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
  for (const name of [
    'interpreter',
    'importStrategy',
    'arguments',
    'environment',
    'envFile',
    'workingDirectory',
    'howFilesAreRun',
    'prepared.packages',
    'perfetto',
  ]) {
    assert(restricted.includes(`kinetoscope.${name}`), name);
  }
});

test('every command of docs/lsp.md has a title and an icon, and every menu names a command that there is', () => {
  const commands = new Map(manifest.contributes.commands.map((each) => [each.command, each]));
  for (const [, command = ''] of rowsOf('Commands')) assert(commands.get(command)?.icon, command);
  for (const entries of Object.values(manifest.contributes.menus)) {
    for (const { command } of entries) assert(command === undefined || commands.has(command), command);
  }
});

test('the version is that of the Python package, and files that are named are there', () => {
  const source = readFileSync('profiler_core/kinetoscope_core/__init__.py', 'utf8');
  assert.match(source, new RegExp(`__version__ = "${manifest.version.replaceAll('.', '\\.')}"`));
  const media = manifest.contributes.walkthroughs.flatMap((each) => each.steps.map((step) => step.media.markdown));
  const pictures = media.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map((found) =>
      join(dirname(page), found[1] ?? ''),
    ),
  );
  assert(pictures.length > 0);
  const packed = readFileSync('.vscodeignore', 'utf8').split('\n');
  for (const file of pictures) assert(packed.includes(`!${file}`), file);
  for (const file of [manifest.icon, ...media, ...pictures]) assert(existsSync(file), file);
});
