// Heat of a region: its share of the run in four steps. Knows no VS Code.

/** The least share of each step, from the hottest down. Every step doubles the one below it. */
export const STEPS = [0.4, 0.2, 0.1, 0] as const;

/** The bar's line: dotted where the code has changed since, dashed where the share is one of another result. */
export function barStyle({
  stale,
  origin,
}: {
  stale: readonly string[];
  origin: string;
}): 'solid' | 'dotted' | 'dashed' {
  if (origin !== '') return 'dashed';
  return stale.length > 0 ? 'dotted' : 'solid';
}

/** From 0, the hottest, to 3; undefined where the share is not known. */
export function heatOf(share: number | null): number | undefined {
  return share === null ? undefined : STEPS.findIndex((least) => share >= least);
}
