// What a person types for a sweep: `size=64,1024 compile=,yes`.
import { splitArguments } from './arguments';

/** Why the text is no sweep; null where it is one. */
export function whyNoSweep(text: string): string | null {
  let parts: string[];
  try {
    parts = splitArguments(text);
  } catch (error) {
    return (error as SyntaxError).message;
  }
  if (!parts.length) return 'Say what varies, such as size=64,1024,4096.';
  const wrong = parts.find((each) => !/^-*[^-=\s][^=\s]*=/.test(each));
  return wrong === undefined
    ? null
    : `${wrong} does not say what to vary: NAME=VALUE,VALUE, such as size=64,1024,4096.`;
}
