/** The forms that order faults: one of the usual kinds, or a script. A stylesheet shows the fields of the chosen kind. */
import { html } from 'hono/html';
import { updatePath } from '../../contract/update-path.ts';
import type { FaultInput } from '../../contract/fault-script.ts';
import type { Html } from '../../pages/markup.ts';
import { describe } from './problems.ts';
import type { Field, Problem } from './problems.ts';

export const faultsPath = '/console/faults';

interface InputField<Id extends string> {
  readonly id: Id;
  readonly label: string;
  readonly value: string;
  readonly mode: 'numeric' | 'decimal' | 'text';
  readonly hint?: Html;
}

/** A field of one or more kinds. */
type FaultField = InputField<'status' | 'retryAfter' | 'delayMs' | 'truncate' | 'failureCode'>;

const fields: readonly FaultField[] = [
  { id: 'status', label: 'Status', value: '503', mode: 'numeric' },
  { id: 'retryAfter', label: 'Retry after (s)', value: '', mode: 'numeric' },
  { id: 'delayMs', label: 'Wait (ms)', value: '2000', mode: 'numeric' },
  { id: 'truncate', label: 'Bytes', value: '20', mode: 'numeric' },
  { id: 'failureCode', label: 'Failure code', value: 'INTERNAL', mode: 'text' },
];

/** Fields of every kind. */
const common: readonly InputField<'times' | 'share'>[] = [
  { id: 'times', label: 'How many', value: '1', mode: 'text', hint: html`A number, or <code>always</code>` },
  { id: 'share', label: 'Share of them (%)', value: '100', mode: 'decimal' },
];

const kinds = {
  refuses: { name: 'Answers with a status', own: ['status', 'retryAfter'], fault: {} },
  slow: { name: 'Waits, then answers', own: ['delayMs'], fault: {} },
  hangs: { name: 'Never answers', own: [], fault: { hang: true } },
  'drop-before': { name: 'Closes the connection before it is applied', own: [], fault: { drop: 'before' } },
  'drop-after': { name: 'Closes the connection after it is applied', own: [], fault: { drop: 'after' } },
  'reset-after': { name: 'Resets the connection after it is applied', own: [], fault: { reset: 'after' } },
  cut: { name: 'Cuts the answer short', own: ['truncate'], fault: {} },
  'task-fails': { name: 'The task fails', own: ['failureCode'], fault: {} },
  'task-cancelled': { name: 'The task ends cancelled', own: [], fault: { cancelled: true } },
} as const satisfies Readonly<
  Record<string, { name: string; own: readonly FaultField['id'][]; fault: Partial<FaultInput> }>
>;
type Kind = keyof typeof kinds;

const aims = [
  ['', 'Any request'],
  [updatePath, `Driver push: ${updatePath}`],
  ['/v1/*', 'Model routing: /v1/*'],
  ['/v1/generate/*', 'Generation: /v1/generate/*'],
  ['/v1/tasks/*', 'Tasks: /v1/tasks/*'],
] as const;

/** What was written into the forms. */
export type FaultTexts = Readonly<Record<string, string>>;

/** The fault that the fields order, to be checked by its schema. */
export function orderedBy(texts: FaultTexts): Record<string, unknown> {
  const { kind = 'refuses', path = '', times = '1', share = '100' } = texts;
  const { own, fault } = kinds[(kind in kinds ? kind : 'refuses') as Kind];
  const given = own.flatMap((id): [string, unknown][] => {
    const text = texts[id]?.trim() ?? '';
    return text === '' && id === 'retryAfter' ? [] : [[id, id === 'failureCode' ? text : numberOf(text)]];
  });
  return {
    ...fault,
    ...Object.fromEntries(given),
    ...(path !== '' && { path }),
    times: times.trim() === 'always' ? 'always' : numberOf(times.trim()),
    probability: (numberOf(share.trim()) as number) / 100,
  };
}

/** A text that is no number goes to the schema as it is, which says so. */
function numberOf(text: string): number | string {
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

const labels: Readonly<Record<string, Field>> = {
  ...Object.fromEntries(fields.map(({ id, label }) => [id, { id, label }])),
  times: { id: 'times', label: 'How many' },
  probability: { id: 'share', label: 'Share of them' },
  script: { id: 'script', label: 'Script' },
};

/** The field for a path of a fault. */
export function faultFieldOf(path: string): Field | undefined {
  return labels[path];
}

export function showFaultForm(texts: FaultTexts, problems: readonly Problem[]): Html {
  const { kind = 'refuses', path = '' } = texts;
  return html`<form method="post" action="${faultsPath}" class="fault">
    <div class="field">
      <label for="kind">What happens</label>
      <select id="kind" name="kind">
        ${Object.entries(kinds).map(([value, { name }]) => showOption(value, name, kind))}
      </select>
    </div>
    <div class="grid">${fields.map((field) => showField(field, texts, problems))}</div>
    <div class="field">
      <label for="path">To which requests</label>
      <select id="path" name="path">
        ${aims.map(([value, name]) => showOption(value, name, path))}
      </select>
    </div>
    <div class="grid">${common.map((field) => showField(field, texts, problems))}</div>
    <div class="actions"><button class="primary">Add fault</button></div>
  </form>`;
}

function showOption(value: string, name: string, chosen: string): Html {
  return html`<option value="${value}" ${value === chosen ? 'selected' : ''}>${name}</option>`;
}

function showField(field: InputField<string>, texts: FaultTexts, problems: readonly Problem[]): Html {
  const { id, label, value, mode, hint } = field;
  const own = Object.entries(kinds).filter(([, kind]) => (kind.own as readonly string[]).includes(id));
  const classes = own.length === 0 ? 'field' : `field own ${own.map(([kind]) => kind).join(' ')}`;
  return html`<div class="${classes}">
    <label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${id}"
      value="${texts[id] ?? value}"
      inputmode="${mode}"
      autocomplete="off"
      spellcheck="false"
      ${describe(id, hint === undefined ? [] : [`${id}-hint`], problems)}
    />
    ${hint === undefined ? '' : html`<p class="hint" id="${id}-hint">${hint}</p>`}
  </div>`;
}
