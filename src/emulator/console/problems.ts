/** What is wrong with a form: said above it, where the focus goes, and beside each field. */
import { html } from 'hono/html';
import type { Refusal } from '../routing/refusal.ts';
import type { Html } from '../../pages/markup.ts';

export interface Problem {
  readonly text: string;
  /** The id of its field. */
  readonly field?: string | undefined;
}

/**
 * The problems of a refusal, one sentence each.
 * @param fieldOf the id and the label of the field for a path of the body, such as `input.duration`
 */
export function problemsOf(
  { body, message }: Refusal,
  fieldOf: (path: string) => Field | undefined = noField,
): Problem[] {
  const { issues } = body;
  if (!Array.isArray(issues)) return [{ text: message }];
  return issues.map(({ path, message: text }: { path: PropertyKey[]; message: string }) => {
    const name = path.map(String).join('.');
    const field = fieldOf(name);
    if (path.length === 0) return { text };
    return { text: `${field?.label ?? name}: ${text}`, field: field?.id };
  });
}

export interface Field {
  readonly id: string;
  readonly label: string;
}

function noField(): undefined {
  return undefined;
}

/** Takes the focus when the page opens, also without a script. */
export function showProblems(title: string, problems: readonly Problem[]): Html | '' {
  if (problems.length === 0) return '';
  return html`<div id="problems" class="problems" role="alert" tabindex="-1" autofocus>
    <p><span aria-hidden="true">▲</span> ${title}</p>
    <ul>
      ${problems.map(({ text, field }) => html`<li>${field === undefined ? text : html`<a href="#${field}">${text}</a>`}</li>`)}
    </ul>
  </div>`;
}

/** Attributes of a field: what describes it, and whether something is wrong with it. */
export function describe(id: string, hints: readonly string[], problems: readonly Problem[]): Html {
  const isWrong = problems.some(({ field }) => field === id);
  const by = [...hints, ...(isWrong ? ['problems'] : [])].join(' ');
  return html`${by === '' ? '' : html`aria-describedby="${by}"`} ${isWrong ? html`aria-invalid="true"` : ''}`;
}
