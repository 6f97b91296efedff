import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withoutIntl } from '../../src/core/time/month-names.ts';
import { timeFormatProblem } from '../../src/core/time/time.ts';
import { plainFormat, read } from '../support/moments.ts';

const require = createRequire(import.meta.url);

describe('names of months', () => {
  test.each([
    ['de', 'MMMM yyyy', 'März 2026', '2026-03'],
    ['de', 'MMM yyyy', 'Mrz 2026', '2026-03'],
    ['de', 'MMM yyyy', 'Jän. 2026', '2026-01'],
    ['de_AT', 'd. MMMM yyyy', '5. Jänner 2026', '2026-01'],
    ['de', 'yyyy MMMM', '2026 Jänner', '2026-01'],
    ['de', 'yyyy MMMM', '2026 Jän', '2026-01'],
    ['fr', 'd MMMM yyyy', '5 FEVRIER 2026', '2026-02'],
    ['fr', 'd MMM yyyy', '5 août 2026', '2026-08'],
    ['ru', 'd MMMM yyyy', '5 марта 2026', '2026-03'],
    ['tr', 'MMM yyyy', 'EKİ 2026', '2026-10'],
    ['ja', 'yyyy年MMM', '2026年12月', '2026-12'],
    // What people write and neither date-fns nor Intl does.
    ['en', 'MMM-yy', 'SEPT.-26', '2026-09'],
    ['de', 'MMM-yy', 'Mär-26', '2026-03'],
    ['de', 'MMM-yy', 'Maerz-26', '2026-03'],
    ['de', 'MMM-yy', 'sep.-26', '2026-09'],
    ['de', 'MMM-yy', 'dez.-26', '2026-12'],
    ['fr', 'MMM yyyy', 'févr. 2026', '2026-02'],
    ['fr', 'MMM yyyy', 'fév 2026', '2026-02'],
    ['fr', 'MMM yyyy', 'aout 2026', '2026-08'],
    ['fr', 'MMM yyyy', 'juill. 2026', '2026-07'],
    ['es', 'MMM yyyy', 'ene 2026', '2026-01'],
    ['es', 'MMM yyyy', 'set 2026', '2026-09'],
    ['it', 'MMM yyyy', 'gen 2026', '2026-01'],
    ['it', 'MMM yyyy', 'sett. 2026', '2026-09'],
    ['nl', 'MMM yyyy', 'mrt 2026', '2026-03'],
    ['nl', 'MMM yyyy', 'mei 2026', '2026-05'],
    ['pt', 'MMM yyyy', 'FEV 2026', '2026-02'],
    ['pl', 'MMM yyyy', 'paź 2026', '2026-10'],
    ['pl', 'd MMMM yyyy', '1 września 2026', '2026-09'],
    ['sv', 'MMM yyyy', 'okt. 2026', '2026-10'],
    ['sv', 'MMM yyyy', 'jul 2026', '2026-07'],
    ['da', 'MMM yyyy', 'maj 2026', '2026-05'],
    ['nb', 'MMM yyyy', 'des. 2026', '2026-12'],
    ['fi', 'MMM yyyy', 'tammi 2026', '2026-01'],
    ['fi', 'MMM yyyy', 'hei 2026', '2026-07'],
    ['cs', 'MMM yyyy', 'červenec 2026', '2026-07'],
    ['cs', 'MMM yyyy', 'květ 2026', '2026-05'],
  ])('in %s are read: %s reads %j as %s', (locale, tokens, text, month) => {
    expect(read(text, { locales: [locale], formats: [tokens] })).toMatch(new RegExp(`^${month} `));
  });

  test('are tried in each language, in order', () => {
    const format = { formats: ['MMM yyyy', 'MMM-yy'], locales: ['en', 'de', 'fr'] };
    expect(timeFormatProblem({ ...plainFormat, ...format })).toBeUndefined();
    expect(read('Oct 2026', format)).toMatch(/^2026-10 /);
    expect(read('Okt 2026', format)).toMatch(/^2026-10 /);
    expect(read('févr.-26', format)).toMatch(/^2026-02 /);
    expect(read('ottobre 2026', format)).toContain('it fits none of the formats MMM yyyy, MMM-yy');
    expect(read('ottobre 2026', { ...format, formats: ['MMM yyyy'] })).toContain('in any of en, de, fr');
    // Croatian and Polish each have this name: whichever is tried first takes it.
    expect(read('lip 2026', { formats: ['MMM yyyy'], locales: ['hr', 'pl'] })).toMatch(/^2026-06 /);
    expect(read('lip 2026', { formats: ['MMM yyyy'], locales: ['pl', 'hr'] })).toMatch(/^2026-07 /);
  });

  test('are read as they are written, in every language of date-fns', () => {
    const folder = join(dirname(require.resolve('date-fns/package.json')), 'locale');
    const locales = readdirSync(folder).filter((name) => /^[a-zA-Z-]+\.js$/.test(name) && !/^(?:cdn|types)/.test(name));
    expect(locales.length).toBeGreaterThan(90);
    const problems = locales.flatMap((name) => {
      const locale = name.slice(0, -'.js'.length);
      return timeFormatProblem({ ...plainFormat, formats: ['MMMM yyyy', 'd MMM yyyy'], locales: [locale] }) ?? [];
    });
    // Armenian writes January and June alike where it abbreviates them.
    expect(problems).toEqual([expect.stringContaining('not even what it writes in hy can be read back')]);
  });

  test.each([...withoutIntl])('are read as Intl writes them, in %s', (locale) => {
    const format = { formats: ['MMM yyyy'], locales: [locale] };
    for (const style of ['long', 'short'] as const) {
      for (const day of [undefined, 'numeric'] as const) {
        const intl = new Intl.DateTimeFormat(locale, { month: style, day, calendar: 'gregory', timeZone: 'UTC' });
        for (let month = 1; month <= 12; month++) {
          const parts = intl.formatToParts(Date.UTC(2026, month - 1, 1));
          const written = parts.find(({ type }) => type === 'month')?.value ?? '';
          // Some write the number of a month beside a day.
          if (!/\p{L}/u.test(written)) continue;
          expect(read(`${written} 2026`, format)).toMatch(new RegExp(`^2026-${`${month}`.padStart(2, '0')} `));
        }
      }
    }
  });
});
