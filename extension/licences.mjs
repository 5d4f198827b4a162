// Whose work is inside of the bundles: the licence of each npm package that esbuild took anything from.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The licences' texts. `inputs` are the files that went in, as in esbuild's metafiles, from `folder`. */
export function licencesOf(inputs, folder) {
  const packages = new Set(inputs.map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]));
  packages.delete(undefined);
  return [...packages]
    .sort()
    .map((path) => licenceOf(join(folder, path)))
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file; see what it says, and whether it may be shipped.`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
