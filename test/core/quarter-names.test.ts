import { describe, expect, test } from 'vitest';
import { timeFormatProblem } from '../../src/core/time/time.ts';
import { plainFormat, read } from '../support/moments.ts';

const third = '2026-07 and 2 more at 2026-07-01T00:00:00';

describe('a quarter by tokens', () => {
  test.each([
    ['QQQ', 'en', 'Q3'],
    ['QQQ', 'en', 'q3'],
    ['qqq', 'en', 'Q3'],
    ['QQQQ', 'en', '3rd quarter'],
    ['QQQQ', 'en', 'Q3'],
    ['Q', 'en', '3'],
    ['QQ', 'en', '03'],
    ['QQQQQ', 'en', '3'],
    ['Qo', 'en', '3rd'],
    ['QQQ', 'de', 'q3'],
    ['QQQ', 'fr', 'T3'],
    ['QQQ', 'fr', '3ème trim.'],
    ['QQQ', 'da', '3. kvt.'],
    ['QQQ', 'tr', '3Ç'],
    ['QQQQ', 'de', '3. Quartal'],
    ['QQQQQ', 'fr', 'T3'],
    ['Qo', 'de', '3.'],
    // What these languages write is no more than the digit.
    ['QQQ', 'ug', '3'],
    ['Qo', 'it-CH', '3'],
    ['Qo', 'pl', '3'],
  ])('%s in %s is read from %j', (token, locale, text) => {
    const format = { formats: [`${token} yyyy`], locales: [locale] };
    expect(timeFormatProblem({ ...plainFormat, ...format })).toBeUndefined();
    expect(read(`${text} 2026`, format)).toBe(third);
  });

  test.each([
    ['QQQ', 'en', '3'],
    ['QQQ', 'en', '03'],
    ['qqq', 'en', '3'],
    ['QQQ', 'hr', '3.'],
    ['QQQQ', 'en', '3'],
    ['QQQQ', 'de', '3'],
    ['QQQQQ', 'fr', '3'],
    ['Q', 'en', 'Q3'],
    ['QQ', 'en', 'Q3'],
    ['Qo', 'en', '3'],
    ['Qo', 'de', '3'],
  ])('%s in %s is not %j', (token, locale, text) => {
    expect(read(`${text} 2026`, { formats: [`${token} yyyy`], locales: [locale] })).toContain('does not fit');
  });

  test.each(['QQQ', 'QQQQ', 'qqq', 'Qo'])('%s leaves a bare digit to the format of months behind it', (token) => {
    const formats = [`${token} yyyy`, 'M yyyy'];
    expect(read('3 2026', { formats })).toBe('2026-03 at 2026-03-01T00:00:00');
    expect(read(token === 'Qo' ? '3rd 2026' : 'Q3 2026', { formats })).toBe(third);
  });
});

test.each(['MMM', 'MMMM', 'LLLL', 'Mo'])('%s leaves a bare digit to the format of quarters behind it', (token) => {
  expect(read('3 2026', { formats: [`${token} yyyy`, 'Q yyyy'] })).toBe(third);
});
