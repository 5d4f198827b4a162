// Patterns of what is drawn: things can be distinguished without their colours.
import { html, nothing, type Markup } from '../markup';

/** Stands once in a document; shapes fill themselves by `url(#diagonal)` and the like. */
export const patterns = html`<svg class="patterns" width="0" height="0" aria-hidden="true">
  <defs>
    <pattern id="diagonal" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <line x1="0" y1="0" x2="0" y2="6" />
    </pattern>
    <pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse">
      <circle cx="2.5" cy="2.5" r="1" />
    </pattern>
    <pattern id="stripes" width="5" height="5" patternUnits="userSpaceOnUse">
      <line x1="0" y1="2.5" x2="5" y2="2.5" />
    </pattern>
  </defs>
</svg>`;

const PATTERN_OF: Record<string, string> = {
  nested: 'diagonal',
  api_calls: 'dots',
  self: 'stripes',
  autograd: 'diagonal',
  sync: 'diagonal',
  'cuda-warmup': 'diagonal',
  'cpu-warmup': 'diagonal',
};

/** A rectangle in the colour of its kind, and in its pattern if it has one. */
export function filled(kind: string, shape: Markup): Markup {
  const pattern = PATTERN_OF[kind];
  return html`<rect class="fill ${kind}" ${shape} />${
      pattern === undefined ? nothing : html`<rect fill="url(#${pattern})" ${shape} />`
    }`;
}

/** A square that explains a kind. */
export function swatch(kind: string): Markup {
  return html`<svg class="swatch" width="12" height="12" aria-hidden="true">
    ${filled(kind, html`x="0.5" y="0.5" width="11" height="11"`)}
  </svg>`;
}
