// The panel's own side in a plain page: its bundle and its content security policy as they are, with VS Code around it
// played. themes.json has the colours of VS Code 1.100.3's Dark Modern, Light Modern and both high contrast themes.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const details = join(here, '..', '..', 'src', 'details');
const ORIGIN = 'http://panel.test';

export const themes = JSON.parse(readFileSync(join(here, 'themes.json'), 'utf8'));

const bundle = (options) => buildSync({ bundle: true, write: false, outdir: '/', ...options }).outputFiles;
const textOf = (files, ending) => files.find((file) => file.path.endsWith(ending)).text;

const panel = bundle({ entryPoints: [join(details, 'view', 'main.ts')], format: 'iife', target: 'chrome122' });
export const css = textOf(panel, '.css');

/** What the panel computes on the side of VS Code. */
export const { documentOf, listed, timesOf, savedPage, comparedIn, regionBefore, USUAL_ORDER } = imported([
  'document',
  'listing',
  'page',
  'region/compared',
  'table/rows',
]);

function imported(names) {
  const contents = names.map((name) => `export * from './${name}';`).join('\n');
  const files = bundle({ stdin: { contents, resolveDir: details, loader: 'ts' }, platform: 'node', format: 'cjs' });
  const module = { exports: {} };
  new Function('module', 'exports', 'require', textOf(files, '.js'))(module, module.exports, createRequire(here));
  return module.exports;
}

/** Opens the panel with a run in it, and with what it is compared with (`comparison` and the run `before`). What it asks for comes back in `posted`, what the browser complains of in `complaints`. */
export async function openPanel(browser, run, { theme = 'dark', width = 1100, height = 900, state, compared } = {}) {
  const page = await browser.newPage({ viewport: { width, height } });
  const complaints = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.route('**/*', (route) => {
    const { origin, pathname } = new URL(route.request().url());
    if (origin !== ORIGIN) return route.abort();
    const answers = {
      '/': () => [
        documentOf({ script: '/details.js', style: '/details.css', source: ORIGIN, nonce: 'abc' }),
        'text/html',
      ],
      '/details.js': () => [textOf(panel, '.js'), 'text/javascript'],
      '/details.css': () => [css, 'text/css'],
      '/favicon.ico': () => ['', 'image/x-icon'],
    };
    const [body, contentType] = answers[pathname]();
    return route.fulfill({ body, contentType });
  });
  const posted = [];
  const kept = { state };
  await page.exposeFunction('toPanel', (message) => {
    posted.push(message);
    if (message.kind === 'ready' && run) send({ kind: 'run', uri: null, run: listed(run), choose: null });
    if (message.kind === 'ready' && compared) {
      send({ kind: 'comparison', run: run.id, comparison: compared.comparison, isAskedFor: false });
    }
    if (message.kind === 'before') {
      const region = run.regions.find(({ index }) => index === message.region);
      const before = regionBefore(compared.before, comparedIn(compared.comparison)(region)) ?? null;
      send({ ...message, before });
    }
    if (message.kind === 'times') send({ ...message, times: timesOf(run, message.region) });
  });
  await page.exposeFunction('keep', (next) => (kept.state = next));
  await page.addInitScript(
    ({ kind, values, state }) => {
      let now = state;
      globalThis.acquireVsCodeApi = () => ({
        postMessage: (message) => globalThis.toPanel(message),
        getState: () => now,
        setState: (next) => globalThis.keep((now = next)),
      });
      document.addEventListener('DOMContentLoaded', () => document.body.classList.add(kind));
      new MutationObserver((_, observer) => {
        if (!document.documentElement) return;
        observer.disconnect();
        for (const [name, value] of Object.entries(values)) document.documentElement.style.setProperty(name, value);
      }).observe(document, { childList: true });
    },
    { kind: `vscode-${theme}`, values: themes[theme], state },
  );
  const send = (message) => page.evaluate((data) => void window.postMessage(data, '*'), message);
  await page.goto(`${ORIGIN}/`);
  if (run) await page.waitForSelector('#regions tr[data-region], #contents .card');
  return { page, posted, complaints, kept, send };
}
