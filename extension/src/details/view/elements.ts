// Elements of the page, and those of VS Code's look, which are registered with the browser.
import '@vscode-elements/elements/dist/vscode-button/index.js';
import '@vscode-elements/elements/dist/vscode-checkbox/index.js';
import '@vscode-elements/elements/dist/vscode-textfield/index.js';

/** The element of an id; the panel's own page has them all. */
export function byId<Type extends Element>(id: string, type: new () => Type): Type {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`There is no ${type.name} #${id} in the page`);
  return found;
}

export function onClick(id: string, act: (event: MouseEvent) => void): void {
  byId(id, HTMLElement).addEventListener('click', act);
}
