import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { PROBE, readProbe, refusalOfBundled, refusalOfInstalled } from '../src/server/probing';

const said = (version: number[], kind = 'CPython', installed = false): string =>
  `a line of a sitecustomize\n${JSON.stringify({ version, kind, installed })}\n`;

function good(stdout: string) {
  const found = readProbe('/py', null, stdout, '');
  assert(!('setting' in found), JSON.stringify(found));
  return found;
}

function refused(error: Parameters<typeof readProbe>[1], stdout = '', stderr = '') {
  const found = readProbe('/py', error, stdout, stderr);
  assert('setting' in found);
  return found;
}

test('a real interpreter answers the probe', () => {
  const printed = execFileSync('python3', ['-I', '-c', PROBE], { encoding: 'utf8' });
  const found = good(printed);
  assert.match(found.version, /^3\.\d+\.\d+$/);
  assert.equal(found.minor, found.version.split('.').slice(0, 2).join('.'));
});

test('what is wrong with an interpreter is said with what to do', () => {
  const failure = Object.assign(new Error('failed'), { code: 1 });
  assert.match(refused(Object.assign(new Error(), { code: 'ENOENT' })).message, /There is no Python that runs at \/py/);
  const broken = refused(failure, '', 'Fatal Python error\nno module encodings\n');
  assert.deepEqual(broken, {
    setting: 'interpreter',
    message: '/py did not start (no module encodings). Choose another interpreter.',
  });
  assert.match(refused(Object.assign(new Error(), { killed: true })).message, /did not answer within 30 s/);
  assert.match(refused(null, 'not JSON').message, /did not start\./);
  const old = refused(null, said([3, 9, 18]));
  assert.match(old.message, /Python 3\.9\.18; .* needs 3\.10 or newer/);
  assert.match(refused(null, said([2, 7, 18])).message, /Python 2\.7\.18; .* needs 3\.10 or newer/);
});

test('only a CPython whose libraries are there runs the bundled server', () => {
  const minors = ['3.10', '3.11'];
  assert.equal(refusalOfBundled('/py', good(said([3, 11, 7])), minors), null);
  assert.match(refusalOfBundled('/py', good(said([3, 15, 0])), minors)?.message ?? '', /carries .* 3\.10, 3\.11/);
  assert.match(refusalOfBundled('/py', good(said([3, 11, 7], 'PyPy')), minors)?.message ?? '', /is PyPy 3\.11\.7/);
});

test('an environment without kinetoscope says how to get it', () => {
  assert.equal(refusalOfInstalled('/py', good(said([3, 11, 7], 'CPython', true))), null);
  assert.match(refusalOfInstalled('/py', good(said([3, 11, 7])))?.message ?? '', /pip install \. in a clone/);
});
