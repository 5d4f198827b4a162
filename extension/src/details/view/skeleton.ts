// Page of the panel before anything is in it.
import { html } from '../markup';
import { patterns } from '../charts/patterns';

export const skeleton = html`${patterns}
  <p id="message" role="status" hidden></p>
  <main id="sweep" hidden>
    <div id="sweep-content"></div>
    <div class="toolbar">
      <span class="actions">
        <vscode-button id="copy-sweep" secondary>Copy as Markdown</vscode-button>
      </span>
    </div>
  </main>
  <main id="run" hidden>
    <header>
      <h1 id="title"></h1>
      <p id="facts" class="quiet"></p>
      <p id="no-cuda"></p>
    </header>
    <div id="tools" class="toolbar">
      <vscode-textfield
        id="filter"
        type="search"
        placeholder="Filter by name, file or bound"
        label="Filter regions"
      ></vscode-textfield>
      <span id="count" class="quiet" role="status"></span>
      <vscode-checkbox id="compared" hidden></vscode-checkbox>
      <vscode-button id="columns" secondary hidden></vscode-button>
    </div>
    <div id="scroller" class="scroller">
      <table id="regions" class="regions" role="treegrid" tabindex="0" aria-label="Regions of the run"></table>
    </div>
    <div class="toolbar">
      <p id="caption" class="quiet"></p>
      <span class="actions">
        <vscode-button id="copy-markdown" secondary>Copy as Markdown</vscode-button>
        <vscode-button id="copy-csv" secondary>Copy as CSV</vscode-button>
        <vscode-button id="save" secondary>Save as HTML…</vscode-button>
      </span>
    </div>
    <div id="compared-notes" class="notes"></div>
    <div id="notes" class="notes"></div>
    <section id="contents" class="chosen" aria-label="What the run holds"></section>
    <section id="modules" class="chosen" aria-label="Modules" hidden>
      <header class="region-head">
        <h2>Modules</h2>
        <div id="modules-extent" class="switches" role="group" aria-label="What the widths are"></div>
      </header>
      <div id="modules-chart" class="chart" role="tree" tabindex="0"></div>
      <p id="modules-readout" class="readout"></p>
      <p id="modules-caption" class="quiet"></p>
    </section>
    <section id="region" class="chosen" aria-label="The chosen region"></section>
  </main>`;
