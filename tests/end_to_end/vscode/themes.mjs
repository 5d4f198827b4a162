// Editor and details in the four kinds of themes, and the pictures of docs/images.
import { until } from './waiting.mjs';

/** The kind that web views get, and the colour of package.json for regions with at least 40 % of the run. */
const THEMES = {
  'Default High Contrast': ['vscode-high-contrast', 'rgb(255, 255, 255)'],
  'Default High Contrast Light': ['vscode-high-contrast-light', 'rgb(0, 0, 0)'],
  'Default Light Modern': ['vscode-light', 'rgb(122, 4, 3)'],
  'Default Dark Modern': ['vscode-dark', 'rgb(255, 211, 78)'],
};

export default async (stage) => {
  const code = await stage.vscode({ file: 'train_mlp.py', settings: { 'breadcrumbs.enabled': false } });
  const { page } = code;
  const panel = code.webview();
  const shown = async (theme) => {
    const [kind, hottest] = THEMES[theme];
    await code.set({ 'workbench.colorTheme': theme });
    await panel.locator(`body[data-vscode-theme-kind="${kind}"]`).waitFor();
    await until(`a bar of ${hottest}`, async () => (await code.bars()).some(({ color }) => color === hottest));
  };

  await stage.step('editor and details', async () => {
    await page.setViewportSize({ width: 1400, height: 860 });
    await code.textIsShown();
    await code.goTo(60);
    await code.command('View: Toggle Primary Side Bar Visibility');
    await code.hint('record_function("backward")', /^CUDA /);
    await code.lens('Details').waitFor(); // from then on the lines stay where they are
    await (await code.hover('with', 'record_function("backward")')).getByText('Details', { exact: true }).click();
    await code.leave();
    await panel.locator('#lanes-chart svg.lanes').waitFor();
  });

  for (const theme of Object.keys(THEMES)) await stage.step(theme, () => shown(theme));

  await stage.step('without hints the times stand in the lenses', async () => {
    await code.set({ 'editor.inlayHints.enabled': 'off' });
    await code
      .lens(/^CUDA .* · CPU /)
      .first()
      .waitFor();
    await stage.picture(' off');
    await code.set({ 'editor.inlayHints.enabled': 'on' });
    await code
      .lens(/^CUDA .* · CPU /)
      .first()
      .waitFor({ state: 'detached' });
    await code.hint('record_function("backward")', /^CUDA /);
  });

  const alone = async (tab) => {
    await page.locator('.tab', { hasText: tab }).first().click();
    await code.command('View: Toggle Maximize Editor Group');
  };

  await stage.step('the editor alone', async () => {
    await alone('train_mlp.py');
    const first = await page.locator('.view-line', { hasText: 'batches = iter' }).boundingBox();
    await until(
      'the whole width',
      async () => (await page.locator('.editor-instance .monaco-editor').first().boundingBox()).width > 1000,
    );
    const last = await page.locator('.view-line', { hasText: 'print(f"step' }).boundingBox();
    const { x } = await page.locator('.editor-instance .monaco-editor').first().boundingBox();
    await stage.cut('editor-dark', { x, y: first.y, width: 820, height: last.y + last.height - first.y });
    await code.command('View: Toggle Maximize Editor Group');
  });

  await stage.step('the details alone', async () => {
    await shown('Default Light Modern');
    await page.setViewportSize({ width: 1200, height: 1500 });
    await alone('Kinetoscope: ');
    const whole = await until('the whole width', async () => {
      const box = await page.locator('iframe.webview.ready').boundingBox();
      return box.width > 1000 && box;
    });
    const last = await panel.locator('#lanes > p.quiet').boundingBox();
    await stage.cut('details-light', { ...whole, height: last.y + last.height - whole.y });
  });
};
