// Pages that the server shows, opened in the editor that is set for the file: the page of a finding as its Markdown is read,
// not as it is written (package.json, "configurationDefaults"). The client itself would take a text editor for all.
import * as vscode from 'vscode';
import type { ShowDocumentRequest } from 'vscode-languageclient/node';

export const showDocument: ShowDocumentRequest.MiddlewareSignature = async (params, token, next) => {
  if (params.external) return next(params, token);
  await vscode.commands.executeCommand('vscode.open', vscode.Uri.parse(params.uri, true));
  return { success: true };
};
