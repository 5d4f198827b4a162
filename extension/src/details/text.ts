// Times, counts, shares and names as people read them; times as kinetoscope_core/text.py writes them.
import type { Middle, Unmeasured } from '../server/protocol/measures';

export const UNITS: readonly (readonly [size: number, name: string])[] = [
  [1_000, 'µs'],
  [1_000_000, 'ms'],
  [1_000_000_000, 's'],
];

/** A number and its unit, apart so that a table can align both. */
export interface TimeParts {
  number: string;
  unit: string;
}

/** Three significant digits and the unit that keeps the number between 1 and 999. */
export function timeParts(ns: number): TimeParts {
  if (Math.abs(ns) < 1_000) return { number: String(ns), unit: 'ns' };
  let parts: TimeParts = { number: '', unit: '' };
  for (const [size, unit] of UNITS) {
    parts = { number: threeDigits(ns / size), unit };
    if (Math.abs(Number(parts.number)) < 1_000) break;
  }
  return parts;
}

/** `19.7 µs`, `214 µs`, `1.00 ms`. */
export function timeText(ns: number): string {
  const { number, unit } = timeParts(ns);
  return `${number} ${unit}`;
}

/** From there on, the longest call of the middle half over the shortest, a median says little (`measures_text.py`). */
const WIDE = 2;

/** A median; where the calls lie wide apart, from where to where their middle half goes: `76.0–344 µs`. */
export function typicalParts(median: number, middle: Middle | null): TimeParts {
  if (!isWide(middle)) return timeParts(median);
  const [least, most] = [timeParts(middle[0]), timeParts(middle[1])];
  if (least.unit !== most.unit) return { number: `${least.number} ${least.unit}–${most.number}`, unit: most.unit };
  return least.number === most.number ? least : { number: `${least.number}–${most.number}`, unit: most.unit };
}

export function isWide(middle: Middle | null): middle is Middle {
  return middle !== null && middle[1] > middle[0] && middle[1] >= WIDE * middle[0];
}

function threeDigits(value: number): string {
  for (const decimals of [2, 1]) {
    const text = fixed(value, decimals);
    if (text.replace(/\D/g, '').length <= 3) return text;
  }
  return fixed(value, 0);
}

/** Python rounds a tie to the even digit, `toFixed` away from zero. Only an odd multiple of a power of two can be a tie. */
function fixed(value: number, decimals: number): string {
  const halves = value * 2 ** (decimals + 1);
  const isTie = Number.isInteger(halves) && halves % 2 !== 0;
  const scaled = value * 10 ** decimals;
  return isTie && Math.trunc(scaled) % 2 === 0
    ? (Math.trunc(scaled) / 10 ** decimals).toFixed(decimals)
    : value.toFixed(decimals);
}

const WHEN: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'medium' };

/** When something started, to the second, in local time. */
export function startedText(started: string): string {
  return new Date(started).toLocaleString('en-GB', WHEN);
}

/** `1 launch`, `5 launches`, `3 regions`. */
export function countText(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${count} ${noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : noun + (/(s|ch|x)$/.test(noun) ? 'es' : 's')}`;
}

/** `37.3 %`, `100 %`; what is more than nothing is never `0 %`. */
export function shareText(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  return `${percent >= 99.95 || percent === 0 ? percent.toFixed(0) : percent.toFixed(1)} %`;
}

/** What limits a region: `overhead-bound`, `mixed`. */
export function boundText(bound: string): string {
  return bound === 'mixed' || bound === 'cpu-only' ? bound : `${bound}-bound`;
}

/** Of a region without times; a part of a call is no measure of one. */
export function unmeasuredText({ at_least_ns }: Unmeasured): string {
  return at_least_ns === null ? 'without times' : `at least ${timeText(at_least_ns)}, not ended`;
}

/** The same in one line: control characters and the like are spelled out. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    if (character === '\r') return '\\r';
    if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
  });
}

/** What people read of a kernel's name. */
export function kernelName({ name, short }: { name: string; short?: string }): string {
  return printable(short ?? name);
}

/** An operator's name without what those of autograd begin with. */
export function operatorName(name: string): string {
  return printable(name).replace(/^autograd::engine::evaluate_function: /, '');
}

type Named = Pick<Unmeasured, 'name' | 'names' | 'slowest' | 'module'>;

/** As the table in the terminal has it: `layers.* ×32`, `encoder (compiled)`. */
export function nameText({ name, names, slowest, module }: Named): string {
  const count = names > 1 ? (slowest == null ? ` (${names} names)` : ` ×${names}`) : '';
  return `${printable(name)}${count}${module?.is_compiled ? ' (compiled)' : ''}`;
}

/** The same below `around`, whose name a module's begins with: `mlp ×32` below `layers.*`. */
export function nameBelow(measures: Named, around: Named | null): string {
  const begin = around?.module ? `${around.name}.` : '';
  const { name, module } = measures;
  return nameText(
    begin && module && name.startsWith(begin) ? { ...measures, name: name.slice(begin.length) } : measures,
  );
}

/** The name of a file in a URI or path. */
export function fileName(address: string): string {
  const last = address.split(/[/\\]/).at(-1) ?? address;
  try {
    return decodeURIComponent(last);
  } catch (error) {
    if (error instanceof URIError) return last; // a path with a percent sign of its own
    throw error;
  }
}
