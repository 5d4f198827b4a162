// Span of a timeline that is shown: zooming and moving, never beyond its ends.

/** A span of a timeline, in its nanoseconds. */
export interface Span {
  from: number;
  to: number;
}

const NARROWEST_NS = 50;

/** Shows `factor` as much of the time; what is at `around` stays where it is. */
export function zoomed(span: Span, whole: Span, factor: number, around: number): Span {
  const length = Math.max(NARROWEST_NS, (span.to - span.from) * factor);
  const share = (around - span.from) / (span.to - span.from);
  return within({ from: around - share * length, to: around + (1 - share) * length }, whole);
}

export function moved(span: Span, whole: Span, ns: number): Span {
  return within({ from: span.from + ns, to: span.to + ns }, whole);
}

/** Moves no further than it must for a slice to be in sight. */
export function showing(span: Span, whole: Span, start: number, end: number): Span {
  if (start < span.from) return moved(span, whole, start - span.from);
  if (end > span.to) return moved(span, whole, Math.min(end - span.to, start - span.from));
  return span;
}

function within(span: Span, whole: Span): Span {
  const length = span.to - span.from;
  if (length >= whole.to - whole.from) return whole;
  const from = Math.min(Math.max(span.from, whole.from), whole.to - length);
  return { from, to: from + length };
}
