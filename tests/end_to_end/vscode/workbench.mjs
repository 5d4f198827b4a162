// Drives a VS Code workbench in a page of a browser. The selectors are those of VS Code 1.100.
import path from 'node:path';
import { errors } from 'playwright-core';
import { until } from './waiting.mjs';

const TOASTS = '.notifications-toasts .notification-toast';

export class Workbench {
  #changes = 0;

  /** `server` is the CodeServer behind the page. */
  constructor(page, server) {
    this.page = page;
    this.server = server;
  }

  /** Opens the server's workbench, with that file of the workspace; resolves when the file tree is there. */
  async open(file) {
    this.opened = Date.now();
    await this.page.addInitScript(rememberToasts, TOASTS);
    await this.page.addInitScript(stopSpinners);
    await this.page.goto(this.server.url(file));
    await this.page.waitForSelector('.explorer-folders-view .monaco-list-row', { timeout: 120_000 });
    return this;
  }

  /** Leaves nothing of an earlier scenario but the files; opens that file, with these settings of the workspace. */
  async clear(file, settings) {
    await this.leave();
    await this.page.keyboard.press('Control+s');
    await this.page.locator('.tab.dirty').waitFor({ state: 'detached' });
    await this.command('View: Close All Editors');
    await this.page.locator('.tab').waitFor({ state: 'detached' });
    await this.command('Notifications: Clear All Notifications');
    await this.page.locator(TOASTS).waitFor({ state: 'detached' });
    this.server.changed = {};
    await this.set(settings);
    await this.page.evaluate(() => (window.toastTexts = []));
    await this.openFile(file);
    return this;
  }

  /** Changes settings of the workspace; resolves when they are in force, which the window's title tells. */
  async set(values) {
    const title = `settings ${++this.#changes}`;
    this.server.set({ ...values, 'window.title': title });
    await this.page.waitForFunction((wanted) => document.title.startsWith(wanted), title);
  }

  async openFile(name) {
    const row = this.page.locator('.explorer-folders-view .monaco-list-row', { hasText: name });
    const tab = this.page.locator('.tab.active', { hasText: name });
    // Where a run makes a file at that moment, another row may be under the pointer.
    await until(`${name} in an editor`, async () => {
      await row.dblclick();
      return isInTime((timeout) => tab.waitFor({ timeout }));
    });
    await this.textIsShown();
  }

  textIsShown() {
    return this.page.waitForSelector('.monaco-editor .view-line span[class*="mtk"]');
  }

  /** Lines on screen from top to bottom: {number, text, hint}. Hints are injected text, whose class starts with dyn-rule. */
  lines() {
    return this.page.evaluate(() => {
      const plain = (text) => text.replaceAll('\u00a0', ' ').replace(/[\u200b-\u200d\ufeff]/g, '');
      const top = (element) => parseFloat(element.style.top);
      const editor = document.querySelector('.editor-instance');
      if (!editor) return [];
      const numbers = new Map();
      for (const margin of editor.querySelectorAll('.margin-view-overlays > div')) {
        const number = margin.querySelector('.line-numbers')?.textContent;
        if (number) numbers.set(top(margin), Number(number));
      }
      return [...editor.querySelectorAll('.view-line')]
        .sort((a, b) => top(a) - top(b))
        .map((line) => {
          const injected = [...line.querySelectorAll('span[class*="dyn-rule"]')].map((span) => span.textContent);
          const hint = plain(injected.join(''));
          const whole = plain(line.textContent);
          return { number: numbers.get(top(line)), text: hint ? whole.replace(hint, '') : whole, hint: hint.trim() };
        });
    });
  }

  /** The line on screen that holds this text. */
  async line(text) {
    return (await this.lines()).find((line) => line.text.includes(text));
  }

  /** Waits for the hint of the line that holds `text` to be as wanted, and gives that line. */
  hint(text, pattern, timeout) {
    return until(
      `a hint like ${pattern} at the line with ${text}`,
      async () => {
        const line = await this.line(text);
        return line && pattern.test(line.hint) && line;
      },
      { timeout, otherwise: () => this.lines() },
    );
  }

  /** The lens whose title holds `title`, above any line, or above the nth line with lenses. */
  lens(title, nth = 0) {
    return this.page.locator('.codelens-decoration a', { hasText: title }).nth(nth);
  }

  squiggles(severity) {
    return this.page.locator(`.squiggly-${severity}`);
  }

  /** The bars beside line numbers: {color, width, style} of each that is on screen. */
  bars() {
    return this.page.evaluate(() =>
      [...document.querySelectorAll('.editor-instance .glyph-margin-widgets .cgmr')]
        .map((mark) => getComputedStyle(mark))
        .filter((style) => style.borderRightStyle !== 'none' && parseFloat(style.borderRightWidth) > 0)
        .map((style) => ({
          color: style.borderRightColor,
          width: style.borderRightWidth,
          style: style.borderRightStyle,
        })),
    );
  }

  /** The box that pops up over a word of the line that holds `lineText`. */
  async hover(word, lineText) {
    const box = this.page.locator('.monaco-editor .monaco-hover:not(.hidden)').first();
    // Where hints change at that moment, the box does not come, or goes again.
    await until(`a box over ${word}`, async () => {
      const { x, y } = await this.page.evaluate(middleOf, { word, lineText });
      await this.page.mouse.move(0, 0);
      await this.page.mouse.move(x, y);
      return isInTime((timeout) => box.locator('.hover-row').first().waitFor({ timeout }));
    });
    return box;
  }

  /** Hovers over the word until the box says that: what diagnostics say in it may come after a hint. Gives its text. */
  hoverText(word, lineText, pattern) {
    return until(`a box like ${pattern} over ${word}`, async () => {
      const text = await (await this.hover(word, lineText)).innerText();
      if (pattern.test(text)) return text;
      return this.leave();
    });
  }

  /** Takes the pointer away, and with it the box. */
  async leave() {
    await this.page.mouse.move(0, 0);
    await this.page.locator('.monaco-editor .monaco-hover:not(.hidden)').first().waitFor({ state: 'hidden' });
  }

  toast(text) {
    return this.page.locator(TOASTS, { hasText: text }).first();
  }

  /** Clicks on what a message offers until there is that to choose: where another one comes or goes, a click may miss. */
  choiceOf(toast, action, choice) {
    return until(`${choice} to choose`, async () => {
      return isInTime(async (timeout) => {
        await toast.getByText(action).click({ timeout });
        await this.choice(choice).waitFor({ timeout });
      });
    });
  }

  /** All texts that notifications have had since the page was opened. */
  toastTexts() {
    return this.page.evaluate(() => window.toastTexts);
  }

  dialog() {
    return this.page.locator('.monaco-dialog-box');
  }

  statusItem(id) {
    return this.page.locator(`.statusbar-item[id="${id}"]`);
  }

  /** What stands in the status bar with that text. */
  status(text) {
    return this.page.locator('.statusbar-item', { hasText: text }).first();
  }

  /** Opens what the braces of the status bar hold and waits for them to say that. */
  async languageStatus(pattern) {
    await this.page.locator('.statusbar-item[id="status.languageStatus"] a').first().click();
    await this.page.locator('.hover-language-status', { hasText: pattern }).first().waitFor();
  }

  /** Waits for our item of the status bar to say that. */
  runStatus(pattern) {
    return this.statusItem('kinetoscope.kinetoscope.kinetoscope.run').filter({ hasText: pattern }).waitFor();
  }

  /** The line number that the cursor is at, as the status bar says. */
  async cursorLine() {
    const text = await this.statusItem('status.editor.selection').innerText();
    return Number(/Ln (\d+)/.exec(text)?.[1]);
  }

  /** The field of the palette and of questions. */
  input() {
    return this.page.locator('.quick-input-widget input[type="text"]');
  }

  /** What can be picked there, with that text. */
  choice(text) {
    return this.page.locator('.quick-input-widget .monaco-list-row', { hasText: text }).first();
  }

  /** The line number that is marked as the cursor's, also while another part has the focus. */
  async activeLine() {
    return Number(await this.page.locator('.editor-instance .line-numbers.active-line-number').first().innerText());
  }

  /** Runs a command from the palette by its title. */
  async command(title) {
    const row = this.page.locator('.quick-input-widget .monaco-list-row.focused', { hasText: title }).first();
    // A web view that is just getting the focus swallows the key, or closes the palette again; a palette that was
    // opened before a command was there does not get it.
    await until(`the command ${title}`, async () => {
      await this.page.keyboard.press('F1');
      const isThere = await isInTime(async (timeout) => {
        await this.input().fill(`>${title}`, { timeout });
        await row.waitFor({ timeout });
      });
      if (!isThere) await this.page.keyboard.press('Escape');
      return isThere;
    });
    await this.page.keyboard.press('Enter');
  }

  /** Puts the cursor at the start of a line. */
  async goTo(number) {
    await this.page.keyboard.press('Control+g');
    await this.input().fill(`:${number}`);
    await this.page.locator('.quick-input-widget .monaco-list-row', { hasText: `line ${number}` }).waitFor();
    await this.page.keyboard.press('Enter');
    await until(`the cursor at line ${number}`, async () => (await this.cursorLine()) === number);
  }

  /** Types at the end of a line. */
  async append(number, text) {
    await this.goTo(number);
    await this.page.keyboard.press('End');
    await this.page.keyboard.insertText(text);
  }

  /** Chooses traces for *Load Trace*, whose dialog starts in the workspace. */
  loadTrace(file) {
    return this.#chooseFile('Kinetoscope: Load Trace…', file, 'Load');
  }

  /** Installs an extension while VS Code runs, as a user does. */
  install(vsix) {
    return this.#chooseFile('Extensions: Install from VSIX...', vsix, 'Install');
  }

  /** Chooses a file in the dialog of a command, which starts in some folder. */
  async #chooseFile(command, file, button) {
    const dialog = this.page.locator('.quick-input-widget');
    await this.command(command);
    const row = dialog.locator('.monaco-list-row', { hasText: path.basename(file) });
    // The folder to start in is filled in when it is listed, over what was typed before.
    await until(`${file} in the dialog`, async () => {
      await this.input().fill(file);
      await isInTime((timeout) => row.waitFor({ timeout }));
      return (await this.input().inputValue()) === file;
    });
    await dialog.getByText(button, { exact: true }).click();
  }

  /** The menu of what can be done at a line: its entries. */
  async actions(number) {
    const entries = this.page.locator('.action-widget .monaco-list-row.action');
    // VS Code says that there are none while it is still asking for those of the line that the cursor has left.
    await until(`what can be done at line ${number}`, async () => {
      await this.goTo(number);
      await this.page.keyboard.press('Control+.');
      return isInTime((timeout) => entries.first().waitFor({ timeout }));
    });
    return entries;
  }

  /** Does what the menu of a line offers under that title. */
  async act(number, title) {
    const entries = await this.actions(number);
    await this.page.mouse.move(0, 0); // the menu takes no click before the pointer has moved
    await this.page.mouse.move(9, 9);
    await entries.filter({ hasText: title }).click();
  }

  /** Opens the Problems panel; its rows. */
  async problems() {
    await this.page.keyboard.press('Control+Shift+m');
    const rows = this.page.locator('.markers-panel .monaco-list-row');
    await rows.first().waitFor();
    return rows;
  }

  /** The content of the visible web view of that extension, ours if not said otherwise. */
  webview(extension = 'kinetoscope.kinetoscope') {
    return this.page
      .frameLocator(`iframe.webview.ready[src*="extensionId=${extension}"]`)
      .frameLocator('#active-frame');
  }

  /** What a person sees, for messages of tests that failed. */
  async seen() {
    const texts = async (selector) => (await this.page.locator(selector).allInnerTexts()).map((text) => text.trim());
    return {
      lines: (await this.lines()).map(({ number, text, hint }) => `${number}: ${text}${hint && `  [${hint}]`}`),
      lenses: await texts('.codelens-decoration'),
      notifications: await texts(TOASTS),
      dialog: await texts('.monaco-dialog-box'),
      input: await texts('.quick-input-widget:not([style*="display: none"])'),
      status: (await texts('.statusbar-item')).filter(Boolean),
      tabs: await texts('.tab'),
    };
  }
}

/** Whether `act`, which is given a time limit, kept it. */
function isInTime(act, timeout = 5000) {
  return act(timeout).then(
    () => true,
    (error) => {
      if (error instanceof errors.TimeoutError) return false;
      throw error;
    },
  );
}

/** Runs in the page: notes each text of a notification, since those of a run's phases pass quickly. */
function rememberToasts(selector) {
  window.toastTexts = [];
  new MutationObserver(() => {
    for (const toast of document.querySelectorAll(selector)) {
      const text = toast.querySelector('.notification-list-item-message')?.textContent ?? '';
      if (text && !window.toastTexts.includes(text)) window.toastTexts.push(text);
    }
  }).observe(document, { childList: true, subtree: true, characterData: true });
}

/** Runs in the page: what turns while something is awaited is drawn 25 times a second, without a GPU by a third of a core. */
function stopSpinners() {
  const style = new globalThis.CSSStyleSheet();
  style.replaceSync(
    '.progress-bit, .codicon-modifier-spin::before, .codicon-loading::before { animation: none !important }',
  );
  document.adoptedStyleSheets.push(style);
}

/** Runs in the page: where a word of a line is drawn. */
function middleOf({ word, lineText }) {
  const plain = (text) => text.replaceAll('\u00a0', ' ');
  const lines = [...document.querySelectorAll('.editor-instance .view-line')];
  const line = lines.find((each) => plain(each.textContent).includes(lineText));
  let start = plain(line.textContent).indexOf(lineText);
  start += lineText.indexOf(word);
  const nodes = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode() && start >= nodes.currentNode.length) start -= nodes.currentNode.length;
  const range = document.createRange();
  range.setStart(nodes.currentNode, start);
  range.setEnd(nodes.currentNode, start + 1);
  const { x, y, width, height } = range.getBoundingClientRect();
  return { x: x + width / 2, y: y + height / 2 };
}
