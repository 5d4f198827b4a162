// Findings of a region or of a whole run. What limits a region is shown elsewhere, with what it means.
import type { Finding } from '../../server/protocol/measures';
import { html, nothing, type Markup } from '../markup';
import { BOUND_CODES } from './bounds';
import { countText, printable } from '../text';

const SEVERITIES: Record<Finding['severity'], { name: string; shape: Markup }> = {
  warning: {
    name: 'Warning',
    shape: html`<path d="M8 1.8 15 14H1z" /><path class="sign" d="M8 6v4M8 11.4v1.4" />`,
  },
  information: {
    name: 'Information',
    shape: html`<circle cx="8" cy="8" r="6.5" /><path class="sign" d="M8 7v5M8 4v1.4" />`,
  },
  hint: { name: 'Hint', shape: html`<circle cx="8" cy="8" r="4" />` },
};

/** Those to list: the ones that a comment in the source switches off come last. */
export function shownFindings(findings: readonly Finding[] | null): Finding[] {
  const shown = (findings ?? []).filter(({ code }) => !BOUND_CODES.has(code));
  return [...shown.filter((each) => !each.is_suppressed), ...shown.filter((each) => each.is_suppressed)];
}

/** A list of them; of a region by its index, null: of the run. Its buttons do nothing on a saved page and are not there. */
export function findingsMarkup(findings: readonly Finding[] | null, region: number | null, isSaved = false): Markup {
  const shown = shownFindings(findings);
  if (shown.length === 0) return nothing;
  return html`<ul class="findings" aria-label="${region === null ? 'Findings of the run' : 'Findings'}">
    ${shown.map((each) => findingMarkup(each, region, isSaved))}
  </ul>`;
}

function findingMarkup(finding: Finding, region: number | null, isSaved: boolean): Markup {
  const { code, severity, message, spot, is_suppressed: isSuppressed } = finding;
  const trace =
    isSaved || spot === null
      ? nothing
      : html` <button
          type="button"
          class="link-button"
          data-spot="${code}"
          data-region="${region}"
          aria-label="Open trace there: ${code}"
        >
          Open trace there
        </button>`;
  return html`<li class="${isSuppressed ? 'suppressed' : ''}">
    ${severityIcon(severity)}
    <div>
      <b>${explained(code, isSaved)}</b>
      ${isSuppressed ? html`<span class="quiet">(ignored here)</span>` : nothing} ${printable(message)}${trace}
    </div>
  </li>`;
}

/** A code that leads to its page, which a saved page cannot. */
export function explained(code: string, isSaved: boolean): Markup {
  if (isSaved) return html`${code}`;
  const title = 'What it means and what helps';
  return html`<button type="button" class="link-button" data-explain="${code}" title="${title}">${code}</button>`;
}

function severityIcon(severity: Finding['severity'], tip?: string): Markup {
  const { name, shape } = SEVERITIES[severity];
  return html`<svg
    class="severity ${severity}"
    viewBox="0 0 16 16"
    width="14"
    height="14"
    role="img"
    aria-label="${tip ?? name}"
  >
    <title>${tip ?? name}</title>
    ${shape}
  </svg>`;
}

/** Before a region's name in the table, where something can be done that is likely to pay. */
export function warningMark(findings: readonly Finding[] | null): Markup {
  const codes = warningsOf(findings).map(({ code }) => code);
  return codes.length === 0
    ? nothing
    : severityIcon('warning', `${countText(codes.length, 'finding')}: ${codes.join(', ')}`);
}

export function hasWarning(findings: readonly Finding[] | null): boolean {
  return warningsOf(findings).length > 0;
}

function warningsOf(findings: readonly Finding[] | null): Finding[] {
  return shownFindings(findings).filter((each) => each.severity === 'warning' && !each.is_suppressed);
}
