// Exports of the table as Markdown and as CSV, with the rows and the order that are shown, and every column.
import type { RunRegion } from '../server/protocol/results';
import { cellText, type Column, type Field } from './table/columns';

/** Times as they are shown. */
export function markdownOf(columns: readonly Column[], regions: readonly RunRegion[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(columns.map((column) => column.heading)),
    `|${columns.map((column) => (column.kind === 'text' ? ':--' : '--:')).join('|')}|`,
    ...regions.map((region) => line(columns.map((column) => inMarkdown(cellText(column, region))))),
    '',
  ].join('\n');
}

/** Taken literally: no markup, no end of the cell, no link from a bare address. */
function inMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#+!|~&@]|:(?=\/\/)|(?<=www)\./gi, (character) => `\\${character}`);
}

/** Times in nanoseconds, shares from 0 to 1; lines end as RFC 4180 has it. */
export function csvOf(columns: readonly Column[], regions: readonly RunRegion[]): string {
  const fields = columns.flatMap((column): readonly Field[] => column.parts ?? [column]);
  const head = fields.map(({ field }) => field);
  const rows = regions.map((region) => fields.map((column) => String(column.value(region) ?? '')));
  return [head, ...rows].map((cells) => `${cells.map(inCsv).join(',')}\r\n`).join('');
}

function inCsv(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
