// Icicle chart of the modules in the panel: a click or Enter opens, arrow keys go from box to box, Escape goes up.
import type { RunResult } from '../../server/protocol/results';
import { boxBeside, icicleLayout, type IcicleBox, type IcicleLayout } from '../charts/icicle';
import { boxText, EXTENTS, icicleCaption, icicleSvg } from '../charts/icicle_drawing';
import { extentsOf, moduleTree, type Extent, type ModuleTree } from '../charts/modules';
import { html } from '../markup';
import { byId } from './elements';
import { chartWidth, Picker } from './picking';

export interface ModulesEvents {
  choose: (region: number) => void;
  /** Opens what is closed, and closes what is open. */
  toggle: (region: number) => void;
  extent: (extent: Extent) => void;
}

export class ModulesChart {
  private readonly section = byId('modules', HTMLElement);
  private readonly chart = byId('modules-chart', HTMLElement);
  private readonly switches = byId('modules-extent', HTMLElement);
  private readonly picker: Picker;
  private run: RunResult | null = null;
  private extent: Extent = 'cuda';
  private open: readonly number[] = [];
  private tree: ModuleTree = { base: null, roots: [], without: 0 };
  private layout: IcicleLayout = { width: 0, height: 0, rows: [] };

  constructor(private readonly events: ModulesEvents) {
    this.picker = new Picker(this.chart, byId('modules-readout', HTMLElement), {
      prefix: 'module',
      start: () => this.layout.rows[0]?.[0]?.node.region.index ?? -1,
      text: (item) => {
        const box = this.boxOf(item) ?? this.layout.rows[0]?.[0];
        return box ? boxText(box.node, this.tree, this.extent) : '';
      },
      next: (item, key) => this.next(item, key),
      picked: (item) => events.choose(item),
    });
    this.chart.addEventListener('click', ({ target }) => {
      const box = target instanceof Element ? target.closest<SVGElement>('[data-item]') : null;
      if (box) this.toggle(this.boxOf(Number(box.dataset.item)));
    });
    this.chart.addEventListener('keydown', (event) => {
      const box = this.picker.item === null ? undefined : this.boxOf(this.picker.item);
      if (event.key === 'Enter') this.toggle(box);
      else if (event.key === 'Escape' && box?.node.isOpen) this.toggle(box);
      else if (event.key === 'Escape' && box?.above) this.picker.pick(box.above.node.region.index);
    });
    this.switches.addEventListener('click', ({ target }) => {
      const extent = target instanceof HTMLElement ? (target.dataset.extent as Extent | undefined) : undefined;
      if (extent) events.extent(extent);
    });
    new ResizeObserver(() => {
      if (this.run && chartWidth(this.chart) !== this.layout.width) this.draw();
    }).observe(this.section);
  }

  show(run: RunResult, wanted: Extent, open: readonly number[]): void {
    const extents = extentsOf(run);
    this.section.hidden = extents.length === 0;
    const [first] = extents;
    if (first === undefined) return;
    this.run = run;
    this.open = open;
    this.extent = extents.includes(wanted) ? wanted : first;
    this.switches.innerHTML = html`${extents.map(
      (each) =>
        html`<button type="button" data-extent="${each}" aria-pressed="${String(each === this.extent)}">
          ${EXTENTS[each]}
        </button>`,
    )}`.text;
    this.draw();
  }

  choose(region: number | null): void {
    this.picker.mark(region !== null && this.boxOf(region) ? region : null);
  }

  private draw(): void {
    if (!this.run) return;
    this.tree = moduleTree(this.run, this.extent, this.open);
    this.layout = icicleLayout(this.tree.roots, chartWidth(this.chart));
    this.chart.innerHTML = icicleSvg(this.layout, this.tree, this.extent).text;
    const caption = icicleCaption(this.run, this.tree, this.extent);
    byId('modules-caption', HTMLElement).textContent = caption;
    this.chart.ariaLabel = `Modules. ${caption} The table above has the same rows.`;
    this.picker.redrawn();
  }

  private boxOf(region: number): IcicleBox | undefined {
    return this.layout.rows.flat().find(({ node }) => node.region.index === region);
  }

  private next(item: number, key: string): number | null {
    const box = this.boxOf(item) ?? this.layout.rows[0]?.[0];
    return (box && boxBeside(this.layout, box, key))?.node.region.index ?? null;
  }

  private toggle(box: IcicleBox | undefined): void {
    if (box && box.node.isOpen !== null) this.events.toggle(box.node.region.index);
  }
}
