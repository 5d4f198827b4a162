// Editor and details in the four kinds of themes, and the pictures for docs/images.
import path from 'node:path';
import { scenario } from './stage.mjs';
import { until } from './waiting.mjs';

/** The kind that web views are told, and the colour of package.json for regions with at least 40 % of the run. */
const THEMES = {
  'Default Dark Modern': ['vscode-dark', 'rgb(255, 211, 78)'],
  'Default Light Modern': ['vscode-light', 'rgb(122, 4, 3)'],
  'Default High Contrast': ['vscode-high-contrast', 'rgb(255, 255, 255)'],
  'Default High Contrast Light': ['vscode-high-contrast-light', 'rgb(0, 0, 0)'],
};

await scenario(async (stage) => {
  const settings = { 'breadcrumbs.enabled': false, 'editor.fontSize': 13, 'workbench.layoutControl.enabled': false };
  const code = await stage.vscode({ file: 'train_mlp.py', settings });
  const { page } = code;
  const panel = code.webview();
  const picture = (name, clip) => page.screenshot({ path: path.join(stage.given.pictures, `${name}.png`), clip });

  await stage.step('editor and details', async () => {
    await page.setViewportSize({ width: 1400, height: 860 });
    await code.lens('Details').waitFor();
    await code.command('View: Toggle Primary Side Bar Visibility');
    await code.goTo(53);
    await code.lens('Details', 4).click();
    await panel.locator('#lanes-chart svg.lanes').waitFor();
  });

  for (const [theme, [kind, hottest]] of Object.entries(THEMES)) {
    await stage.step(theme, async () => {
      await code.set({ 'workbench.colorTheme': theme });
      await panel.locator(`body[data-vscode-theme-kind="${kind}"]`).waitFor();
      await until(`a bar of ${hottest}`, async () => (await code.bars()).some(({ color }) => color === hottest));
    });
  }

  await stage.step('pictures for the README', async () => {
    for (const [name, theme] of [
      ['light', 'Default Light Modern'],
      ['dark', 'Default Dark Modern'],
    ]) {
      await code.set({ 'workbench.colorTheme': theme });
      await panel.locator(`body[data-vscode-theme-kind="vscode-${name}"]`).waitFor();
      await picture(`editor-${name}`);
    }
  });
});
