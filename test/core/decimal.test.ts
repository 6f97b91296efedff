import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { currenciesIn, describeBadDecimal, parseDecimal, plainDecimal } from '../../src/core/numbers/decimal.ts';
import { accounting, canonical, english, german } from '../support/decimals.ts';

describe('plain numbers', () => {
  test.each([
    ['0', '0'],
    ['1.50', '1.50'],
    ['-17', '-17'],
    ['007', '7'],
    ['000', '0'],
    ['-0.00', '0.00'],
    ['-0', '0'],
    ['+5', '5'],
    ['\u22125.5', '-5.5'],
    ['.5', '0.5'],
    ['-.17', '-0.17'],
    ['5.', '5'],
    ['-00.50', '-0.50'],
    ['1.5E+3', '1500'],
    ['1.50e1', '15.0'],
    ['5e-3', '0.005'],
    ['.5e1', '5'],
    ['5.e0', '5'],
    ['-1.25e-2', '-0.0125'],
    ['0e100', '0'],
    ['0.00e1', '0.0'],
    ['1e\u22122', '0.01'],
    ['1e100', `1${'0'.repeat(100)}`],
    ['1e-100', `0.${'0'.repeat(99)}1`],
    ['1e0002', '100'],
    ['\t 1.5\r\n', '1.5'],
    ['\u00a0\u202f\u2009\u3000\ufeff\u00851\u0085', '1'],
    ['123456789012345678901234.000000000000000001', '123456789012345678901234.000000000000000001'],
  ])('reads %j as %s', (text, expected) => {
    expect(parseDecimal(text, plainDecimal)).toBe(expected);
  });

  test.each([
    '',
    ' ',
    '.',
    '-',
    '+',
    '\u2212',
    '+-5',
    '--5',
    '- 5',
    '5-',
    '(5)',
    '$5',
    '5%',
    '1e',
    'e5',
    '1e+',
    '1e1.5',
    '1e1e1',
    '1e101',
    '1e-101',
    '.e3',
    '0x1f',
    '1_000',
    '1 000',
    '1,000',
    '1.2.3',
    'NaN',
    'Infinity',
    '-Infinity',
    '1n',
    '١٢',
    '１',
    '½',
    '1.5 2',
    "1'000",
    '1f',
    'null',
    '#N/A',
    '5 EUR',
  ])('rejects %j', (text) => {
    expect(parseDecimal(text, plainDecimal)).toBeUndefined();
  });

  test('reads canonical text unchanged', () => {
    fc.assert(fc.property(canonical, (text) => parseDecimal(text, plainDecimal) === text));
  });

  test('reads nothing but canonical text out of any text', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'0123456789.,-+eE()$% EURD\u2212\u00a0'.split('')),
      maxLength: 12,
    });
    fc.assert(
      fc.property(text, fc.constantFrom(plainDecimal, german, english, accounting), (written, format) => {
        expect(parseDecimal(written, format) ?? '0').toMatch(/^(?!-0(\.0*)?$)-?(0|[1-9]\d*)(\.\d+)?$/);
      }),
      { numRuns: 3000 },
    );
  });

  test('reads a million digits without losing one or much time', () => {
    const long = `${'1234567890'.repeat(100_000)}.${'5'.repeat(100)}`;
    expect(parseDecimal(` ${long}`, plainDecimal)).toBe(long);
    expect(parseDecimal(`${long}x`, plainDecimal)).toBeUndefined();
    expect(describeBadDecimal(`${long}x`, plainDecimal)).toContain('"x" does not belong there');
  });
});

describe('marks', () => {
  test.each([
    ['1.234', '1234'],
    ['1.234.567,89', '1234567.89'],
    ['1234567,89', '1234567.89'],
    ['-1.234,50', '-1234.50'],
    [',5', '0.5'],
    ['12,', '12'],
  ])('German %s is %s', (text, expected) => {
    expect(parseDecimal(text, german)).toBe(expected);
  });

  test.each([
    '0.123',
    '001.234',
    '1.23',
    '1.2345',
    '1234.567',
    '.123',
    '1..234',
    '1.234.',
    '1.234,5.6',
    '1,2,3',
    '1 234',
    '1.234,567.8',
  ])('German %s is a reject', (text) => {
    expect(parseDecimal(text, german)).toBeUndefined();
  });

  test('a grouping mark that is not declared is a reject, not a decimal mark', () => {
    const comma = { ...plainDecimal, decimal: ',' };
    expect(parseDecimal('1.234', comma)).toBeUndefined();
    expect(parseDecimal('1,234', comma)).toBe('1.234');
  });

  test('groups of other sizes stand where they are declared', () => {
    const indian = { ...plainDecimal, group: { mark: ',', sizes: [3, 2] } };
    expect(parseDecimal('12,34,56,789.5', indian)).toBe('123456789.5');
    expect(parseDecimal('1,234', indian)).toBe('1234');
    expect(parseDecimal('123,456,789', indian)).toBeUndefined();
    expect(parseDecimal('1,2,3', english)).toBeUndefined();
    expect(parseDecimal('1,2,3', { ...plainDecimal, group: { mark: ',', sizes: [1] } })).toBe('123');
  });

  test.each([' ', '\u00a0', '\u202f', '\u2009'])('white space %j groups where a space is declared', (space) => {
    const french = { ...plainDecimal, decimal: ',', group: { mark: ' ', sizes: [3] } };
    expect(parseDecimal(` 1${space}234${space}567,8${space}`, french)).toBe('1234567.8');
    expect(parseDecimal(`1${space}${space}234`, french)).toBeUndefined();
  });

  test.each(["'", '\u2019'])('apostrophe %s groups where an apostrophe is declared', (apostrophe) => {
    const swiss = { ...plainDecimal, group: { mark: "'", sizes: [3] } };
    expect(parseDecimal(`1${apostrophe}234.50`, swiss)).toBe('1234.50');
  });
});

describe('accounting', () => {
  test.each([
    ['(1,234.50)', '-1234.50'],
    ['1,234.50-', '-1234.50'],
    ['1,234.50 \u2212', '-1234.50'],
    ['$ (1,234.50)', '-1234.50'],
    ['($1,234.50)', '-1234.50'],
    ['( 1,234.50 ) USD', '-1234.50'],
    ['EUR -5', '-5'],
    ['-€5', '-5'],
    ['€-5', '-5'],
    ['5 €-', '-5'],
    ['US$ 5', '5'],
    ['HK$5', '5'],
    ['5EUR', '5'],
    ['$5.00 USD', '5.00'],
    ['CHF 1,000', '1000'],
    ['12.5%', '12.5'],
    ['(12.5%)', '-12.5'],
    ['(12.5) %', '-12.5'],
    ['- 5', '-5'],
    ['+5', '5'],
    ['(0.00)', '0.00'],
    ['-', '0'],
    [' \u2212 ', '0'],
    ['$ -', '0'],
    ['- €', '0'],
    ['EUR -', '0'],
    ['$1.5E+3', '1500'],
    ['%5', '5'],
    ['% -5', '-5'],
    ['7', '7'],
  ])('reads %j as %s', (text, expected) => {
    expect(parseDecimal(text, accounting)).toBe(expected);
  });

  test.each([
    '(-5)',
    '-5-',
    '-(5)',
    '(5)-',
    '((5))',
    '(5',
    '5)',
    '()',
    '(-)',
    '$',
    '%',
    '+',
    '--',
    '+-5',
    '5+',
    '5%%',
    '$5€',
    'USD 5 EUR',
    'XYZ 5',
    'usd 5',
    '5 kg',
    '-%',
    '1(5)',
    '5 5',
    '%5%',
    'x$5',
    '5$x',
    'x5$',
  ])('rejects %j', (text) => {
    expect(parseDecimal(text, accounting)).toBeUndefined();
  });
});

describe('a decimal mark with nothing behind it', () => {
  const bare = { ...german, accounting: true };

  test.each([
    ['-5,', '-5'],
    ['5, EUR', '5'],
    ['EUR 5,', '5'],
    ['5, %', '5'],
    ['(5,)', '-5'],
    ['5-', '-5'],
  ])('%s is %s', (text, expected) => {
    expect(parseDecimal(text, bare)).toBe(expected);
  });

  test.each(['5,-', '5,- EUR', 'EUR 5,-', '1.234,-'])('and a minus after it has two meanings: %s', (text) => {
    expect(parseDecimal(text, bare)).toBeUndefined();
  });
});

test.each([
  ['$ 5', ['$']],
  ['US$5', ['US$']],
  ['5 EUR', ['EUR']],
  ['USD 5 \u20ac', ['USD', '\u20ac']],
  ['HUF 5, EU 6, 7 x', ['HUF']],
  ['5', []],
])('the currencies in %s are %j', (text, currencies) => {
  expect(currenciesIn(text)).toEqual(currencies);
});

describe('scale and negate', () => {
  test.each([
    ['1000', '1.50', '1500.00'],
    ['0.01', '12', '0.12'],
    ['1000', '-0.5', '-500.0'],
    ['-1', '0.0', '0.0'],
  ])('scale %s on %s gives %s', (scale, text, expected) => {
    expect(parseDecimal(text, { ...plainDecimal, scale })).toBe(expected);
  });

  test('what is no number has no scale either', () => {
    expect(parseDecimal('x', { ...plainDecimal, scale: '1000', negate: true, round: 2 })).toBeUndefined();
  });

  test('rounding comes last', () => {
    expect(parseDecimal('1.2345', { ...plainDecimal, scale: '100', negate: true, round: 1 })).toBe('-123.5');
    expect(parseDecimal('1.2345', { ...plainDecimal, round: 2 })).toBe('1.23');
  });

  test('negate turns the sign, and zero has none', () => {
    const format = { ...plainDecimal, negate: true };
    expect(['5', '-5.0', '0.00', '-0'].map((text) => parseDecimal(text, format))).toEqual(['-5', '5.0', '0.00', '0']);
  });
});

test('survives every way of writing it that its format declares', () => {
  const format = fc.record({
    decimal: fc.constantFrom('.', ','),
    mark: fc.constantFrom(' ', "'", '_'),
    sizes: fc.constantFrom([3], [3, 2], [4], [1, 2, 3]),
    around: fc.constantFrom('', ' ', '\u00a0'),
    negative: fc.constantFrom('-#', '\u2212#', '(#)', '#-'),
    currency: fc.constantFrom('#', '$ #', '#€', 'EUR #', '# CHF', 'HK$#', '#%'),
    hasGroups: fc.boolean(),
    zeros: fc.constantFrom('', '0', '00'),
  });
  fc.assert(
    fc.property(canonical, format, (value, style) => {
      const [whole = '', fraction] = value.replace('-', '').split('.');
      const grouped = style.hasGroups ? groupDigits(whole, style) : style.zeros + whole;
      const size = fraction === undefined ? grouped : grouped + style.decimal + fraction;
      const money = style.currency.replace('#', () => size);
      const text =
        style.around + (value.startsWith('-') ? style.negative.replace('#', () => money) : money) + style.around;
      const group = { mark: style.mark, sizes: style.sizes };
      expect(parseDecimal(text, { ...plainDecimal, decimal: style.decimal, group, accounting: true })).toBe(value);
    }),
    { numRuns: 2000 },
  );
});

function groupDigits(text: string, { mark, sizes }: { mark: string; sizes: readonly number[] }): string {
  const groups: string[] = [];
  let rest = text;
  for (let place = 0; rest !== ''; place++) {
    const size = sizes[Math.min(place, sizes.length - 1)] ?? 3;
    groups.unshift(rest.slice(-size));
    rest = rest.slice(0, -size);
  }
  return groups.join(mark);
}
