/** Points as people read them: a row for each year, a column for each month. */
import { html } from 'hono/html';
import type { ChartPoint } from './chart.ts';
import { fitting } from './fitting.ts';
import { type Html, groupDigits, showValue } from './markup.ts';

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Older ones are counted and not shown. */
const yearsBytesMax = 13_000;

/** The newest year first. A month without a point is empty: it is no zero. */
export function showYears(caption: string, points: readonly ChartPoint[]): Html {
  const years = new Map<string, Map<number, ChartPoint>>();
  for (const point of points) {
    const [year = '', month = ''] = point.month.split('-');
    const months = years.get(year) ?? new Map<number, ChartPoint>();
    years.set(year, months.set(Number(month), point));
  }
  const rows = [...years].sort(([a], [b]) => (a < b ? 1 : -1)).map(([year, months]) => showYear(year, months));
  const shown = fitting(rows, yearsBytesMax);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
      <table class="years columns">
        <caption class="unseen">
          ${caption}
        </caption>
        <thead>
          <tr>
            <th scope="col">Year</th>
            ${monthNames.map((name) => html`<th scope="col" class="number">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${shown}
        </tbody>
      </table>
    </div>
    ${
      rows.length > shown.length
        ? html`<p class="quiet">${groupDigits(rows.length - shown.length)} earlier years are not shown.</p>`
        : ''
    }`;
}

function showYear(year: string, months: ReadonlyMap<number, ChartPoint>): Html {
  return html`<tr>
    <th scope="row" class="row">${year}</th>
    ${monthNames.map((_name, index) => {
      const point = months.get(index + 1);
      if (point === undefined) return html`<td class="number"></td>`;
      const { value, mark } = point;
      if (mark === undefined) return html`<td class="number">${showValue(value)}</td>`;
      return html`<td class="number">
        <span class="changed">${showValue(value)}</span><span class="was">${mark}</span>
      </td>`;
    })}
  </tr>`;
}
