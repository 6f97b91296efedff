/** A field for a text that programs read, such as JSON. */
import { html } from 'hono/html';
import type { Html } from '../../pages/markup.ts';
import { describe } from './problems.ts';
import type { Problem } from './problems.ts';

export interface CodeField {
  /** Also the name under which the form sends it. */
  readonly id: string;
  readonly label: string;
  readonly rows: number;
  readonly hint: Html;
  /** Seen where nothing is written. */
  readonly placeholder?: string;
}

export function showCodeField(field: CodeField, text: string, problems: readonly Problem[]): Html {
  const { id, label, rows, hint, placeholder } = field;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <textarea
      id="${id}"
      name="${id}"
      rows="${rows}"
      class="code"
      spellcheck="false"
      ${placeholder === undefined ? '' : html`placeholder="${placeholder}"`}
      ${describe(id, [`${id}-hint`], problems)}
    >
${text}</textarea>
    <p class="hint" id="${id}-hint">${hint}</p>
  </div>`;
}
