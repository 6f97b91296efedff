/** Changes of points and slips in values, as tables. */
import { html } from 'hono/html';
import { type PointChange, differenceOf } from '../core/series/largest.ts';
import type { PathTotal } from '../core/series/totals.ts';
import type { DriverDeletes } from '../core/report.ts';
import type { Finding } from '../core/values/finding.ts';
import { fitting } from '../pages/fitting.ts';
import { type Html, countOf, groupDigits, showTable, showValue, visibleOf } from '../pages/markup.ts';
import { driverLink } from './frame.ts';

/** A held candidate has all of them on one page. */
const changesBytesMax = 28_000;
const totalsBytesMax = 8000;
const findingsBytesMax = 8000;
const deletesBytesMax = 6000;

export function showPointChanges(changes: readonly PointChange[], changedPoints: number): Html {
  if (changes.length === 0) return html`<p>No point changes.</p>`;
  const all = changes.map((change) => [
    driverLink(change.driver, visibleOf(change.path.join(' / '), change.driver)),
    change.month,
    change.old === undefined ? 'none' : showValue(change.old),
    change.new === undefined ? 'none' : showValue(change.new),
    showValue(differenceOf(change)),
  ]);
  const rows = fitting(all, changesBytesMax);
  const caption =
    rows.length < changedPoints
      ? `The ${rows.length} largest of ${countOf(changedPoints, 'changed point')}`
      : countOf(changedPoints, 'changed point');
  return html`<p class="quiet">${caption}, the largest first, in the units of the data.</p>
    ${showTable({
      caption,
      onPhone: 'cards',
      columns: [
        { name: 'Driver', kind: 'row' },
        { name: 'Month', kind: 'word' },
        { name: 'Old value', kind: 'number' },
        { name: 'New value', kind: 'number' },
        { name: 'Change', kind: 'number' },
      ],
      rows,
    })}`;
}

/** A control total: what a person compares with the report that they trust. */
export function showTotals(totals: readonly PathTotal[]): Html | '' {
  if (totals.length === 0) return '';
  const all = totals.map(({ path, before, after, change }) => [
    html`<bdi>${visibleOf(path, '(none)')}</bdi>`,
    showValue(before),
    showValue(after),
    showValue(change),
  ]);
  const rows = fitting(all, totalsBytesMax);
  return html`<h2>What the values add up to</h2>
    <p class="quiet">All values under each first element of the path, over all months.</p>
    ${showTable({
      caption: 'Sums before and after',
      onPhone: 'columns',
      columns: [
        { name: 'First element', kind: 'row' },
        { name: 'Before', kind: 'number' },
        { name: 'After', kind: 'number' },
        { name: 'Change', kind: 'number' },
      ],
      rows,
    })}
    ${showRest(all.length - rows.length)}`;
}

const kinds: Readonly<Record<Finding['kind'], string>> = {
  factor: 'multiplied',
  'new-scale': 'another size',
  'new-sign': 'another sign',
  moved: 'moved in time',
  exchanged: 'exchanged',
  copied: 'copied from the month before',
  zeros: 'became zero',
  'fewer-readings': 'fewer readings',
  closed: 'in a closed month',
};

function unitOf(kind: Finding['kind']): 'reading' | 'point' {
  return kind === 'fewer-readings' ? 'reading' : 'point';
}

/** What looks like a slip, where, how often, and examples of it. */
export function showFindings(findings: readonly Finding[]): Html | '' {
  if (findings.length === 0) return '';
  const all = findings.map(({ kind, group, part, points, of, factor, months, examples }) => [
    `${kinds[kind]}${factor === undefined ? '' : ` by ${factor}`}${months === undefined ? '' : ` by ${months} months`}`,
    html`<bdi>${group.length === 0 ? (part ?? 'the whole source') : group.join(' / ')}</bdi
      >${part === undefined || group.length === 0 ? '' : html` in <bdi>${part}</bdi>`}`,
    `${countOf(points, unitOf(kind))} of ${countOf(of, unitOf(kind))}`,
    html`${examples.map(
      ({ driver, month, old, new: now }) =>
        html`<p class="minor">
          ${driverLink(driver, driver)} ${month}: ${old === undefined ? 'nothing' : showValue(old)} to
          ${now === undefined ? 'nothing' : showValue(now)}
        </p>`,
    )}`,
  ]);
  const rows = fitting(all, findingsBytesMax);
  return html`${showTable({
    caption: 'Findings in the values',
    onPhone: 'cards',
    columns: [
      { name: 'Finding', kind: 'row' },
      { name: 'Where' },
      { name: 'How many', kind: 'number' },
      { name: 'Such as', kind: 'prose' },
    ],
    rows,
  })}
  ${showRest(all.length - rows.length)}`;
}

const deletesShown = 20;

export function showDeletes(deletes: readonly DriverDeletes[]): Html | '' {
  if (deletes.length === 0) return '';
  const all = deletes.slice(0, deletesShown).map(({ driver, whole, months }) => {
    const [first, last] = [months[0], months.at(-1)];
    const span = months.length === 1 ? first : `${countOf(months.length, 'point')} from ${first} to ${last}`;
    return html`<li>${driverLink(driver, driver)}: ${whole ? 'all of it, ' : ''}${span}</li>`;
  });
  const items = fitting(all, deletesBytesMax);
  const more = deletes.length - items.length;
  return html`<p>Approving it deletes:</p>
    <ul class="plain">
      ${items}${more > 0 ? html`<li>and more: see the largest changes</li>` : ''}
    </ul>`;
}

/** What a list leaves out. */
export function showRest(count: number): Html | '' {
  return count === 0 ? '' : html`<p class="quiet">and ${groupDigits(count)} more</p>`;
}
