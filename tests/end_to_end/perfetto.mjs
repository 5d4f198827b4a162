// Opens a link of ours as a person would, in Chromium, and prints as JSON what the real Perfetto UI then shows.
// usage: node perfetto.mjs '{"link", "chromium", "dist", "profile", "frames_may_store", "screenshot", "range": [ns, ns], "sql", "columns"}'
// Without a range, it waits for our page to say that it failed.
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { ORIGIN, playPerfetto, query, traceLoaded, visibleWindow, windowIs } from './perfetto_ui.mjs';

const asked = JSON.parse(process.argv[2]);

// Whether frames may keep data: Debian's Chromium refuses it as it comes, others allow it.
fs.mkdirSync(path.join(asked.profile, 'Default'), { recursive: true });
const preferences = { profile: { cookie_controls_mode: asked.frames_may_store ? 0 : 1 } };
fs.writeFileSync(path.join(asked.profile, 'Default', 'Preferences'), JSON.stringify(preferences));

const context = await chromium.launchPersistentContext(asked.profile, {
  executablePath: asked.chromium,
  args: ['--no-sandbox', '--disable-gpu'],
  ignoreDefaultArgs: ['--disable-popup-blocking'], // block pop-ups as a person's browser does
  viewport: { width: 1400, height: 800 },
});
const page = await context.newPage();
const complaints = []; // about our page; those about the UI, and the icon that browsers look for, are not ours
const isOurs = (url) => url.includes(new URL(asked.link).host) && !url.includes('/favicon.ico');
page.on(
  'console',
  (message) => message.type() === 'error' && isOurs(message.location().url) && complaints.push(message.text()),
);
page.on('pageerror', (error) => isOurs(error.stack ?? '') && complaints.push(String(error)));

const notice = page.locator('#state');
const button = page.getByRole('button');

async function failing() {
  await page.getByText('could not be handed over').waitFor({ timeout: 60_000 });
  await page.screenshot({ path: asked.screenshot });
  return {
    notice: await notice.textContent(),
    button_is_left: await button.isVisible(),
    frames: page.frames().length - 1,
  };
}

async function opening() {
  const started = Date.now();
  // Where the frame shows itself after all, though late on a slow machine, nobody needs the button.
  await (asked.frames_may_store ? page.locator('iframe:not(.waiting)') : button).waitFor({
    state: 'visible',
    timeout: 60_000,
  });
  let ui = page.frames().find((each) => each.url().startsWith(ORIGIN));
  let shown = page;
  if (!asked.frames_may_store) {
    await page.screenshot({ path: asked.screenshot.replace('.png', '-click.png') });
    const opened = context.waitForEvent('page');
    await button.click();
    ui = shown = await opened;
  }
  await traceLoaded(ui);
  await windowIs(ui, ...asked.range);
  const seconds = (Date.now() - started) / 1000;
  await shown.waitForTimeout(500); // the canvas is drawn after the window is set
  await shown.screenshot({ path: asked.screenshot });
  return {
    notice: await notice.textContent(),
    button_is_left: await button.isVisible(),
    seconds,
    complaints,
    title: await shown.title(),
    window: await visibleWindow(ui),
    rows: await query(ui, asked.sql, asked.columns),
    errors: await query(ui, "select name, value from stats where severity = 'error' and value > 0", {
      name: 'str',
      value: 'num',
    }),
  };
}

try {
  await playPerfetto(context, asked.dist);
  await page.goto(asked.link);
  console.log(JSON.stringify(await (asked.range ? opening() : failing())));
} finally {
  await context.close();
}
