// Hovers with links that run commands, which only VS Code can follow.
import * as vscode from 'vscode';
import type { Results } from './results';

/** The commands that a hover's links may run. */
export const LINKED = ['kinetoscope.profileRegion', 'kinetoscope.openTrace', 'kinetoscope.showDetails'] as const;

export function withLinks(
  hover: vscode.Hover | null | undefined,
  document: vscode.TextDocument,
  position: vscode.Position,
  results: Results,
): vscode.Hover | null | undefined {
  const place = hover && results.placeNear(document, hover.range?.start.line ?? position.line);
  if (!hover || !place) return hover;
  const query = encodeURIComponent(JSON.stringify([place.uri, place.line, place.name])).replace(
    /[()]/g,
    (bracket) => (bracket === '(' ? '%28' : '%29'), // they would end the link
  );
  const link = (title: string, command: (typeof LINKED)[number]): string => `[${title}](command:${command}?${query})`;
  const links = new vscode.MarkdownString(
    [
      link('Profile again', 'kinetoscope.profileRegion'),
      link('Trace', 'kinetoscope.openTrace'),
      link('Details', 'kinetoscope.showDetails'),
    ].join(' · '),
  );
  links.isTrusted = { enabledCommands: LINKED };
  return new vscode.Hover([links, ...hover.contents], hover.range);
}
