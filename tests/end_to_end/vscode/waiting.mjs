// Waiting for what has no event that a test could hear.

const EVERY_MS = 100;

/** The first value of `look` that is true; an error that says what was waited for, and what there was instead. */
export async function until(what, look, { timeout = 60_000, otherwise } = {}) {
  const end = Date.now() + timeout;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) {
      const instead = otherwise ? `; instead: ${JSON.stringify(await otherwise(), null, 1)}` : '';
      throw new Error(`waited ${timeout / 1000} s in vain for ${what}${instead}`);
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
