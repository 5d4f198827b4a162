// A VS Code of its own on a free port: code-server with its own settings, extensions and cache, all below one folder.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { until } from './waiting.mjs';

const START_MS = 60_000;

/** Settings that keep the editor quiet, and from asking other hosts. */
const QUIET = {
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'security.workspace.trust.startupPrompt': 'never',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'files.autoSave': 'off', // as on a desktop
  'editor.minimap.enabled': false,
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
  'editor.wordBasedSuggestions': 'off',
  'chat.commandCenter.enabled': false,
  'git.enabled': false,
  'remote.autoForwardPorts': false, // it lists the files of all processes, again and again
  'workbench.reduceMotion': 'on',
  'editor.cursorBlinking': 'solid',
};

export class CodeServer {
  /** `folder` is for this VS Code alone. `extensions`: the folder of those that are installed in it. */
  constructor({ entry, folder, workspace, extensions, settings = {}, isTrusted = true, environment = {} }) {
    this.folder = folder;
    this.workspace = workspace;
    this.logFile = path.join(folder, 'code-server.log');
    this.settings = { ...QUIET, ...settings };
    this.changed = {};
    this.extensions = extensions;
    this.isTrusted = isTrusted;
    // VS Code asks a gallery about what it installs; nobody answers at that address.
    this.environment = { ...process.env, EXTENSIONS_GALLERY: '{"serviceUrl":"http://127.0.0.1:1"}', ...environment };
    for (const name of ['PORT', 'VIRTUAL_ENV', 'VSCODE_PROXY_URI']) delete this.environment[name];
    this.command = [
      entry,
      ...['--config', path.join(folder, 'config.yaml'), '--user-data-dir', path.join(folder, 'user-data')],
      ...['--extensions-dir', path.join(folder, 'extensions')],
    ];
  }

  async start() {
    const user = path.join(this.folder, 'user-data', 'User');
    fs.mkdirSync(user, { recursive: true });
    fs.writeFileSync(path.join(user, 'settings.json'), JSON.stringify(this.settings));
    const address = '127.0.0.1:0'; // any that is free
    fs.writeFileSync(path.join(this.folder, 'config.yaml'), `bind-addr: ${address}\nauth: none\ncert: false\n`);
    if (this.extensions) {
      // With their times: Python takes what it has compiled of them only then.
      const copied = { recursive: true, preserveTimestamps: true };
      fs.cpSync(this.extensions, path.join(this.folder, 'extensions'), copied);
    }
    const trust = this.isTrusted ? ['--disable-workspace-trust'] : [];
    const quiet = ['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];
    this.process = this.spawned('--auth', 'none', '--bind-addr', address, ...quiet, ...trust, this.workspace);
    const ended = new Promise((_, reject) =>
      this.process.once('exit', () => reject(new Error('code-server did not start'))),
    );
    const isUp = () => /server listening on http:\/\/127\.0\.0\.1:(\d+)\//.exec(fs.readFileSync(this.logFile, 'utf8'));
    const [, port] = await Promise.race([until('code-server', isUp, { timeout: START_MS }), ended]);
    this.port = Number(port);
    return this;
  }

  /** The address of the workbench with that file of the workspace open. */
  url(file) {
    const open = [['openFile', `vscode-remote://127.0.0.1:${this.port}${this.workspace}/${file}`]];
    const query = new URLSearchParams({ folder: this.workspace, ...(file && { payload: JSON.stringify(open) }) });
    return `http://127.0.0.1:${this.port}/?${query}`;
  }

  /** Changes settings by hand, in the workspace's settings.json. */
  set(values) {
    Object.assign(this.changed, values);
    const file = path.join(this.workspace, '.vscode', 'settings.json');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, JSON.stringify(this.changed));
  }

  /** What the server and all the logs below it say, the last lines of each. */
  logs(lines = 30) {
    const logs = [this.logFile, ...filesBelow(path.join(this.folder, 'user-data', 'logs'))];
    const last = (file) => fs.readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
    return logs
      .filter((file) => fs.existsSync(file) && fs.statSync(file).size)
      .map((file) => `--- ${path.relative(this.folder, file)}\n${last(file)}`)
      .join('\n');
  }

  async stop() {
    if (!this.process) return;
    const isOver = new Promise((resolve) => this.process.once('exit', resolve));
    if (this.process.exitCode === null && this.process.kill()) await isOver;
  }

  spawned(...args) {
    const log = fs.openSync(this.logFile, 'a');
    const options = { env: this.environment, stdio: ['ignore', log, log], cwd: this.folder };
    const started = spawn(process.execPath, [...this.command, ...args], options);
    fs.closeSync(log);
    process.once('exit', () => started.kill());
    return started;
  }
}

function filesBelow(folder) {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { recursive: true })
    .map((name) => path.join(folder, name))
    .filter((file) => file.endsWith('.log'));
}
