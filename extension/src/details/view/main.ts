// Web view of the panel: keeps how the run is shown, and puts table and chosen region together.
import { columnsOf, tellingColumns, whyNoCuda, type Column } from '../table/columns';
import { csvOf, markdownOf } from '../exports';
import '../style/page.css';
import '../style/table.css';
import '../style/region.css';
import '../style/charts.css';
import type { Comparison, RegionComparison } from '../../server/protocol/comparison';
import type { RegionTimes } from '../../server/protocol/measures';
import type { RunRegion, RunResult } from '../../server/protocol/results';
import type { KeptState, ToPanel, ToView, View } from '../messages';
import { arranged, filtered, nextOrder, regionsOf, rowsOf, USUAL_ORDER, type Row } from '../table/rows';
import { comparedNotes, comparedWith } from '../compared_markup';
import { comparedIn, type Compared } from '../region/compared';
import { contentsMarkup } from '../contents_markup';
import { runFacts, runNotes } from '../run_markup';
import { captionText } from '../table/table_markup';
import { countText, printable } from '../text';
import { byId, onClick } from './elements';
import { ModulesChart } from './modules_chart';
import { RegionSection } from './region';
import { skeleton } from './skeleton';
import { SweepSection } from './sweep';
import { RegionTable } from './table';

const ABOUT_THE_TABLE = ['tools', 'scroller', 'caption', 'copy-markdown', 'copy-csv'];

const vscode = acquireVsCodeApi<KeptState>();
document.body.innerHTML = skeleton.text;

const kept = vscode.getState();
const view: View = {
  filter: '',
  order: USUAL_ORDER,
  hasAllColumns: false,
  chosen: null,
  open: [],
  extent: 'cuda',
  span: null,
  isCompared: false,
  ...kept?.view,
};
let sweep = kept?.sweep ?? null;
let uri = kept?.uri ?? null;
let run: RunResult | null = null;
let columns: readonly Column[] = [];
let rows: readonly Row[] = [];
const times = new Map<number, RegionTimes>();
let comparison: Comparison | null = null;
let compared: Compared | null = null;
const befores = new Map<number, RunRegion | null>();
const comparedSwitch = byId('compared', HTMLElement) as HTMLElement & { checked: boolean; label: string };

const filter = byId('filter', HTMLElement) as HTMLElement & { value: string };
const table = new RegionTable(byId('regions', HTMLTableElement), byId('scroller', HTMLElement), {
  choose,
  reveal: (region, focus) => {
    choose(region);
    post({ kind: 'reveal', region, focus });
  },
  order: (column) => {
    view.order = nextOrder(view.order, column);
    showTable();
  },
  toggle,
  hidden: (count) => {
    const button = byId('columns', HTMLElement);
    button.hidden = count === 0;
    button.textContent = view.hasAllColumns ? 'Fewer columns' : 'More columns';
  },
});
const sweeps = new SweepSection(byId('sweep-content', HTMLElement), (of, setting, region) => {
  post({ kind: 'setting', sweep: of, setting, region });
});
const modules = new ModulesChart({
  choose,
  toggle,
  extent: (extent) => {
    view.extent = extent;
    showModules();
    keep();
  },
});
const section = new RegionSection(byId('region', HTMLElement), {
  reveal: (region) => post({ kind: 'reveal', region, focus: true }),
  trace: (region) => post({ kind: 'trace', region }),
  span: (span) => {
    view.span = span;
    keep();
  },
});

function post(message: ToPanel): void {
  vscode.postMessage(message);
}

function keep(): void {
  vscode.setState({ sweep, uri, run: run?.id ?? null, view });
}

/** One of the parts of the page at a time. */
function showPart(id: 'message' | 'run' | 'sweep'): void {
  for (const each of ['message', 'run', 'sweep']) byId(each, HTMLElement).hidden = each !== id;
}

function showRun(next: RunResult, choice: number | null): void {
  const isSame = run?.id === next.id;
  const before = regionOf(view.chosen);
  if (!isSame) {
    times.clear();
    setComparison(null);
  }
  if (run === null && kept?.run !== next.id) view.chosen = view.span = null;
  if (run === null ? kept?.run !== next.id : !isSame) view.open = [];
  run = next;
  columns = columnsOf(next, shownComparison());
  byId('title', HTMLElement).textContent = printable(next.title);
  byId('facts', HTMLElement).textContent = runFacts(next).join(' · ');
  byId('no-cuda', HTMLElement).textContent = printable(whyNoCuda(next));
  if (!isSame) byId('notes', HTMLElement).innerHTML = runNotes(next).text;
  if (!isSame) byId('contents', HTMLElement).innerHTML = contentsMarkup(next).text;
  const hasTable = next.contents === null || regionsOf(next).length > 0;
  for (const id of ABOUT_THE_TABLE) byId(id, HTMLElement).hidden = !hasTable;
  showPart('run');
  if (choice !== null && !filtered(regionsOf(next), view.filter).some((region) => region.index === choice)) {
    view.filter = filter.value = '';
  }
  const chosen = regionOf(choice ?? (isSame || before === null ? view.chosen : again(before))) ?? first(next);
  const isNew = chosen?.index !== view.chosen || (!isSame && before !== null);
  if (isNew) view.span = null;
  view.chosen = chosen?.index ?? null;
  showTable();
  showModules();
  if (isSame && !isNew) section.refresh(chosen);
  else showRegion();
}

/** Null while the switch is off. */
function shownComparison(): Compared | null {
  return view.isCompared ? compared : null;
}

function comparisonOf(region: RunRegion): RegionComparison | null {
  return shownComparison()?.(region) ?? null;
}

function setComparison(next: Comparison | null): void {
  comparison = next;
  compared = next && comparedIn(next);
  befores.clear();
  comparedSwitch.hidden = next === null;
  comparedSwitch.label = next ? comparedWith(next) : '';
  showNotes();
}

function showNotes(): void {
  comparedSwitch.checked = view.isCompared;
  const shown = view.isCompared ? comparison : null;
  byId('compared-notes', HTMLElement).innerHTML = shown ? comparedNotes(shown).text : '';
}

/** The switch, or what it is about, has changed. */
function showComparison(): void {
  if (!run) return;
  columns = columnsOf(run, shownComparison());
  showTable();
  showRegion();
}

function first(shown: RunResult): RunRegion | null {
  return arranged(shown, filtered(regionsOf(shown), view.filter), columns, view.order)[0]?.region ?? null;
}

/** The region of this run that was chosen in the one before. */
function again(before: RunRegion): number | null {
  const named = run?.regions.filter((region) => region.measures.name === before.measures.name) ?? [];
  return (named.find(({ uri, row }) => uri === before.uri && row === before.row) ?? named[0])?.index ?? null;
}

function regionOf(index: number | null): RunRegion | null {
  return run?.regions.find((region) => region.index === index) ?? null;
}

function showTable(): void {
  if (!run) return;
  const all = regionsOf(run);
  const open = view.open;
  const listed = rowsOf(run, view.filter, open);
  rows = arranged(run, listed, columns, view.order, open);
  const telling = tellingColumns(columns, all);
  const { order, chosen, hasAllColumns } = view;
  table.show({
    columns: telling.columns,
    hasAllColumns,
    all: arranged(run, rowsOf(run, '', open), columns, USUAL_ORDER, open),
    rows,
    order,
    chosen,
  });
  const found = listed.filter(({ series }) => series === null).length;
  const count = countText(all.length, 'region');
  byId('count', HTMLElement).textContent =
    view.filter.trim() === '' || found === all.length ? count : `${rows.length} of ${count}`;
  byId('caption', HTMLElement).textContent = captionText(telling, rows);
  keep();
}

function showModules(): void {
  if (run) modules.show(run, view.extent, view.open);
  modules.choose(view.chosen);
}

function toggle(region: number): void {
  view.open = view.open.includes(region) ? view.open.filter((each) => each !== region) : [...view.open, region];
  showTable();
  if (!rows.some((row) => row.region.index === view.chosen)) choose(region);
  showModules();
}

function choose(region: number): void {
  if (region === view.chosen) return;
  view.chosen = region;
  view.span = null;
  table.choose(region);
  modules.choose(region);
  showRegion();
  keep();
}

function showRegion(): void {
  const region = regionOf(view.chosen);
  if (!run || !region) {
    section.clear();
    return;
  }
  section.show(region, comparisonOf(region));
  addTimes(region);
}

/** Draws the charts once all that they need is here. */
function addTimes(region: RunRegion): void {
  if (!run) return;
  const known = times.get(region.index);
  const isBefore = comparisonOf(region)?.in === 'both';
  const before = isBefore ? befores.get(region.index) : null;
  if (!known) post({ kind: 'times', run: run.id, region: region.index });
  else if (before === undefined) post({ kind: 'before', run: run.id, region: region.index });
  else section.addTimes(region, known, view.span, before);
}

function arrived(index: number): void {
  const region = regionOf(index);
  if (region?.index === view.chosen) addTimes(region);
}

function take(message: ToView): void {
  switch (message.kind) {
    case 'run':
      uri = message.uri;
      sweep = null;
      showRun(message.run, message.choose);
      break;
    case 'times': {
      if (message.run !== run?.id) return;
      times.set(message.region, message.times);
      arrived(message.region);
      break;
    }
    case 'comparison':
      if (message.run !== run?.id) return;
      view.isCompared ||= message.isAskedFor;
      setComparison(message.comparison);
      if (view.isCompared) showComparison();
      break;
    case 'before':
      if (message.run !== run?.id || comparison === null) return;
      befores.set(message.region, message.before);
      arrived(message.region);
      break;
    case 'sweep':
      sweep = message.sweep.sweep.id;
      sweeps.show(message.sweep);
      showPart('sweep');
      keep();
      break;
    case 'nothing':
      run = null;
      showPart('message');
      byId('message', HTMLElement).textContent = message.message;
  }
}

window.addEventListener('message', (event: MessageEvent<ToView>) => take(event.data));
filter.value = view.filter;
filter.addEventListener('input', () => {
  view.filter = filter.value;
  showTable();
});
comparedSwitch.addEventListener('change', () => {
  view.isCompared = comparedSwitch.checked;
  view.span = null;
  showNotes();
  showComparison();
});
onClick('columns', () => {
  view.hasAllColumns = !view.hasAllColumns;
  showTable();
});

function copy(what: string, written: (of: readonly Column[], regions: readonly RunRegion[]) => string): void {
  const regions = rows.map(({ region }) => region);
  post({ kind: 'copy', text: written(columns, regions), what: `${countText(rows.length, 'region')} as ${what}` });
}

onClick('copy-sweep', () => post({ kind: 'copy', text: sweeps.markdown, what: 'the sweep as Markdown' }));
onClick('copy-markdown', () => copy('Markdown', markdownOf));
onClick('copy-csv', () => copy('CSV', csvOf));
onClick('save', () => post({ kind: 'save', view }));
onClick('run', ({ target }) => {
  if (target instanceof HTMLElement && target.dataset.modules !== undefined) post({ kind: 'modules' });
  const { explain, spot, region } = (target instanceof HTMLButtonElement ? target : null)?.dataset ?? {};
  if (explain !== undefined) post({ kind: 'explain', code: explain });
  if (spot !== undefined) post({ kind: 'trace', region: region ? Number(region) : null, finding: spot });
});
post({ kind: 'ready' });
