// Axes of time: round steps and their labels, and what of a label has room.
import { UNITS } from '../text';

export interface Tick {
  ns: number;
  text: string;
}

/** Round times from `from` to `to`, at most `most` and a few, all in one unit. */
export function ticks(from: number, to: number, most: number): Tick[] {
  const step = roundStep((to - from) / Math.max(1, most));
  const largest = Math.max(Math.abs(from), Math.abs(to));
  const [size, unit] = UNITS.findLast(([each]) => each <= largest) ?? [1, 'ns'];
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  const found: Tick[] = [];
  for (let count = Math.ceil(from / step); count * step <= to; count += 1) {
    const ns = count * step;
    found.push({ ns, text: ns === 0 ? '0' : `${(ns / size).toFixed(decimals)} ${unit}` });
  }
  return found;
}

/** 1, 2 or 5 times a power of ten, of whole nanoseconds. */
function roundStep(atLeast: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, atLeast))));
  return power * (atLeast <= power ? 1 : atLeast <= 2 * power ? 2 : atLeast <= 5 * power ? 5 : 10);
}

/** Width of a character of a label, at most of fonts. */
export const CHARACTER = 6.6;

/** As much of a text as has room; nothing where that would be no word. */
export function fitted(text: string, width: number, whole: boolean): string {
  const room = Math.floor(width / CHARACTER);
  if (text.length <= room) return text;
  return whole || room < 4 ? '' : `${text.slice(0, room - 1)}…`;
}
