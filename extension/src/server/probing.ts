// Probe of an interpreter: what it is, and whether the server can run in it. Knows neither VS Code nor processes.

/** One line of JSON: version, implementation, and whether `kinetoscope` is installed there. */
export const PROBE = [
  'import importlib.util, json, platform, sys',
  'spec = importlib.util.find_spec("kinetoscope_server")',
  'print(json.dumps({"version": list(sys.version_info[:3]), "kind": platform.python_implementation(), "installed": bool(spec)}))',
].join('\n');

export const OLDEST: readonly [number, number] = [3, 10];

/** What a probe found out about an interpreter that can run the server. */
export interface PythonInfo {
  readonly version: string;
  readonly minor: string;
  readonly kind: string;
  readonly isInstalled: boolean;
}

/** Why the server cannot run: what is wrong and what to do, and the setting that has to do with it. */
export interface Refusal {
  readonly message: string;
  readonly setting: 'interpreter' | 'importStrategy';
}

interface ProbeAnswer {
  version: [number, number, number];
  kind: string;
  installed: boolean;
}

interface StartError extends Error {
  readonly code?: string | number | null | undefined;
  readonly killed?: boolean | undefined;
}

export function readProbe(
  path: string,
  error: StartError | null,
  stdout: string,
  stderr: string,
): PythonInfo | Refusal {
  if (error?.code === 'ENOENT' || error?.code === 'EACCES') {
    return { setting: 'interpreter', message: `There is no Python that runs at ${path}. Choose another interpreter.` };
  }
  let said: ProbeAnswer;
  try {
    if (error) throw error;
    said = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as ProbeAnswer;
  } catch {
    const why = stderr.trim().split('\n').at(-1) ?? '';
    const what = error?.killed ? 'did not answer within 30 s' : `did not start${why ? ` (${why})` : ''}`;
    return { setting: 'interpreter', message: `${path} ${what}. Choose another interpreter.` };
  }
  const [major, minor] = said.version;
  const version = said.version.join('.');
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    const message = `${path} is Python ${version}; Kinetoscope's server needs ${OLDEST.join('.')} or newer. Choose another interpreter.`;
    return { setting: 'interpreter', message };
  }
  return { version, minor: `${String(major)}.${String(minor)}`, kind: said.kind, isInstalled: said.installed };
}

/** Whether the libraries inside the extension fit the interpreter. `minors` are those that it carries. */
export function refusalOfBundled(path: string, probed: PythonInfo, minors: readonly string[]): Refusal | null {
  if (probed.kind === 'CPython' && minors.includes(probed.minor)) return null;
  const what = probed.kind === 'CPython' ? `Python ${probed.version}` : `${probed.kind} ${probed.version}`;
  const has = minors.length ? `libraries for CPython ${minors.join(', ')}` : 'no libraries';
  const message =
    `${path} is ${what}, and this build of Kinetoscope carries ${has}. Choose another interpreter, or install ` +
    'kinetoscope into it (python -m pip install . in a clone of its repository) and set kinetoscope.importStrategy to ' +
    'fromEnvironment.';
  return { setting: 'importStrategy', message };
}

export function refusalOfInstalled(path: string, probed: PythonInfo): Refusal | null {
  if (probed.isInstalled) return null;
  const message =
    `kinetoscope is not installed for ${path}, and kinetoscope.importStrategy is fromEnvironment. ` +
    'Install it (python -m pip install . in a clone of its repository), or set importStrategy to useBundled.';
  return { setting: 'importStrategy', message };
}
