// Unsaved files, which are saved before a script runs, since what is on disk is what runs.
import * as vscode from 'vscode';
import { plain } from '../foreign';

const SAVE = 'Save';
const ALWAYS = 'Always Save';
const RUN_AS_IS = "Run What's on Disk";

/** Whether the files were saved; undefined where the person wants no run. */
export async function save(uris: readonly string[]): Promise<boolean | undefined> {
  const wanted = new Set(uris.map((uri) => vscode.Uri.parse(uri).toString()));
  const documents = vscode.workspace.textDocuments.filter((each) => each.isDirty && wanted.has(each.uri.toString()));
  if (!documents.length) return false;
  const settings = vscode.workspace.getConfiguration('kinetoscope');
  if (settings.get<string>('saveBeforeRun') === 'never') return false;
  if (settings.get<string>('saveBeforeRun') !== 'always') {
    const names = documents.map((each) => vscode.workspace.asRelativePath(each.uri)).join(', ');
    const answer = await vscode.window.showInformationMessage(
      `${plain(names)} ${documents.length > 1 ? 'have' : 'has'} unsaved changes.`,
      { modal: true, detail: 'Scripts run from disk. Save first?' },
      SAVE,
      ALWAYS,
      RUN_AS_IS,
    );
    if (answer === undefined) return undefined;
    if (answer === RUN_AS_IS) return false;
    if (answer === ALWAYS) await settings.update('saveBeforeRun', 'always', vscode.ConfigurationTarget.Global);
  }
  const saved = await Promise.all(documents.map((each) => each.save()));
  return saved.every(Boolean);
}
