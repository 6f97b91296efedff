/**
 * Five published files through one config. The project does not contain them: the tests look for them beside it and are
 * skipped where they are missing. The expected values are made by splitting lines on commas, and by nothing else.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PassReport } from '../../src/core/report.ts';
import { type Points, type TestWorld, world } from '../support/world.ts';

const data = path.resolve(import.meta.dirname, '../../../shared/data');
const files = {
  cpi: 'cpi-us-long-monthly.csv',
  fx: 'fx-monthly-long.csv',
  brent: 'brent-daily-long.csv',
  employment: 'us-employment-wide-measures.csv',
  gistemp: 'nasa-gistemp-wide-by-month.csv',
} as const;
const missing = Object.values(files).filter((name) => !existsSync(path.join(data, name)));
if (missing.length > 0) process.stderr.write(`skipping the real files: ${missing.join(', ')} not found in ${data}\n`);

const file = (name: keyof typeof files): string => path.join(data, files[name]);
/** All rows of a file, the header too. */
const rows = (name: keyof typeof files): string[][] =>
  readFileSync(file(name), 'utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '')
    .map((line) => line.split(','));

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function config(): { sources: Record<string, object> } {
  const [, ...measures] = rows('employment')[0]!;
  return {
    sources: {
      cpi: {
        type: 'csv',
        files: [file('cpi')],
        drivers: ['Index', 'Inflation'].map((measure) => ({
          id: `cpi/${measure}`,
          path: ['US', 'CPI', measure],
          time: '{Date}',
          value: `{${measure}}`,
        })),
      },
      fx: {
        type: 'csv',
        files: [file('fx')],
        drivers: [{ id: 'fx/{Country}', path: ['FX', '{Country}'], time: '{Date}', value: '{Exchange rate}' }],
      },
      brent: {
        type: 'csv',
        files: [file('brent')],
        drivers: [{ id: 'brent', path: ['Oil', 'Brent'], time: '{Date}', value: '{Price}', collapse: 'last' }],
      },
      employment: {
        type: 'csv',
        files: [file('employment')],
        drivers: measures.map((measure) => ({
          id: `employment/${measure}`,
          path: ['Employment', measure],
          time: '{month}',
          value: `{${measure}}`,
        })),
      },
      gistemp: {
        type: 'csv',
        files: [file('gistemp')],
        skipRows: 1,
        missing: ['***'],
        unpivot: { columns: `^(${months.join('|')})$`, name: 'month', value: 'anomaly' },
        drivers: [
          {
            id: 'gistemp',
            path: ['Climate', 'GISTEMP'],
            time: { from: '{Year} {month}', format: 'yyyy MMM', locale: 'en' },
            value: '{anomaly}',
          },
        ],
      },
    },
  };
}

const expected = {
  cpi(): Points {
    const points: Points = { 'cpi/Index': {}, 'cpi/Inflation': {} };
    for (const [date, index, inflation] of rows('cpi').slice(1)) {
      points['cpi/Index']![date!.slice(0, 7)] = index!;
      if (inflation !== '') points['cpi/Inflation']![date!.slice(0, 7)] = inflation!;
    }
    return points;
  },
  fx(): Points {
    const points: Points = {};
    for (const [date, country, rate] of rows('fx').slice(1)) {
      (points[`fx/${country}`] ??= {})[date!.slice(0, 7)] = rate!;
    }
    return points;
  },
  brent(): Points {
    const latest: Record<string, readonly [date: string, price: string]> = {};
    for (const [date, price] of rows('brent').slice(1) as [string, string][]) {
      const month = date.slice(0, 7);
      if (latest[month] === undefined || date > latest[month][0]) latest[month] = [date, price];
    }
    return { brent: Object.fromEntries(Object.entries(latest).map(([month, [, price]]) => [month, price])) };
  },
  employment(): Points {
    const [header, ...body] = rows('employment');
    const points: Points = {};
    for (const row of body) {
      for (let column = 1; column < row.length; column++) {
        (points[`employment/${header![column]}`] ??= {})[row[0]!.slice(0, 7)] = row[column]!;
      }
    }
    return points;
  },
  gistemp(): Points {
    const points: Record<string, string> = {};
    for (const [year, ...values] of rows('gistemp').slice(2)) {
      for (const [index, value] of values.slice(0, 12).entries()) {
        if (value === '***') continue;
        const positive = value.replace('-', '').replace(/^\./, '0.');
        const isNegative = value.startsWith('-') && /[1-9]/.test(value);
        points[`${year}-${String(index + 1).padStart(2, '0')}`] = isNegative ? `-${positive}` : positive;
      }
    }
    return { gistemp: points };
  },
};

const pathOf = (id: string): string[] => {
  const [source, name = ''] = id.split('/');
  return {
    cpi: ['US', 'CPI', name],
    fx: ['FX', name],
    brent: ['Oil', 'Brent'],
    employment: ['Employment', name],
    gistemp: ['Climate', 'GISTEMP'],
  }[source!]!;
};

describe.skipIf(missing.length > 0)('the real files', () => {
  let real: TestWorld;
  let first: PassReport;
  let pushed: Points;
  const of = (source: string): Points =>
    Object.fromEntries(Object.entries(pushed).filter(([id]) => id.split('/')[0] === source));

  beforeAll(async () => {
    real = await world({ config: config() });
    first = await real.sync();
    pushed = real.points();
  });
  afterAll(() => real[Symbol.asyncDispose]());

  test('are accepted whole, without a reject, and acknowledged', () => {
    expect(first).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(first.sources.map(({ name, state, rejects }) => ({ name, state, rejects }))).toEqual(
      Object.keys(files).map((name) => ({ name, state: 'accepted', rejects: 0 })),
    );
    const counted = Object.fromEntries(first.sources.map((source) => [source.name, source.rows]));
    expect(counted).toEqual({
      cpi: rows('cpi').length - 1,
      fx: rows('fx').length - 1,
      brent: rows('brent').length - 1,
      employment: rows('employment').length - 1,
      gistemp: rows('gistemp').length - 2,
    });
  });

  test('of consumer prices give two drivers; the empty first cell of Inflation is no point', () => {
    expect(of('cpi')).toEqual(expected.cpi());
    expect(Object.keys(of('cpi'))).toEqual(['cpi/Index', 'cpi/Inflation']);
    expect(pushed['cpi/Index']!['1913-01']).toBe('9.8');
    expect(pushed['cpi/Inflation']).not.toHaveProperty('1913-01');
    expect(pushed['cpi/Inflation']!['1913-02']).toBe('0.0');
  });

  test('of exchange rates give a driver for each country', () => {
    expect(of('fx')).toEqual(expected.fx());
    const countries = new Set(
      rows('fx')
        .slice(1)
        .map(([, country]) => country!),
    );
    expect(Object.keys(of('fx')).length).toBe(countries.size);
  });

  test('of daily oil prices give the last price of each month', () => {
    expect(of('brent')).toEqual(expected.brent());
    expect(pushed['brent']!['2026-08']).toBe('95.29');
  });

  test('of employment give a driver for each of 23 measures', () => {
    expect(of('employment')).toEqual(expected.employment());
    expect(Object.keys(of('employment'))).toHaveLength(23);
  });

  test('of temperatures give one driver over twelve months a year, without the seasons', () => {
    expect(of('gistemp')).toEqual(expected.gistemp());
    expect(pushed['gistemp']!['1880-07']).toBe('-0.17');
    expect(pushed['gistemp']!['2024-02']).toBe('1.44');
    expect(pushed['gistemp']).not.toHaveProperty('2024-03');
  });

  test('give no other drivers, and every value is canonical', () => {
    const all = Object.assign({}, ...Object.values(expected).map((points) => points())) as Points;
    expect(Object.keys(pushed).toSorted()).toEqual(Object.keys(all).toSorted());
    const values = Object.values(pushed).flatMap((points) => Object.values(points));
    expect(values.filter((value) => !/^-?(0|[1-9]\d*)(\.\d+)?$/.test(value))).toEqual([]);
  });

  test('make the body that can be written down from them, byte for byte', () => {
    const all = Object.assign({}, ...Object.values(expected).map((points) => points())) as Points;
    const extDrivers = Object.entries(all)
      .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .map(([id, points]) => ({
        id,
        path: pathOf(id),
        timeSeries: Object.entries(points)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([month, value]) => ({ time: String(Date.parse(`${month}-15T12:00:00Z`) / 1000), value })),
      }));
    const body = JSON.stringify({ shouldDeleteMissing: true, extDrivers });
    const points = extDrivers.reduce((sum, { timeSeries }) => sum + timeSeries.length, 0);
    expect(first.push).toMatchObject({
      drivers: extDrivers.length,
      points,
      bytes: Buffer.byteLength(body),
      status: 200,
    });
    expect(first.push?.digest).toBe(createHash('sha256').update(body).digest('hex'));
  });

  test('are not pushed again while nothing changes', async () => {
    const second = await real.sync();
    expect(second).toMatchObject({ outcome: 'unchanged', exit: 0 });
    expect(second.sources.map(({ state }) => state)).toEqual(Object.keys(files).map(() => 'unchanged'));
    expect(real.requests()).toHaveLength(1);
    expect(await real.plan()).toMatchObject({ exit: 0, digest: first.push?.digest });
  });
});
