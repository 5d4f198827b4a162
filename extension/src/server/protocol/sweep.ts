// A sweep as it is shown: docs/lsp.md, `kinetoscope/sweep`.

/** What a row is about: a setting, and a region unless it says why the setting failed; by their numbers from 0. */
export interface SweepRow {
  cells: string[];
  setting: number;
  region: number | null;
}

export interface SweepTable {
  headings: string[];
  rows: SweepRow[];
}

/** `chart` is an SVG, null where nothing was measured twice. */
export interface SweepAnswer {
  title: string;
  notes: string[];
  tables: SweepTable[];
  chart: string | null;
  markdown: string;
  sweep: { id: string; regions: { cells: ({ name: string } | null)[] }[] };
}
