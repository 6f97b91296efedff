import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dayNumber,
  daySeconds,
  daysInMonth,
  formatMonth,
  monthOf,
  monthOfWallSeconds,
  parseMonth,
  stampSeconds,
} from '../../src/core/time/month.ts';
import { compileTimeReader } from '../../src/core/time/time.ts';
import { isTimeZone, localToEpoch, utcOffsetSeconds } from '../../src/core/time/zone.ts';
import { isCampaign } from '../support/campaign.ts';

const month = fc.integer({ min: monthOf(1000, 1), max: monthOf(9999, 12) });
const utcMonth = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 7);
const zones = Intl.supportedValuesOf('timeZone');
const utc = (text: string): number => Date.parse(`${text}Z`) / 1000;

describe('a month', () => {
  test('is written as its year and number and read back', () => {
    expect(monthOf(2026, 3)).toBe(24_314);
    expect(formatMonth(24_314)).toBe('2026-03');
    fc.assert(fc.property(month, (one) => parseMonth(formatMonth(one)) === one));
  });

  test.each(['2026', '2026-3', '2026-13', '2026-00', '0999-12', '12026-01', ' 2026-03', '2026-03-01', ''])(
    'is not %j',
    (text) => {
      expect(parseMonth(text)).toBeUndefined();
    },
  );

  test('has the days of the Gregorian calendar', () => {
    expect([2024, 2025, 2000, 1900].map((year) => daysInMonth(year, 2))).toEqual([29, 28, 29, 28]);
    fc.assert(
      fc.property(month, (one) => {
        const [year, number] = [Math.floor(one / 12), (one % 12) + 1];
        expect(dayNumber(year, number, 1)).toBe(Date.UTC(year, number - 1, 1) / 86_400_000);
        expect(daysInMonth(year, number)).toBe(new Date(Date.UTC(year, number, 0)).getUTCDate());
      }),
    );
  });

  test('is found from its seconds', () => {
    const seconds = fc.integer({
      min: stampSeconds(monthOf(1000, 1), 'start'),
      max: stampSeconds(monthOf(9999, 12), 'end'),
    });
    fc.assert(fc.property(seconds, (at) => formatMonth(monthOfWallSeconds(at)) === utcMonth(at)));
  });

  test('is pushed as its 15th at 12:00 UTC, its first second or its last', () => {
    const stamps = (['start', 'middle', 'end'] as const).map((stamp) => stampSeconds(monthOf(2024, 2), stamp));
    expect(stamps).toEqual([utc('2024-02-01T00:00:00'), utc('2024-02-15T12:00:00'), utc('2024-02-29T23:59:59')]);
  });
});

describe('in every time zone, from 1970 to 2100', () => {
  const months = Array.from({ length: 131 * 12 }, (_, i) => monthOf(1970, 1) + i);
  // Zones are slow to ask. Every 17th month still is each month of the year in turn.
  const someMonths = months.filter((_, i) => i % (isCampaign ? 5 : 17) === 0);

  test('a month is stamped within itself in UTC', () => {
    for (const one of months) {
      const stamps = (['start', 'middle', 'end'] as const).map((stamp) => utcMonth(stampSeconds(one, stamp)));
      expect(stamps).toEqual(Array.from({ length: 3 }, () => formatMonth(one)));
    }
  });

  test('the middle of a month lies within it, so no receiver can move it', () => {
    const moved = zones.flatMap((zone) =>
      someMonths.filter((one) => {
        const middle = stampSeconds(one, 'middle');
        return monthOfWallSeconds(middle + utcOffsetSeconds(zone, middle)) !== one;
      }),
    );
    expect(moved).toEqual([]);
  });

  test('a month begins and ends at midnight of the local clocks', () => {
    const misread: string[] = [];
    for (const zone of zones) {
      const read = compileTimeReader(
        { formats: ['unix'], locales: ['en'], timezone: undefined, fiscalYear: undefined },
        zone,
      );
      for (const one of someMonths) {
        const start = localToEpoch(zone, stampSeconds(one, 'start'));
        const [before, first] = [read(String(start - 1)), read(String(start))];
        const isRight =
          typeof before === 'object' && before.month === one - 1 && typeof first === 'object' && first.month === one;
        if (!isRight) misread.push(`${zone} ${formatMonth(one)}`);
      }
    }
    expect(misread).toEqual([]);
  });
});

describe('a zone', () => {
  test('is an IANA name', () => {
    expect(['Europe/Berlin', 'UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'].filter(isTimeZone)).toHaveLength(4);
    expect(['Europe/Kiev', 'US/Eastern', 'utc', 'europe/berlin'].filter(isTimeZone)).toHaveLength(4);
    expect(['Mars/Olympus', '', '+02:00', 'Berlin', 'Europe/Berlin '].filter(isTimeZone)).toEqual([]);
  });

  test('has the offset that Intl gives it at any second', () => {
    const at = fc.integer({ min: utc('1850-01-01T00:00:00'), max: utc('2100-01-01T00:00:00') });
    fc.assert(
      fc.property(fc.constantFrom(...zones), at, (zone, seconds) => {
        const parts = new Intl.DateTimeFormat('en-US', {
          timeZone: zone,
          calendar: 'gregory',
          hourCycle: 'h23',
          year: 'numeric',
          month: 'numeric',
          day: 'numeric',
          hour: 'numeric',
          minute: 'numeric',
          second: 'numeric',
        }).formatToParts(seconds * 1000);
        const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value);
        const wall = Date.UTC(
          part('year'),
          part('month') - 1,
          part('day'),
          part('hour'),
          part('minute'),
          part('second'),
        );
        expect(utcOffsetSeconds(zone, seconds)).toBe(wall / 1000 - seconds);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['Europe/Berlin', '2026-03-29T01:59:59', '2026-03-29T00:59:59', 'before the gap'],
    ['Europe/Berlin', '2026-03-29T02:30:00', '2026-03-29T01:30:00', 'in the gap, moved forward by it'],
    ['Europe/Berlin', '2026-03-29T03:00:00', '2026-03-29T01:00:00', 'after the gap'],
    ['Europe/Berlin', '2026-10-25T02:30:00', '2026-10-25T00:30:00', 'the earlier of two'],
    ['Europe/Berlin', '2026-10-25T03:00:00', '2026-10-25T02:00:00', 'after the fold'],
    ['Pacific/Apia', '2011-12-30T12:00:00', '2011-12-30T22:00:00', 'on a day that was skipped'],
    ['Pacific/Apia', '2011-12-31T00:00:00', '2011-12-30T10:00:00', 'on the day after it'],
    ['Europe/Amsterdam', '1850-01-01T00:00:00', '1849-12-31T23:42:30', 'by the sun of a city'],
  ])('%s: %s is %s UTC (%s)', (zone, wall, expected) => {
    expect(new Date(localToEpoch(zone, utc(wall)) * 1000).toISOString().slice(0, 19)).toBe(expected);
  });

  test('gives every instant back that its clocks show once', () => {
    const at = fc.integer({ min: utc('1900-01-01T00:00:00') / 60, max: utc('2100-01-01T00:00:00') / 60 });
    fc.assert(
      fc.property(fc.constantFrom(...zones), at, (zone, minutes) => {
        const wall = minutes * 60 + utcOffsetSeconds(zone, minutes * 60);
        const back = localToEpoch(zone, wall);
        expect(back + utcOffsetSeconds(zone, back)).toBe(wall);
        expect(back).toBeLessThanOrEqual(minutes * 60);
        expect(minutes * 60 - back).toBeLessThanOrEqual(daySeconds);
      }),
      { numRuns: 500 },
    );
  });
});
