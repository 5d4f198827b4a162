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
      return { ...known, interpreter: (await interpreters.choose(scope)).path };
    }),
  );
}
