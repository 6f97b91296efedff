/** Mappings whose meaning the simulated world has to know: what it takes for right is compared with what the agent makes of the same rows. */
import { describe, expect, test } from 'vitest';
import { playSeeds } from '../../src/simulate/campaign.ts';
import { dividedBy, meaningOf, showDecimal } from '../../src/simulate/rows/numbers.ts';
import { periodOf } from '../../src/simulate/rows/times.ts';
import { plainDecimal } from '../../src/core/numbers/decimal.ts';
import { isCampaign } from '../support/campaign.ts';
import { longConfig, stageOf } from '../support/stages.ts';
import { nothingDeleted, oneSource } from './planted/configs.ts';

async function expectKept(config: object, count = isCampaign ? 8 : 4): Promise<void> {
  const { stage, warnings } = stageOf(config);
  expect(warnings).toEqual([]);
  const { failed } = await playSeeds(stage, { from: 1, count }, () => undefined);
  expect(failed?.played.violation).toBeUndefined();
}

const { destination } = nothingDeleted;

const spreads = ['repeat', 'first', 'last', 'divide'];
const periods = ['QQQ yyyy', 'fiscal-quarter', 'fiscal-year', 'yyyy'];
const spread = spreads.map((how, at) => [how, periods[at] as string] as const);

describe('no promise is broken where', () => {
  test.each([...spread, ...spread.map(([how], at) => [how, periods[3 - at] as string] as const)])(
    'values of a period are spread: %s over %s',
    async (how, format) => {
      const time = { from: '{period}', format };
      const fiscalYear = format.startsWith('fiscal-') ? { fiscalYear: { startsIn: 'April', namedAfter: 'end' } } : {};
      const drivers = [{ id: '{id}', path: ['{id}'], time, value: '{value}', spread: how }];
      await expectKept(longConfig({ ...fiscalYear, drivers }));
    },
  );

  test.each([0, 1, 5])('numbers are rounded to %i decimals', async (round) => {
    const drivers = [{ id: '{id}', path: ['{id}'], time: '{time}', value: { from: '{value}', round } }];
    await expectKept(longConfig({ drivers }));
  });

  test.each([
    ['what adds up waits for somebody who forgets a lost share', 199, 'sum'],
    ['a first read has no rows', 450, 'last'],
  ])('nothing is deleted, and %s', async (_, seed, collapse) => {
    const { sales } = oneSource.sources;
    const drivers = sales.drivers.map((entry) => ({ ...entry, collapse }));
    const { stage } = stageOf({ destination, sources: { sales: { ...sales, drivers } } });
    const { failed } = await playSeeds(stage, { from: seed, count: 1 }, () => undefined);
    expect(failed?.played.violation).toBeUndefined();
  });

  test('months are closed and nothing is deleted', async () => {
    await expectKept({ ...longConfig({}, { lastClose: { day: 10 } }), destination }, 60);
  });
});

test('two sources whose rows cannot be made up have other drivers each', async () => {
  const source = (name: string): object => ({
    type: 'csv',
    files: [`${name}/*.csv`],
    drivers: [
      { id: `${name}/{id|match:^\\d{9}$}`, path: [name, '{id|match:^\\d{9}$}'], time: '{time}', value: '{value}' },
    ],
  });
  const { stage, warnings } = stageOf({
    destination: { url: 'https://plan.test' },
    sources: { a: source('a'), b: source('b') },
  });
  expect(warnings.map(({ path }) => path)).toEqual(['sources.a', 'sources.b']);
  const { failed, marks } = await playSeeds(stage, { from: 1, count: isCampaign ? 60 : 20 }, () => undefined);
  expect(failed?.played.violation).toBeUndefined();
  expect([...marks.keys()]).not.toContain('hold: belongs to another');
});

const entry = { id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' };
const wide = (columns: string, time: object | string): object => ({
  unpivot: { columns, name: 'month', value: 'value' },
  drivers: [{ ...entry, time }],
});

test.each<readonly [string, object]>([
  ['the columns of one year', wide(String.raw`^2026-\d{2}$`, '{month}')],
  ['months of a year that the config names', wide('^(?:Jan|Feb|Mar)$', { from: '{month} 2026', format: 'MMM yyyy' })],
  ['rows of one year', { where: { time: { matches: '^2026' } } }],
  ['rows of no other year', { where: { time: { not: { matches: '^2025' } } } }],
  ['one month', { drivers: [{ ...entry, time: '2026-01' }] }],
  ['positive numbers', { where: { value: { matches: '^[^-]' } } }],
  ['numbers behind a sign', { drivers: [{ ...entry, value: '-{value}' }] }],
  ['numbers before three zeros', { drivers: [{ ...entry, value: '{value}000' }] }],
  ['a number as a name', { drivers: [{ ...entry, id: '{value}', path: ['{value}'] }] }],
])('a mapping that takes %s is played with plain rows, and no promise is broken', async (_what, source) => {
  const { stage, warnings } = stageOf(longConfig(source));
  expect(warnings).toMatchObject([
    { path: 'sources.sales', message: expect.stringContaining('plain rows take their place') },
  ]);
  const { failed } = await playSeeds(stage, { from: 1, count: isCampaign ? 40 : 6 }, () => undefined);
  expect(failed?.played.violation).toBeUndefined();
});

test.each([
  ['a snapshot is of more than one chunk', { drivers: [{ ...entry, path: ['x'.repeat(6000), '{id}'] }] }, {}],
  ['a push may take two days', {}, { destination: { url: 'https://plan.test', timeout: '2d' } }],
])('no promise is broken where %s', async (_what, source, agent) => {
  const { stage } = stageOf({ ...longConfig(source), ...agent });
  const { failed } = await playSeeds(stage, { from: 1, count: isCampaign ? 40 : 6 }, () => undefined);
  expect(failed?.played.violation).toBeUndefined();
});

test('a schedule of each second is played as one of every ten minutes', async () => {
  const { stage, warnings } = stageOf(longConfig({}, { schedule: '* * * * * *' }));
  expect(warnings).toMatchObject([{ path: 'schedule', message: expect.stringContaining('every ten minutes') }]);
  const at = (text: string): Date => new Date(`2026-03-15T${text}Z`);
  const { schedule } = stage;
  expect(schedule.nextDue('* * * * * *', 'UTC', at('12:00:00'))).toEqual(at('12:10:00'));
  expect(schedule.nextDue('* * * * * *', 'UTC', at('12:09:59.999'))).toEqual(at('12:10:00'));
  expect(schedule.nextDue('7 3,5 * * * *', 'UTC', at('12:03:06'))).toEqual(at('12:03:07'));
  expect(schedule.nextDue('7 3,5 * * * *', 'UTC', at('12:03:07'))).toEqual(at('13:03:07'));
  expect(schedule.previousDue('* * * * * *', 'UTC', at('12:10:00'))).toEqual(at('12:00:00'));
  expect(schedule.previousDue('7 3,5 * * * *', 'UTC', at('12:03:07'))).toEqual(at('11:03:07'));
  const { failed } = await playSeeds(stage, { from: 1, count: 1 }, () => undefined);
  expect(failed?.played.violation).toBeUndefined();
});

test.each([
  ['QQQ yyyy', undefined, 24_319, 24_318, 3],
  ["'Q' yyyy", undefined, 24_319, 24_312, 12],
  ['fiscal-quarter', 2, 24_319, 24_319, 3],
  ['fiscal-quarter', 2, 24_318, 24_316, 3],
  ['fiscal-year', 4, 24_314, 24_303, 12],
  ['fiscal-period', 4, 24_314, 24_314, 1],
  ['decimal-month', undefined, 24_314, 24_314, 1],
  ['MMM yy', undefined, 24_314, 24_314, 1],
])('a time of %s (fiscal year from %s) in month %i begins in month %i and lasts %i', (...row) => {
  const [format, startsIn, month, first, months] = row;
  const fiscalYear = startsIn === undefined ? undefined : { startsIn, namedAfter: 'start' as const };
  const timeFormat = { formats: [format], locales: ['en'], timezone: undefined, fiscalYear };
  expect(periodOf(month, timeFormat)).toEqual({ first, months });
});

test.each([
  ['10', 3, undefined, ['3.333333', '3.333333', '3.333334']],
  ['-10.01', 4, 2, ['-2.50', '-2.50', '-2.50', '-2.51']],
  ['9', 3, undefined, ['3', '3', '3']],
])('%s over %i months is exact in all', (text, months, round, shares) => {
  const [whole = '', decimals = ''] = text.split('.');
  const value = { units: BigInt(whole + decimals), scale: decimals.length };
  expect(dividedBy(value, months, { ...plainDecimal, round }).map(showDecimal)).toEqual(shares);
});

test.each([
  [7n, 0, 2, '7.00'],
  [-1_255n, 2, 1, '-12.6'],
  [1_255n, 2, undefined, '12.55'],
])('%s with %i decimals rounded to %s is %s', (units, scale, round, text) => {
  expect(showDecimal(meaningOf({ units, scale }, { ...plainDecimal, round }))).toBe(text);
});
