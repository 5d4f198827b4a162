// Example of the walkthrough: a copy that users may change, in the extension's storage.
import * as vscode from 'vscode';

export async function openExample(context: vscode.ExtensionContext): Promise<void> {
  const copy = vscode.Uri.joinPath(context.globalStorageUri, 'example', 'matmul_add.py');
  const isThere = await vscode.workspace.fs.stat(copy).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    const original = vscode.Uri.joinPath(context.extensionUri, 'examples', 'matmul_add.py');
    await vscode.workspace.fs.copy(original, copy);
  }
  await vscode.window.showTextDocument(copy);
}
