/** Times and trends as people read them. */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { drawMonths } from '../../src/cli/blocks.ts';
import { showNow, showTime } from '../../src/core/time/spoken.ts';
import { commandsWorld, twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

const now = { nowMs: Date.parse('2026-03-14T16:15:30Z'), timezone: 'Europe/Berlin' };

describe('a time', () => {
  test.each([
    ['2026-03-15T01:15:00Z', '02:15 tomorrow, in 9 h'],
    ['2026-03-14T16:10:30Z', '17:10 today, 5 min ago'],
    ['2026-03-14T16:15:00Z', '17:15 today, now'],
    ['2026-03-14T17:44:30Z', '18:44 today, in 89 min'],
    ['2026-03-14T17:45:30Z', '18:45 today, in 2 h'],
    // The day is that of the zone: in UTC both are the 13th.
    ['2026-03-13T23:30:00Z', '00:30 today, 17 h ago'],
    ['2026-03-13T22:30:00Z', '23:30 yesterday, 18 h ago'],
    ['2026-03-12T22:30:00Z', '2026-03-12 23:30, 2 days ago'],
    ['2027-01-01T01:15:00Z', '2027-01-01 02:15, in 292 days'],
  ])('%s is %s', (at, said) => {
    expect(showTime(at, now)).toBe(said);
    expect(showTime(Date.parse(at), now)).toBe(said);
  });

  test('the day after the clocks went forward is tomorrow', () => {
    const before = { nowMs: Date.parse('2026-03-28T22:59:00Z'), timezone: 'Europe/Berlin' };
    expect(showTime('2026-03-29T00:15:00Z', before)).toBe('01:15 tomorrow, in 76 min');
    expect(showTime('2026-03-29T01:15:00Z', before)).toBe('03:15 tomorrow, in 2 h');
    expect(showNow(before)).toBe('in Europe/Berlin, where it is 2026-03-28 23:59');
  });

  test('status has them with the zone, and words for the exit code', async () => {
    const { run, json } = await twoPushes();
    const { stdout } = await run('status');
    expect(stdout).toMatch(/\ntimes +in UTC, where it is \d{4}-\d\d-\d\d \d\d:\d\d\n/);
    expect(stdout).toMatch(/\nlast pass +\d\d:\d\d (today|yesterday), (now|\d+ min ago): acknowledged, all is well\n/);
    expect(stdout).toMatch(/\nacknowledged +push 2, .*: 2 drivers, 3 points\n/);
    expect(stdout).not.toMatch(/exit \d/);
    expect(await json('status')).toMatchObject({ lastPass: { exit: 0, at: expect.stringMatching(/Z$/) } });
  });
});

const monthly = (values: readonly (string | undefined)[]) =>
  values.flatMap((value, index) =>
    value === undefined ? [] : [{ month: `2026-${String(index + 1).padStart(2, '0')}`, value }],
  );

describe('the months of a driver as blocks', () => {
  test('are as high as their values lie, and blank where there is no point', () => {
    expect(drawMonths(monthly(['0', '1.0', undefined, '7', '-0', '3.50']), 80)).toEqual([
      '▁▂ █▁▄',
      '2026-01 to 2026-06, 0 (▁) to 7 (█)',
    ]);
    expect(drawMonths(monthly(['-100.5', '-0.25']), 80)).toEqual(['▁█', '2026-01 to 2026-02, -100.5 (▁) to -0.25 (█)']);
    expect(drawMonths(monthly(['5', '5.00', '5']), 80)[0]).toBe('▄▄▄');
    expect(drawMonths(monthly(['5']), 80)).toEqual([]);
    expect(drawMonths([], 80)).toEqual([]);
  });

  test('are the last ones where the terminal is too narrow for all', () => {
    expect(drawMonths(monthly(['9', '9', '1', '2', '3']), 3)).toEqual(['▁▄█', '2026-03 to 2026-05, 1 (▁) to 3 (█)']);
  });

  test('are in the order of their values, however many digits these have', () => {
    const big = fc.bigInt(-(10n ** 40n), 10n ** 40n).map(String);
    fc.assert(
      fc.property(fc.array(big, { minLength: 2, maxLength: 12 }), (values) => {
        const [line = ''] = drawMonths(monthly(values), 80);
        const heights = [...line].map((block) => '▁▂▃▄▅▆▇█'.indexOf(block));
        expect(heights).toHaveLength(values.length);
        const order = values.map((value, at) => ({ value: BigInt(value), height: heights[at]! }));
        order.sort((a, b) => (a.value < b.value ? -1 : 1));
        expect(order.map(({ height }) => height)).toEqual(heights.toSorted((a, b) => a - b));
      }),
    );
  });

  test('explain draws them on a terminal, and nowhere else', async () => {
    const points = { '2026-01': '1', '2026-02': '2', '2026-04': '8' };
    const { run } = await commandsWorld({ a: csv('a.csv') }, { 'a.csv': longFile({ North: points }) });
    await run('sync');
    const piped = (await run('explain', 'North')).stdout;
    expect(piped).not.toContain('█');
    const { isTTY } = process.stdout;
    process.stdout.isTTY = true;
    onTestFinished(() => void (process.stdout.isTTY = isTTY));
    const { stdout } = await run('explain', 'North');
    const [title, rule] = piped.split('\n');
    const drawing = ['▁▂ █', '2026-01 to 2026-04, 1 (▁) to 8 (█)', ''];
    expect(stdout.split('\n').slice(0, 6)).toEqual([title, rule, '', ...drawing]);
    expect((await run('explain', 'North', '2026-01')).stdout).not.toContain('█');
  });
});
