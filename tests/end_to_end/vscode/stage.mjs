// What scenarios stand on: a workspace, a VS Code with our extension in a Chromium, steps that are named.
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { ORIGIN, playPerfetto } from '../perfetto_ui.mjs';
import { CodeServer } from './code_server.mjs';
import { Workbench } from './workbench.mjs';

const VIEWPORT = { width: 1400, height: 1080 }; // all of the example fits
const STEP_TIMEOUT_MS = 60_000;

export class Stage {
  #steps = [];
  #strangers = new Set();

  constructor(given) {
    this.given = given;
    this.workspace = path.join(given.scratch, 'workspace');
    this.perfettos = [ORIGIN];
    this.cache = path.join(given.scratch, 'cache');
    fs.mkdirSync(this.workspace, { recursive: true });
    this.isGivenUp = new Promise((_, reject) => (this.giveUp = reject));
  }

  /** Starts Chromium. */
  async #open() {
    const profile = path.join(this.given.scratch, 'chromium');
    // Frames may keep data, as the Perfetto UI must in one: Debian's Chromium refuses it by default.
    fs.mkdirSync(path.join(profile, 'Default'), { recursive: true });
    const preferences = JSON.stringify({ profile: { cookie_controls_mode: 0 } });
    fs.writeFileSync(path.join(profile, 'Default', 'Preferences'), preferences);
    this.context = await chromium.launchPersistentContext(profile, {
      executablePath: this.given.chromium,
      args: [
        ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-sync'],
        ...['--disable-background-networking', '--disable-component-update'],
      ],
      viewport: VIEWPORT,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    this.context.setDefaultTimeout(STEP_TIMEOUT_MS);
    this.context.on('request', (request) => this.#note(request));
    await playPerfetto(this.context, this.given.perfetto);
  }

  /** Copies a file of the project into the workspace. */
  bring(file, name = path.basename(file)) {
    return this.write(name, fs.readFileSync(path.join(this.given.root, file), 'utf8'));
  }

  /** Writes a file of the workspace; gives its path. */
  write(name, text) {
    const file = path.join(this.workspace, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
    return file;
  }

  /** Begins a scenario, whose pictures stay in a folder of its name. */
  begin(name) {
    this.#steps = [];
    this.pictures = path.join(this.given.pictures, name);
    fs.rmSync(this.pictures, { recursive: true, force: true });
    fs.mkdirSync(this.pictures, { recursive: true });
  }

  /** The workbench of a VS Code on the workspace, with the file open: a new one, or what an earlier scenario has left. */
  async vscode({ file, settings, isTrusted, extensions = this.given.extensions } = {}) {
    if (this.workbench) return this.workbench.clear(file, settings);
    this.server = new CodeServer({
      entry: this.given.entry,
      folder: path.join(this.given.scratch, 'vscode'),
      workspace: this.workspace,
      extensions,
      settings: { 'kinetoscope.interpreter': this.given.interpreter, ...settings },
      isTrusted,
      environment: { XDG_CACHE_HOME: this.cache },
    });
    await Promise.all([this.#open(), this.server.start()]);
    this.page = await this.context.newPage();
    this.workbench = new Workbench(this.page, this.server);
    return this.workbench.open(file);
  }

  /** One thing that a user does or sees. */
  async step(name, act) {
    const started = Date.now();
    this.#steps.push(name);
    const result = await act();
    console.log(`${since(started).padStart(8)}  ${name}`);
    await this.picture();
    return result;
  }

  /** A picture of the page, named after the step, if pictures were asked for: those of all steps take a tenth of the time. */
  async picture(suffix = '') {
    if (this.given.takesPictures) await this.#photograph(suffix);
  }

  async #photograph(suffix) {
    const name = `${this.#steps.at(-1) ?? 'start'}${suffix}`.replaceAll(/\W+/g, '-').toLowerCase();
    const file = `${String(this.#steps.length).padStart(2, '0')}-${name}.png`;
    await this.page.screenshot({ path: path.join(this.pictures, file) });
  }

  /** A part of the page, for docs/images: drawn larger than the rest of the scenario, whose pixels cost time. */
  async cut(name, clip) {
    if (!this.given.takesPictures) return;
    const session = await this.context.newCDPSession(this.page);
    const { data } = await session.send('Page.captureScreenshot', { clip: { ...clip, scale: 1.4 } });
    fs.writeFileSync(path.join(this.pictures, `${name}.png`), data, 'base64');
  }

  /** Says where it failed, and all that may tell why. */
  async explain(error) {
    console.error(`failed in ${path.basename(this.pictures)} at: ${this.#steps.at(-1) ?? 'the start'}\n${error.stack}`);
    if (this.page) {
      await this.#photograph(' FAILED').catch((why) => console.error(`no picture: ${why.message}`));
      const seen = await this.workbench.seen().catch((why) => `could not be read: ${why.message}`);
      console.error(`--- the workbench\n${JSON.stringify(seen, null, 1)}`);
    }
    if (this.server) console.error(this.server.logs());
  }

  #note(request) {
    const { hostname } = new URL(request.url());
    // VS Code's service worker answers for the last one, out of the extension's folder.
    const known = ['', '127.0.0.1', new URL(ORIGIN).hostname, 'vscode-resource.vscode-cdn.net'];
    if (known.some((name) => hostname === name || (name && hostname.endsWith(`.${name}`)))) return;
    const asker = request.serviceWorker() || request.isNavigationRequest() ? '' : request.frame().url();
    if (!this.perfettos.some((ui) => asker.startsWith(ui))) this.#strangers.add(`${request.url()} from ${asker}`);
  }

  /** No page may ask another host than this machine; https://ui.perfetto.dev is played by it. What a UI asks is its matter. */
  checkHosts() {
    if (this.#strangers.size) throw new Error(`pages asked other hosts: ${[...this.#strangers].join(', ')}`);
  }

  async close() {
    await this.context?.close();
    await this.server?.stop();
  }
}

/** Time since `start`, for people. */
export const since = (start) => `${((Date.now() - start) / 1000).toFixed(1)} s`;
