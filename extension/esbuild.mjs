// Bundles the extension (Node) and the details panel (browser) into extension/dist; with --tests, the unit tests.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { licencesOf } from './licences.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  metafile: true,
  logLevel: 'warning',
  legalComments: 'none',
};
const node = { ...common, platform: 'node', target: 'node20', format: 'cjs' };

if (process.argv.includes('--tests')) {
  rmSync(join(here, 'dist-test'), { recursive: true, force: true });
  const tests = readdirSync(join(here, 'test')).filter((name) => name.endsWith('.test.ts'));
  await build({
    ...node,
    minify: false,
    sourcemap: 'inline',
    entryPoints: tests.map((name) => `test/${name}`),
    outdir: 'dist-test',
    external: ['vscode'],
  });
} else {
  rmSync(join(here, 'dist'), { recursive: true, force: true });
  const host = await build({ ...node, entryPoints: ['src/extension.ts'], outdir: 'dist', external: ['vscode'] });
  const view = await build({
    ...common,
    platform: 'browser',
    target: 'chrome122',
    format: 'iife',
    entryPoints: { details: 'src/details/view/main.ts' },
    outdir: 'dist',
  });
  const inputs = [host, view].flatMap(({ metafile }) => Object.keys(metafile.inputs));
  writeFileSync(join(here, 'dist', 'third-party-licences.txt'), licencesOf(inputs, here));
}
