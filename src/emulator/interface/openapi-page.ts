/** The description of the interface as a page: operations, their fields, their answers, and what can follow. */
import { html } from 'hono/html';
import { addHeaders } from '../console/console-routes.ts';
import { showPage } from '../console/page.ts';
import { showTable } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly [limit: string]: unknown;
}

interface Media {
  readonly content?: { readonly 'application/json'?: { readonly schema?: Schema } };
}

interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly requestBody?: Media;
  readonly responses: Readonly<Record<string, Media & { readonly links?: Readonly<Record<string, DescribedLink>> }>>;
}

interface DescribedLink {
  readonly operationId: string;
  readonly description: string;
}

export function showInterface(document: object): Response {
  const { paths } = document as { readonly paths: Readonly<Record<string, Record<string, DescribedOperation>>> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ place: `${method.toUpperCase()} ${path}`, operation })),
  );
  const body = html`<h1>Interface</h1>
    <p class="lead">
      All that the service answers, made of the schemas that requests are checked by.
      <a href="/_emulator/openapi.json">OpenAPI 3.1</a> has the same for programs, and
      <a href="/_emulator/evidence">evidence</a> says how sure it is.
    </p>
    ${showTable({
      caption: 'Operations',
      columns: [
        { name: 'Operation', kind: 'row' },
        { name: 'What it does', kind: 'prose' },
      ],
      rows: operations.map(({ place, operation }) => [
        html`<a href="#${operation.operationId}"><code>${place}</code></a>`,
        operation.summary,
      ]),
      onPhone: 'cards',
    })}
    ${operations.map(({ place, operation }) => showOperation(place, operation))}`;
  return addHeaders(showPage({ title: 'Interface', body }));
}

function showOperation(place: string, { operationId, summary, requestBody, responses }: DescribedOperation): Html {
  const links = Object.values(responses).flatMap((response) => Object.values(response.links ?? {}));
  const request = requestBody?.content?.['application/json']?.schema;
  return html`<section id="${operationId}">
    <h2><code>${place}</code></h2>
    <p>${summary}.</p>
    ${
      request === undefined
        ? ''
        : html`<h3>Body</h3>
            ${showFields(request)}`
    }
    <h3>Answers</h3>
    <p>${Object.keys(responses).join(', ')}</p>
    ${Object.entries(responses).map(([status, { content }]) => {
      const schema = content?.['application/json']?.schema;
      if (schema === undefined) return '';
      return html`<details>
        <summary>${status}</summary>
        ${showFields(schema)}
      </details>`;
    })}
    ${links.length === 0 ? '' : html`<h3>What can follow</h3>`}
    <ul>
      ${links.map((link) => html`<li><a href="#${link.operationId}">${link.operationId}</a>: ${link.description}</li>`)}
    </ul>
  </section>`;
}

/** Fields by their path; alternatives one after another. */
function showFields(schema: Schema): Html | string {
  const rows = [...fieldsOf(schema, '')];
  if (rows.length === 0) return html`<p>${typeOf(schema)}</p>`;
  return showTable({
    caption: 'Fields',
    columns: [
      { name: 'Field', kind: 'row' },
      { name: 'Required', kind: 'word' },
      { name: 'Type and limits', kind: 'prose' },
    ],
    rows,
    onPhone: 'cards',
  });
}

function* fieldsOf(schema: Schema, path: string): Generator<(Html | string)[], void, void> {
  for (const alternative of schema.anyOf ?? schema.oneOf ?? []) yield* fieldsOf(alternative, path);
  if (schema.items !== undefined) yield* fieldsOf(schema.items, `${path}[]`);
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const place = path === '' ? name : `${path}.${name}`;
    yield [html`<code>${place}</code>`, schema.required?.includes(name) === true ? 'yes' : 'no', typeOf(field)];
    yield* fieldsOf(field, place);
  }
}

const limits = [
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'pattern',
  'format',
];

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(', ');
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return [...new Set(alternatives.map(typeOf))].join(', or ');
  const type = [schema.type ?? 'anything'].flat().join(' or ');
  const bounds = limits.filter((name) => schema[name] !== undefined).map((name) => `${name} ${String(schema[name])}`);
  return [type === 'array' ? `array of ${typeOf(schema.items ?? {})}` : type, ...bounds].join(', ');
}
