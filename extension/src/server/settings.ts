// Settings for the server: without those that are the extension's alone, and with an interpreter.
import * as vscode from 'vscode';
import type { ConfigurationParams } from 'vscode-languageclient/node';
import type { Interpreters } from './interpreter';
import { withHintsSeen, withoutOwn } from './own_settings';

export const SECTION = 'kinetoscope';

type Values = Record<string, unknown>;

/** Completes the client's answer to `workspace/configuration`. */
export async function completed(
  params: ConfigurationParams,
  answer: unknown[],
  interpreters: Interpreters,
): Promise<unknown[]> {
  return Promise.all(
    params.items.map(async ({ section, scopeUri }, index) => {
      const values = answer[index] as Values | null;
      if (section !== SECTION || !values) return values;
      const scope = scopeUri ? vscode.Uri.parse(scopeUri) : undefined;
      const ofEditor = vscode.workspace.getConfiguration('editor', {
        ...(scope && { uri: scope }),
        languageId: 'python',
      });
      const areHintsShown = !ofEditor.get<string>('inlayHints.enabled')?.startsWith('off');
      const known = withHintsSeen(withoutOwn(values, vscode.workspace.isTrusted), areHintsShown);
      const { path, from } = await interpreters.choose(scope);
      // Where nobody has chosen one, the server takes the first that has torch.
      return { ...known, envFile: envFileOf(known, scope), interpreter: from === 'path' ? '' : path };
    }),
  );
}

/** Ours where it is set; else the Python extension's. */
function envFileOf({ envFile }: Values, scope: vscode.Uri | undefined): unknown {
  const own = vscode.workspace.getConfiguration(SECTION, scope ?? null).inspect('envFile');
  const isSet = own?.globalValue ?? own?.workspaceValue ?? own?.workspaceFolderValue;
  const ofPython = vscode.workspace.getConfiguration('python', scope ?? null).get<unknown>('envFile');
  return isSet === undefined && typeof ofPython === 'string' ? ofPython : envFile;
}
