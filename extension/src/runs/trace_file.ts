// A trace file as an editor: what of it was found where, and the ways to its details and into Perfetto. It is read by the server.
import * as vscode from 'vscode';
import { escaped } from '../foreign';
import { loadForSource, loadTraces, type Loading } from './loading';

export const TRACE_FILE = 'kinetoscope.traceFile';

type Message = 'details' | 'trace' | 'source';

export class TraceFiles implements vscode.CustomReadonlyEditorProvider {
  constructor(
    private readonly loading: Loading,
    private readonly openTrace: (run: string) => unknown,
  ) {}

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async resolveCustomEditor({ uri }: vscode.CustomDocument, { webview }: vscode.WebviewPanel): Promise<void> {
    const name = uri.path.split('/').at(-1) ?? '';
    const traces = [uri.toString()];
    let run: string | null = null;
    const show = (answer: { run: string | null; message: string } | undefined): void => {
      run = answer?.run ?? null;
      webview.html = pageOf(name, answer?.message ?? 'The language server is not running.', run !== null);
    };
    webview.options = { enableScripts: true, localResourceRoots: [] };
    webview.html = pageOf(name, 'Reading the trace…', false);
    webview.onDidReceiveMessage(async (message: Message) => {
      if (run === null) return;
      if (message === 'details') await this.loading.show(run);
      if (message === 'trace') await this.openTrace(run);
      if (message === 'source') {
        const answer = await loadForSource(this.loading, traces);
        if (answer) show(answer);
      }
    });
    show(await loadTraces(this.loading, traces));
  }
}

const STYLE = `body { max-width: 50em; margin: 4em auto; padding: 0 2em; line-height: 1.6; }
h1 { font-size: 1.4em; overflow-wrap: anywhere; }
button { background: var(--vscode-button-background); color: var(--vscode-button-foreground); font: inherit;
  border: 1px solid var(--vscode-button-border, var(--vscode-contrastBorder, transparent)); border-radius: 2px;
  padding: .4em 1em; margin-right: .5em; cursor: pointer; }
button:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 2px; }`;

function pageOf(name: string, message: string, isLoaded: boolean): string {
  const nonce = crypto.randomUUID();
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  const buttons = `<p><button id="details">Show Details</button><button id="trace">Open in Perfetto</button>
<button id="source">Choose Source File…</button></p>
<script nonce="${nonce}">
const code = acquireVsCodeApi();
for (const each of document.querySelectorAll('button')) each.addEventListener('click', () => code.postMessage(each.id));
</script>`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style nonce="${nonce}">${STYLE}</style>
</head>
<body><h1>${escaped(name)}</h1><p role="status">${escaped(message)}</p>${isLoaded ? buttons : ''}</body>
</html>`;
}
