import { describe, expect, test } from 'vitest';
import { nextDue, previousDue, scheduleProblem } from '../../src/edges/schedule.ts';

const berlin = 'Europe/Berlin';

/** The due times from `from` on, as the clock on the wall in UTC shows them. */
function dueTimes(expression: string, zone: string, from: string, count: number): string[] {
  const times: string[] = [];
  for (
    let due = nextDue(expression, zone, new Date(from));
    times.length < count;
    due = nextDue(expression, zone, due)
  ) {
    times.push(due.toISOString());
  }
  return times;
}

test('a daily schedule is due at its hour in its zone', () => {
  expect(dueTimes('15 2 * * *', berlin, '2026-11-20T12:00:00Z', 2)).toEqual([
    '2026-11-21T01:15:00.000Z',
    '2026-11-22T01:15:00.000Z',
  ]);
});

test('the next due time is after the given one, the previous before it, to the millisecond', () => {
  const due = new Date('2026-11-20T01:15:00.000Z');
  const at = (ms: number): Date => new Date(due.getTime() + ms);
  expect(nextDue('15 2 * * *', berlin, at(-1))).toEqual(due);
  expect(nextDue('15 2 * * *', berlin, due)).toEqual(at(86_400_000));
  expect(previousDue('15 2 * * *', berlin, at(1))).toEqual(due);
  expect(previousDue('15 2 * * *', berlin, due)).toEqual(at(-86_400_000));
});

test.each(['15 2 * * *', '*/7 0-12 29 2 *', '30 15 2 * * 1-5', '0 0 1 1,7 *', '59 59 23 L * *'])(
  'a schedule in UTC, which is worked out without a zone, is that of a zone that always is UTC: %s',
  (expression) => {
    for (const from of ['2026-03-28T12:00:00Z', '2027-12-31T23:59:59.999Z', '2028-02-29T00:00:00Z']) {
      expect(dueTimes(expression, 'UTC', from, 5)).toEqual(dueTimes(expression, 'Etc/UTC', from, 5));
      expect(previousDue(expression, 'UTC', new Date(from))).toEqual(
        previousDue(expression, 'Etc/UTC', new Date(from)),
      );
    }
  },
);

test('six fields begin with seconds', () => {
  expect(dueTimes('30 15 2 * * *', 'UTC', '2026-11-20T00:00:00Z', 1)).toEqual(['2026-11-20T02:15:30.000Z']);
});

describe('daylight saving', () => {
  test('an hour that a spring day skips is due once, when the clocks have jumped', () => {
    expect(dueTimes('30 2 * * *', berlin, '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
    expect(previousDue('30 2 * * *', berlin, new Date('2026-03-29T12:00:00Z'))).toEqual(
      new Date('2026-03-29T01:00:00Z'),
    );
  });

  test('an hour that an autumn day has twice is due once, at its first', () => {
    expect(dueTimes('30 2 * * *', berlin, '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
    expect(previousDue('30 2 * * *', berlin, new Date('2026-10-25T12:00:00Z'))).toEqual(
      new Date('2026-10-25T00:30:00Z'),
    );
  });

  test('an hourly schedule goes on every hour through both', () => {
    for (const from of ['2026-03-28T23:00:00Z', '2026-10-24T22:00:00Z']) {
      const times = dueTimes('0 * * * *', berlin, from, 6).map((text) => Date.parse(text));
      expect(times.map((ms) => (ms - Date.parse(from)) / 3_600_000)).toEqual([1, 2, 3, 4, 5, 6]);
    }
  });

  test('a midnight that does not exist is due when the day begins', () => {
    expect(dueTimes('0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00:00Z', 1)).toEqual(['2018-11-04T03:00:00.000Z']);
  });

  test('every day of a year has one due time, forwards and backwards', () => {
    const hour = ['0 2 * * *', '30 2 * * *', '59 2 * * *', '0 3 * * *'];
    for (const expression of hour) {
      const times = dueTimes(expression, berlin, '2025-12-31T12:00:00Z', 400);
      const dayOf = new Intl.DateTimeFormat('sv', { timeZone: berlin });
      expect(new Set(times.map((text) => dayOf.format(new Date(text)))).size).toBe(400);
      const before = times.slice(1).map((time) => previousDue(expression, berlin, new Date(time))?.toISOString());
      expect(before).toEqual(times.slice(0, -1));
    }
  });
});

test('the first of the month is due twelve times a year', () => {
  const times = dueTimes('0 0 1 * *', 'UTC', '2026-01-01T00:00:00Z', 12);
  expect(times).toEqual(
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map((month) => new Date(Date.UTC(2026, month - 1, 1)).toISOString()),
  );
});

test('a leap day is due every four years, and not in 2100', () => {
  expect(dueTimes('0 0 29 2 *', 'UTC', '2092-03-01T00:00:00Z', 3).map((text) => text.slice(0, 10))).toEqual([
    '2096-02-29',
    '2104-02-29',
    '2108-02-29',
  ]);
  expect(previousDue('0 0 29 2 *', 'UTC', new Date('2027-06-01T00:00:00Z'))).toEqual(new Date('2024-02-29T00:00:00Z'));
});

describe('a problem of a schedule is said in words', () => {
  test.each(['15 2 * * *', '0 15 2 * * *', '*/5 * * * *', '0 6 * * MON-FRI', '0 0 29 2 *', ' 0 0 1 * * '])(
    '%j has none',
    (expression) => {
      expect(scheduleProblem(expression, berlin)).toBeUndefined();
    },
  );

  test.each([
    ['0 0 31 2 *', 'no date ever matches it'],
    ['0 0 30 2 *', 'no date ever matches it'],
    ['61 * * * *', 'invalid value for minute: 61'],
    ['* * *', 'expected five fields'],
    ['', 'expected five fields'],
    ['@daily', 'expected five fields'],
    ['2026-01-01T00:00:00', 'expected five fields'],
    ['0 0 0 1 1 * 2020', 'expected five fields'],
    ['a b c d e', 'entry 1 (a) contains illegal characters'],
  ])('%j', (expression, problem) => {
    expect(scheduleProblem(expression, berlin)).toContain(problem);
  });

  test('a zone that does not exist', () => {
    expect(scheduleProblem('0 0 * * *', 'Europe/Belin')).toBe('unknown time zone "Europe/Belin"');
  });
});
