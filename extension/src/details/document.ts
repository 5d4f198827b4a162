// Page of the web view: a style, a script, and nothing else that may be loaded or run.
import { html } from './markup';

export interface Assets {
  script: string;
  style: string;
  /** Source that styles may come from. */
  source: string;
  nonce: string;
}

export function documentOf({ script, style, source, nonce }: Assets): string {
  const policy = `default-src 'none'; style-src ${source}; script-src 'nonce-${nonce}'`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="stylesheet" href="${style}" />
        <title>Kinetoscope</title>
      </head>
      <body>
        <script nonce="${nonce}" src="${script}"></script>
      </body>
    </html>`.text;
}
