// Bundles the extension (Node) and the details panel (browser) into extension/dist; with --tests, the unit tests.
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const common = { absWorkingDir: here, bundle: true, minify: true, logLevel: 'warning', legalComments: 'linked' };
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
  await build({ ...node, entryPoints: ['src/extension.ts'], outdir: 'dist', external: ['vscode'] });
  await build({
    ...common,
    platform: 'browser',
    target: 'chrome122',
    format: 'iife',
    entryPoints: { details: 'src/details/view/main.ts' },
    outdir: 'dist',
  });
}
