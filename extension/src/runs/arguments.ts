// Arguments of a script as one line of text, as people type them in a shell, and back.

/** Splits at spaces outside of quotes. A backslash takes the next character as it is, but on Windows, where it is in paths. */
export function splitArguments(text: string, hasEscapes = process.platform !== 'win32'): string[] {
  const found: string[] = [];
  let current = '';
  let isInside = false;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    const isEscape = hasEscapes && character === '\\' && quote !== "'" && at + 1 < text.length;
    if (isEscape && (!quote || /["\\$`]/.test(text.charAt(at + 1)))) {
      current += text.charAt(++at);
      isInside = true;
    } else if (quote ? character === quote : character === '"' || character === "'") {
      quote = quote ? '' : character;
      isInside = true;
    } else if (!quote && /\s/.test(character)) {
      if (isInside) found.push(current);
      current = '';
      isInside = false;
    } else {
      current += character;
      isInside = true;
    }
  }
  if (quote) throw new SyntaxError(`The quote ${quote} is not closed.`);
  if (isInside) found.push(current);
  return found;
}

/** The text that splits into these arguments again. */
export function joinArguments(values: readonly string[], hasEscapes = process.platform !== 'win32'): string {
  return values.map((value) => quoted(value, hasEscapes)).join(' ');
}

function quoted(value: string, hasEscapes: boolean): string {
  if (/^[\w@%+=:,./-]+$/.test(value) || (!hasEscapes && /^[\w@%+=:,./\\-]+$/.test(value))) return value;
  if (!value.includes("'")) return `'${value}'`;
  if (!value.includes('"') && (!hasEscapes || !/[\\$`]/.test(value))) return `"${value}"`;
  return value
    .split("'")
    .map((part) => (part ? `'${part}'` : ''))
    .join(`"'"`);
}
