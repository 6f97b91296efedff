/** `/_emulator/evidence`: JSON for programs, a page for browsers. */
import { html } from 'hono/html';
import { answerJson } from '../answers.ts';
import { addHeaders } from '../console/console-routes.ts';
import { showPage } from '../console/page.ts';
import { showTable } from '../../pages/markup.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { route } from '../routes.ts';
import type { App } from '../routes.ts';
import { operations } from '../routing/operations.ts';
import type { OperationName } from '../routing/operations.ts';
import { marks, otherEvidence, points, routingEvidence, strictEverywhere } from './evidence.ts';
import type { Evidence, Point } from './evidence.ts';

export function serveEvidence(app: App): void {
  route(app, '/_emulator/evidence', {
    GET: ({ req }) =>
      wantsPage(req.header('accept'))
        ? showEvidence()
        : answerJson({ marks, points, strict: strictEverywhere, operations: allEvidence() }),
  });
}

/** Browsers name HTML first; programs name JSON, anything or nothing. */
function wantsPage(accept: string | undefined): boolean {
  return accept?.includes('text/html') === true;
}

function allEvidence(): Record<string, Evidence> {
  const routing = (Object.keys(operations) as OperationName[]).map((name) => {
    const { method, path } = operations[name];
    return [name, { method, path, ...routingEvidence[name] }] as const;
  });
  return { ...Object.fromEntries(routing), ...otherEvidence };
}

const pointNames = Object.keys(points) as Point[];

const columns: readonly Column[] = [
  { name: 'Operation', kind: 'row' },
  ...pointNames.map((name) => ({ name: nameOf(name) })),
];

function showEvidence(): Response {
  const all = Object.entries(allEvidence());
  const body = html`<h1>How sure it is</h1>
    <p class="lead">
      What is known of the live service, operation by operation. A well-formed answer proves nothing about an effect, so
      the points are not summed up.
    </p>
    <dl class="list">
      ${Object.entries(marks).map(
        ([mark, meaning]) =>
          html`<dt>${mark}</dt>
            <dd>${meaning}</dd>`,
      )}
    </dl>
    ${showTable({
      caption: 'Evidence by operation',
      columns,
      rows: all.map(([name, { method, path, points: known }]) => [
        html`<a href="#${name}"><code>${method} ${path}</code></a>`,
        ...pointNames.map((point) => known[point].join(', ')),
      ]),
      onPhone: 'cards',
    })}
    <h2>Every operation with <code>--strict</code></h2>
    ${showList(strictEverywhere)}
    ${all.map(
      ([name, { method, path, guesses, strict }]) =>
        html`<section id="${name}">
          <h2><code>${method} ${path}</code></h2>
          <h3>Guessed</h3>
          ${showList(guesses)} ${strict.length === 0 ? '' : html`<h3>With <code>--strict</code></h3>`}
          ${showList(strict)}
        </section>`,
    )}`;
  return addHeaders(showPage({ title: 'Evidence', body }));
}

function showList(lines: readonly string[]): Html | '' {
  if (lines.length === 0) return '';
  return html`<ul>
    ${lines.map((line) => html`<li>${line}</li>`)}
  </ul>`;
}

function nameOf(point: Point): string {
  return point.charAt(0).toUpperCase() + point.slice(1);
}
