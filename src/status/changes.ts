/** Changes of points and slips in values, as tables. */
import { html } from 'hono/html';
import { type PointChange, differenceOf } from '../core/series/largest.ts';
import type { PathTotal } from '../core/series/totals.ts';
import type { DriverDeletes } from '../core/report.ts';
import type { Finding } from '../core/values/finding.ts';
import { type Html, countOf, showTable, showValue, visibleOf } from '../pages/markup.ts';
import { driverLink } from './frame.ts';

export function showPointChanges(changes: readonly PointChange[], changedPoints: number): Html {
  if (changes.length === 0) return html`<p>No point changes.</p>`;
  const caption =
    changes.length < changedPoints
      ? `The ${changes.length} largest of ${countOf(changedPoints, 'changed point')}`
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
      rows: changes.map((change) => [
        driverLink(change.driver, visibleOf(change.path.join(' / '), change.driver)),
        change.month,
        change.old === undefined ? 'none' : showValue(change.old),
        change.new === undefined ? 'none' : showValue(change.new),
        showValue(differenceOf(change)),
      ]),
    })}`;
}

/** A control total: what a person compares with the report that they trust. */
export function showTotals(totals: readonly PathTotal[]): Html | '' {
  if (totals.length === 0) return '';
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
      rows: totals.map(({ path, before, after, change }) => [
        html`<bdi>${visibleOf(path, '(none)')}</bdi>`,
        showValue(before),
        showValue(after),
        showValue(change),
      ]),
    })}`;
}

const kinds: Readonly<Record<Finding['kind'], string>> = {
  factor: 'multiplied',
  'new-scale': 'another size',
  'new-sign': 'another sign',
  moved: 'moved in time',
  exchanged: 'exchanged',
  copied: 'copied from the month before',
  zeros: 'became zero',
  closed: 'in a closed month',
};

/** What looks like a slip, where, how often, and examples of it. */
export function showFindings(findings: readonly Finding[]): Html | '' {
  if (findings.length === 0) return '';
  return showTable({
    caption: 'Findings in the values',
    onPhone: 'cards',
    columns: [
      { name: 'Finding', kind: 'row' },
      { name: 'Where' },
      { name: 'Points', kind: 'number' },
      { name: 'Such as', kind: 'prose' },
    ],
    rows: findings.map(({ kind, group, points, of, factor, months, examples }) => [
      `${kinds[kind]}${factor === undefined ? '' : ` by ${factor}`}${months === undefined ? '' : ` by ${months} months`}`,
      html`<bdi>${group.length === 0 ? 'the whole source' : group.join(' / ')}</bdi>`,
      `${countOf(points, 'point')} of ${countOf(of, 'point')}`,
      html`${examples.map(
        ({ driver, month, old, new: now }) =>
          html`<p class="minor">
            ${driverLink(driver, driver)} ${month}: ${old === undefined ? 'nothing' : showValue(old)} to
            ${now === undefined ? 'nothing' : showValue(now)}
          </p>`,
      )}`,
    ]),
  });
}

const deletesShown = 20;

export function showDeletes(deletes: readonly DriverDeletes[]): Html | '' {
  if (deletes.length === 0) return '';
  const items = deletes.slice(0, deletesShown).map(({ driver, whole, months }) => {
    const [first, last] = [months[0], months.at(-1)];
    const span = months.length === 1 ? first : `${countOf(months.length, 'point')} from ${first} to ${last}`;
    return html`<li>${driverLink(driver, driver)}: ${whole ? 'all of it, ' : ''}${span}</li>`;
  });
  const more = deletes.length - items.length;
  return html`<p>Approving it deletes:</p>
    <ul class="plain">
      ${items}${more > 0 ? html`<li>and more: see the largest changes</li>` : ''}
    </ul>`;
}
