/** The form that takes fixtures, and what they would change. */
import { html } from 'hono/html';
import { isoOf } from '../routing/clock.ts';
import { exactly } from '../../pages/ago.ts';
import { countOf, groupDecimal, groupDigits, showTable } from '../../pages/markup.ts';
import type { Column, Html } from '../../pages/markup.ts';
import type { Change, FixtureChanges, ReplacedPath, ReplacedValue } from './fixture-changes.ts';
import { showCodeField } from './code-field.ts';
import type { CodeField } from './code-field.ts';
import { showPage } from './page.ts';
import { showProblems } from './problems.ts';
import type { Problem } from './problems.ts';

export const fixturesPath = '/console/fixtures';

const replacedShownMax = 100;
const namesShownMax = 20;

const example = `{
  "drivers": [
    { "id": "signups", "path": ["Users", "Sign Ups"],
      "timeSeries": [{ "time": "1675738308", "value": "1234" }] }
  ],
  "routers": [
    { "slug": "draft", "name": "Draft" }
  ],
  "credits": 5000
}`;

interface FixtureForm {
  readonly above?: Html | '';
  readonly text?: string;
  readonly problems?: readonly Problem[];
}

const textField: CodeField = {
  id: 'text',
  label: 'Or its text',
  rows: 12,
  placeholder: example,
  hint: html`Drivers and routers are added to those that are held; the rest is set. A file comes before the text. Up to
    32 MiB; what is longer goes to <code>/_emulator/fixtures</code>.`,
};

export function showFixtureForm({ above = '', text = '', problems = [] }: FixtureForm, status = 200): Response {
  const body = html`<h1>Load a fixture</h1>
    <p class="lead">
      Drivers, routers, credits, time, catalog and faults, as <code>--fixtures</code> takes them, or a catalog alone.
      The next page shows what it would change; nothing is loaded before.
    </p>
    ${showProblems('It cannot be loaded:', problems)} ${above}
    <form method="post" action="${fixturesPath}" enctype="multipart/form-data" class="fixtures">
      <div class="field">
        <label for="file">File (JSON)</label>
        <input id="file" name="file" type="file" accept=".json,application/json" />
      </div>
      ${showCodeField(textField, text, problems)}
      <div class="actions"><button class="primary">Show what it changes</button></div>
    </form>`;
  return showPage({ title: 'Load a fixture', section: 'snapshots', body, status });
}

export function showFixtureChanges(action: string, changes: FixtureChanges): Response {
  const { replacedValues, replacedPaths } = changes;
  const lines = linesOf(changes);
  const title = 'Load this fixture?';
  const replaces = replacedValues.length + replacedPaths.length;
  const body = html`<h1>${title}</h1>
    ${
      lines.length === 0
        ? html`<p class="lead">It changes nothing: all of it is held already.</p>`
        : showTable({ caption: 'What it changes', columns: partColumns, rows: lines, onPhone: 'cards' })
    }
    ${showReplacedValues(replacedValues)} ${showReplacedPaths(replacedPaths)}
    <form method="post" action="${action}" class="actions">
      <button class="${replaces > 0 ? 'bad' : 'primary'}">Load it</button>
      <a class="button" href="${fixturesPath}">Choose another</a>
    </form>
    <p class="hint">Undo goes back to all that is held now, also in time. Requests are not forgotten.</p>`;
  return showPage({ title, section: 'snapshots', body });
}

/** What was loaded, in a few words. */
export function summaryOf(changes: FixtureChanges): string {
  const parts = linesOf(changes).map(([part, , , what]) => (part === 'Drivers' ? what : part.toLowerCase()));
  return parts.length === 0 ? 'nothing that was not held' : parts.join('; ');
}

const partColumns: readonly Column[] = [
  { name: 'Part', kind: 'row' },
  { name: 'Now' },
  { name: 'Afterwards' },
  { name: 'Changes', kind: 'prose' },
];

/** The parts that change: name, now, afterwards, and what makes the difference. */
function linesOf(changes: FixtureChanges): (readonly [string, string, string, string])[] {
  const { drivers, newPoints, replacedValues, replacedPaths, routers, newRouters, models, modelCount, faults } =
    changes;
  const points = [
    newPoints > 0 ? countOf(newPoints, 'new point') : '',
    replacedValues.length > 0 ? `${countOf(replacedValues.length, 'value')} replaced` : '',
    replacedPaths.length > 0 ? `${countOf(replacedPaths.length, 'path')} replaced` : '',
  ].filter((words) => words !== '');
  const catalog = (['added', 'changed', 'removed'] as const)
    .filter((kind) => models[kind].length > 0)
    .map((kind) => `${kind}: ${namesOf(models[kind])}`);
  const newDrivers = drivers.next - drivers.now;
  const driverWords = [...(newDrivers > 0 ? [countOf(newDrivers, 'new driver')] : []), ...points].join(', ');
  return [
    ...lineOf('Drivers', drivers, groupDigits, driverWords),
    ...lineOf('Routers', routers, groupDigits, newRouters.length === 0 ? '' : `new: ${namesOf(newRouters)}`),
    ...lineOf('Credits', changes.credits, groupDigits),
    ...lineOf('Time', changes.timeMs, (ms) => exactly(isoOf(ms))),
    ...lineOf('Speed of time', changes.speed, String),
    ...lineOf('Models', modelCount, groupDigits, catalog.join('; ')),
    ...(faults === undefined ? [] : lineOf('Faults that wait', faults, groupDigits, scriptWords(faults))),
  ];
}

function lineOf(
  part: string,
  { now, next }: Change<number>,
  show: (value: number) => string,
  what = '',
): (readonly [string, string, string, string])[] {
  return now === next && what === '' ? [] : [[part, show(now), show(next), what]];
}

function scriptWords({ now, next }: Change<number>): string {
  const ordered = countOf(next, 'fault');
  return now === 0 ? ordered : `${ordered} in the place of ${groupDigits(now)}`;
}

function namesOf(names: readonly string[]): string {
  const more = names.length - namesShownMax;
  return `${names.slice(0, namesShownMax).join(', ')}${more > 0 ? ` and ${groupDigits(more)} more` : ''}`;
}

const valueColumns: readonly Column[] = [
  { name: 'Driver', kind: 'row' },
  { name: 'Month', kind: 'word' },
  { name: 'Now', kind: 'number' },
  { name: 'Afterwards', kind: 'number' },
];

function showReplacedValues(values: readonly ReplacedValue[]): Html | '' {
  const rows = values
    .slice(0, replacedShownMax)
    .map(({ driver, month, now, next }) => [html`<bdi>${driver}</bdi>`, month, groupDecimal(now), groupDecimal(next)]);
  return showReplaced('Values that it replaces', valueColumns, { rows, count: values.length });
}

const pathColumns: readonly Column[] = [{ name: 'Driver', kind: 'row' }, { name: 'Now' }, { name: 'Afterwards' }];

function showReplacedPaths(paths: readonly ReplacedPath[]): Html | '' {
  const rows = paths
    .slice(0, replacedShownMax)
    .map(({ driver, now, next }) => [html`<bdi>${driver}</bdi>`, now.join(' › '), next.join(' › ')]);
  return showReplaced('Paths that it replaces', pathColumns, { rows, count: paths.length });
}

interface ReplacedRows {
  readonly rows: readonly (Html | string)[][];
  readonly count: number;
}

function showReplaced(caption: string, columns: readonly Column[], { rows, count }: ReplacedRows): Html | '' {
  if (count === 0) return '';
  return html`<h2>${caption}</h2>
    ${showTable({ caption, columns, rows, onPhone: 'cards' })}
    ${count > rows.length ? html`<p class="quiet">The first ${groupDigits(rows.length)} of ${groupDigits(count)}.</p>` : ''}`;
}
