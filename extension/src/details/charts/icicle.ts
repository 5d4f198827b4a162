// Icicle chart of modules: where each box stands. A box is as wide as its time; below it are the modules inside it.
import type { ModuleNode } from './modules';

export interface IcicleBox {
  node: ModuleNode;
  /** The box above it. */
  above: IcicleBox | null;
  level: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface IcicleLayout {
  width: number;
  height: number;
  /** From above, and in each row from left to right. */
  rows: IcicleBox[][];
}

export const ROW = 22;

export function icicleLayout(roots: readonly ModuleNode[], width: number): IcicleLayout {
  const needed = new Map<ModuleNode, number>();
  const need = (node: ModuleNode): number => {
    const found = Math.max(node.ns, total(node.children.map(need)));
    needed.set(node, found);
    return found;
  };
  const scale = width / Math.max(1, total(roots.map(need)));
  const rows: IcicleBox[][] = [];
  let level: { nodes: readonly ModuleNode[]; x: number; above: IcicleBox | null }[] = [
    { nodes: roots, x: 0, above: null },
  ];
  while (level.some(({ nodes }) => nodes.length > 0)) {
    const row: IcicleBox[] = [];
    for (const { nodes, x: from, above } of level) {
      let x = from;
      for (const node of nodes) {
        const y = rows.length * ROW;
        row.push({ node, above, level: rows.length, x, y, width: node.ns * scale, height: ROW - 1 });
        // Children that took longer than their parent would cover what is beside it.
        x += (needed.get(node) ?? node.ns) * scale;
      }
    }
    rows.push(row);
    level = row.map((box) => ({ nodes: box.node.children, x: box.x, above: box }));
  }
  return { width, height: rows.length * ROW, rows };
}

const total = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0);

/** What an arrow key leads to from a box; the box itself at an end. */
export function boxBeside({ rows }: IcicleLayout, box: IcicleBox, key: string): IcicleBox | null {
  const row = rows[box.level] ?? [];
  const at = row.indexOf(box);
  switch (key) {
    case 'ArrowLeft':
      return row[at - 1] ?? box;
    case 'ArrowRight':
      return row[at + 1] ?? box;
    case 'ArrowUp':
      return box.above ?? box;
    case 'ArrowDown': {
      const below = rows[box.level + 1] ?? [];
      return below.find(({ above }) => above === box) ?? box;
    }
    case 'Home':
      return rows[0]?.[0] ?? box;
    default:
      return null;
  }
}
