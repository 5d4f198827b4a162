// Traces in Perfetto: in the browser, or in an editor tab. The server serves them on 127.0.0.1 behind a secret.
import * as vscode from 'vscode';
import { ResponseError, type LanguageClient } from 'vscode-languageclient/node';
import { harmless, plain } from '../foreign';
import type { TraceLink, TraceParams, TracePlace, TrustParams } from '../server/protocol/results';

/** Whose frames an editor tab is: those of desktop VS Code, of its web builds, and of a server that is all one origin. */
const EMBEDDERS = ['vscode-webview:', 'vscode-file:', 'https://*.vscode-cdn.net', "'self'"];

export class Traces implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;

  async open(client: LanguageClient, place: TracePlace): Promise<void> {
    const isInEditor = vscode.workspace.getConfiguration('kinetoscope').get<string>('openTraceIn') === 'editor';
    try {
      const params: TraceParams = { ...place, embedders: isInEditor ? EMBEDDERS : [] };
      const { link, title } = await client.sendRequest<TraceLink>('kinetoscope/trace', params);
      const local = vscode.Uri.parse(link, true);
      // Where the server is elsewhere, this forwards the port; the page must then answer in the name of that address.
      const external = await vscode.env.asExternalUri(local);
      if (external.authority !== local.authority) {
        const trust: TrustParams = { address: external.toString(true) };
        await client.sendRequest('kinetoscope/trust', trust);
      }
      if (isInEditor) this.show(external, title);
      else await openInBrowser(local, link);
      await vscode.commands.executeCommand('setContext', 'kinetoscope.hasOpenedTrace', true);
    } catch (error) {
      if (!(error instanceof ResponseError)) throw harmless(error);
      void vscode.window.showWarningMessage(plain(error.message));
    }
  }

  /** A frame of the page and nothing else, since the Perfetto UI trusts only pages of this machine. */
  private show(page: vscode.Uri, title: string): void {
    if (!this.panel) {
      this.panel = vscode.window.createWebviewPanel('kinetoscope.trace', title, vscode.ViewColumn.Beside, {
        retainContextWhenHidden: true, // a trace that was loaded is not loaded again
        enableScripts: true, // without it the frame may run none either
        localResourceRoots: [],
      });
      this.panel.onDidDispose(() => {
        this.panel = undefined;
      });
    }
    this.panel.title = title;
    this.panel.webview.html = frame(page.toString(true), `${page.scheme}://${page.authority}`);
    this.panel.reveal(undefined, false);
  }

  dispose(): void {
    this.panel?.dispose();
  }
}

async function openInBrowser(local: vscode.Uri, link: string): Promise<void> {
  if (await vscode.env.openExternal(local)) return;
  const COPY = 'Copy Link';
  const answer = await vscode.window.showWarningMessage('No browser could be opened for the trace.', COPY);
  if (answer === COPY) await vscode.env.clipboard.writeText(link);
}

function frame(page: string, origin: string): string {
  const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const policy = `default-src 'none'; frame-src ${origin}; style-src 'unsafe-inline'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<style>html, body, iframe { border: 0; height: 100%; margin: 0; padding: 0; width: 100%; }</style>
</head>
<body><iframe src="${escaped(page)}" title="Perfetto" allow="clipboard-write; fullscreen"></iframe></body>
</html>`;
}
