/** Charts and tables of years, as they are drawn on the server. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChartPoint, showChart } from '../../src/pages/chart.ts';
import { groupDecimal, textOf } from '../../src/pages/markup.ts';
import { showYears } from '../../src/pages/years.ts';

const chartOf = (points: readonly ChartPoint[], more: object = {}): string =>
  textOf(showChart({ label: 'a', points, ...more }));
const pathsOf = (chart: string, kind: string): string[] =>
  [...chart.matchAll(new RegExp(`class="${kind}" d="([^"]*)"`, 'g'))].map(([, path = '']) => path);

describe('a chart', () => {
  test('draws nothing where there is nothing', () => {
    expect(chartOf([])).toBe('');
  });

  test('a month without a point interrupts the line, and a lone one is a dot', () => {
    const months = ['2026-01', '2026-02', '2026-04', '2026-06', '2026-07'];
    const [path = ''] = pathsOf(chartOf(months.map((month) => ({ month, value: '1' }))), 'line');
    expect(path.replaceAll(/[\d. ]+/g, '')).toBe('MLMML');
    const many = Array.from({ length: 100 }, (_, at) => ({ month: `${1900 + at}-01`, value: '1' }));
    expect(chartOf(many).match(/<circle/g)).toHaveLength(100);
  });

  test('every point lies within it, whatever the values and months are', () => {
    const point = fc.record({
      month: fc
        .date({ min: new Date('1000-01-01'), max: new Date('9999-12-01'), noInvalidDate: true })
        .map((date) => date.toISOString().slice(0, 7)),
      value: fc.oneof(fc.integer().map(String), fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)),
    });
    fc.assert(
      fc.property(fc.uniqueArray(point, { selector: ({ month }) => month, minLength: 1, maxLength: 40 }), (points) => {
        const chart = chartOf(points.toSorted((a, b) => (a.month < b.month ? -1 : 1)));
        // Values whose difference is no number are not drawn.
        const [path = ''] = pathsOf(chart, 'line');
        for (const [, along, down] of path.matchAll(/[ML](\S+) ([^ML]+)/g)) {
          expect(Number(along)).toBeGreaterThanOrEqual(0);
          expect(Number(along)).toBeLessThanOrEqual(10_000);
          expect(Number(down)).toBeGreaterThanOrEqual(0);
          expect(Number(down)).toBeLessThanOrEqual(260);
        }
        expect(chart).not.toContain('NaN');
      }),
    );
  });

  test('earlier lines lie behind the present one on the same scale, and changed points have a mark and its words', () => {
    const points = [
      { month: '2026-01', value: '10' },
      { month: '2026-02', value: '20', mark: 'was 15' },
    ];
    const past = [
      [
        { month: '2025-12', value: '0' },
        { month: '2026-02', value: '15' },
      ],
    ];
    const chart = chartOf(points, { past, pastMeans: 'as it was', markMeans: 'changed' });
    expect(chart.indexOf('class="past"')).toBeLessThan(chart.indexOf('class="line"'));
    expect(chart.match(/class="changed"/g)).toHaveLength(1);
    expect(chart).toMatch(/2026-02: 20, was 15/);
    expect(chart).toMatch(/as it was<.*changed</s);
  });
});

describe('a table of years', () => {
  test('has the newest year first, every month in its column, and no number where there is none', () => {
    const table = textOf(
      showYears('Points', [
        { month: '2024-12', value: '-1234567.50' },
        { month: '2026-01', value: '0.10', mark: 'was 0.20' },
      ]),
    );
    const rows = [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '').trim()),
    );
    expect(rows[1]).toEqual(['2026', '0.10was 0.20', ...Array.from({ length: 11 }, () => '')]);
    expect(rows[2]).toEqual(['2024', ...Array.from({ length: 11 }, () => ''), '-1\u202F234\u202F567.50']);
    expect(table).toContain('<data value="-1234567.50">');
  });
});

test('grouping leaves every digit as it was', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^-?\d{1,30}(\.\d{1,20})?$/), (value) => {
      expect(groupDecimal(value).replaceAll('\u202F', '')).toBe(value);
      expect(groupDecimal(value)).not.toMatch(/\d{4,}(?=.*\.)|^-?\d{4}/);
    }),
  );
  expect(groupDecimal('1234567.1234567')).toBe('1\u202F234\u202F567.1234567');
  expect(groupDecimal('no number')).toBe('no number');
});
