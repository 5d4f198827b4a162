// Interpreter of the server and the scripts: our setting, else a Python extension's choice, else python3.
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { isAbsolute, join, normalize, sep } from 'node:path';
import { PythonExtension } from '@vscode/python-extension';
import * as vscode from 'vscode';
import { PROBE, readProbe, type PythonInfo, type Refusal } from './probing';

export interface Interpreter {
  readonly path: string;
  readonly from: 'setting' | 'extension' | 'path';
}

/** The part that we use of ms-python.vscode-python-envs, whose own package wants a newer VS Code than we do. */
interface PythonEnvironments {
  getEnvironment(scope: vscode.Uri | undefined): Promise<{ execInfo: { run: { executable: string } } } | undefined>;
  onDidChangeEnvironment: vscode.Event<unknown>;
}

const PYTHON_ENVIRONMENTS = 'ms-python.vscode-python-envs';
const PYTHON = 'ms-python.python';
const PROBE_TIMEOUT_MS = 30_000;

export const ON_PATH = process.platform === 'win32' ? 'python' : 'python3';

export class Interpreters implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly watching: { dispose(): unknown }[] = [this.changed];
  private readonly watched = new Set<string>();

  /** Something changed that an interpreter is chosen by; it may be the same one still. */
  readonly onDidChange = this.changed.event;

  constructor() {
    this.watching.push(
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('kinetoscope.interpreter')) this.changed.fire();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.changed.fire()),
      vscode.extensions.onDidChange(() => this.changed.fire()),
    );
  }

  /** The interpreter for a file or folder. What a workspace names is not taken before the workspace is trusted. */
  async choose(scope: vscode.Uri | undefined): Promise<Interpreter> {
    const set = vscode.workspace.getConfiguration('kinetoscope', scope ?? null).get<string | null>('interpreter');
    if (set) return { path: inFolder(set, scope), from: 'setting' };
    const selected = await this.selected(scope);
    if (selected) return { path: selected, from: 'extension' };
    return { path: ON_PATH, from: 'path' };
  }

  /** The one that is selected in a Python extension, if there is one that may be asked. */
  async selected(scope: vscode.Uri | undefined): Promise<string | undefined> {
    if (!vscode.workspace.isTrusted) return undefined;
    return (await this.fromEnvironments(scope)) ?? (await this.fromPython(scope));
  }

  private async fromEnvironments(scope: vscode.Uri | undefined): Promise<string | undefined> {
    const extension = vscode.extensions.getExtension<PythonEnvironments | undefined>(PYTHON_ENVIRONMENTS);
    const api = await extension?.activate();
    if (!api) return undefined;
    this.watch(PYTHON_ENVIRONMENTS, api.onDidChangeEnvironment);
    return (await api.getEnvironment(scope))?.execInfo.run.executable;
  }

  private async fromPython(scope: vscode.Uri | undefined): Promise<string | undefined> {
    if (!vscode.extensions.getExtension(PYTHON)) return undefined;
    const { environments } = await PythonExtension.api();
    this.watch(PYTHON, environments.onDidChangeActiveEnvironmentPath);
    const environment = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(scope));
    return environment?.executable.uri?.fsPath;
  }

  private watch(extension: string, event: vscode.Event<unknown>): void {
    if (this.watched.has(extension)) return;
    this.watched.add(extension);
    this.watching.push(event(() => this.changed.fire()));
  }

  dispose(): void {
    for (const each of this.watching) each.dispose();
  }
}

/** Asks the interpreter what it is, with a few lines of its standard library. */
export function probe(path: string): Promise<PythonInfo | Refusal> {
  return new Promise((resolve) => {
    execFile(path, ['-I', '-c', PROBE], { timeout: PROBE_TIMEOUT_MS }, (error, stdout, stderr) =>
      resolve(readProbe(path, error, stdout, stderr)),
    );
  });
}

/** A relative path starts at the workspace's folder; a bare name is looked up on PATH. */
export function inFolder(path: string, scope: vscode.Uri | undefined): string {
  const folder = (scope && vscode.workspace.getWorkspaceFolder(scope)) ?? vscode.workspace.workspaceFolders?.[0];
  let full = path.replace(/^~(?=$|[\\/])/, homedir());
  if (folder) full = full.replaceAll('${workspaceFolder}', folder.uri.fsPath);
  const isPath = full.includes('/') || full.includes(sep);
  return isPath && !isAbsolute(full) && folder ? normalize(join(folder.uri.fsPath, full)) : full;
}
