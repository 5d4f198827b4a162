// Commands that put a region around code or take it out: the server's refactorings, chosen by their kind at the selection.
import * as vscode from 'vscode';

const KINDS = {
  measureBlock: 'refactor.rewrite.block',
  measureFunction: 'refactor.rewrite.function',
  measureLoopBody: 'refactor.rewrite.loop',
  removeRegion: 'refactor.rewrite.remove',
};

/** One that cannot be done says why, and of several a menu is shown: VS Code does both. */
export function wrappingCommands(): vscode.Disposable[] {
  return Object.entries(KINDS).map(([id, kind]) =>
    vscode.commands.registerCommand(`kinetoscope.${id}`, () =>
      vscode.commands.executeCommand('editor.action.codeAction', { kind, apply: 'ifSingle' }),
    ),
  );
}
