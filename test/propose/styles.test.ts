/** What `init --from` proposes for files that combine delimiters, marks, dates, titles and totals. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runsOf } from '../support/campaign.ts';
import { lines, proposed } from '../support/proposals.ts';

const two = (number: number): string => String(number).padStart(2, '0');

/** Styles that leave nothing open, and the config that reads them. */
const style = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  numbers: fc.constantFrom(
    { write: (text: string) => text, format: {} },
    { write: (text: string) => text.replace('.', ','), format: { decimal: ',' } },
    { write: (text: string) => text.replace(/^(\d+)(\d{3})\./, '$1,$2.'), format: { group: ',' } },
    {
      write: (text: string) => text.replace('.', ',').replace(/^(\d+)(\d{3}),/, '$1.$2,'),
      format: { decimal: ',', group: '.' },
    },
    { write: (text: string) => `(${text})`, format: { accounting: true } },
  ),
  dates: fc.constantFrom(
    { write: (y: number, m: number, d: number) => `${y}-${two(m)}-${two(d)}`, format: 'iso' },
    { write: (y: number, m: number, d: number) => `${two(d)}.${two(m)}.${y}`, format: 'dd.MM.yyyy' },
    { write: (y: number, m: number, d: number) => `${two(d)}/${two(m)}/${y}`, format: 'dd/MM/yyyy' },
    { write: (y: number, m: number, d: number) => `${two(m)}/${two(d)}/${y}`, format: 'MM/dd/yyyy' },
    { write: (y: number, m: number, d: number) => `${two(d)}-${two(m)}-${y}`, format: 'dd-MM-yyyy' },
  ),
  titles: fc.integer({ min: 0, max: 3 }),
  total: fc.boolean(),
  cities: fc.uniqueArray(fc.constantFrom('Bonn', 'Kiel', 'Ulm', 'Jena', 'Hof'), { minLength: 2, maxLength: 5 }),
  cents: fc.array(fc.integer({ min: 100_000, max: 99_999_999 }), { minLength: 30, maxLength: 60 }),
});

test('whatever a file combines, each of its marks is found', () => {
  fc.assert(
    fc.property(style, ({ delimiter, numbers, dates, titles, total, cities, cents }) => {
      const row = (...fields: string[]): string =>
        fields.map((field) => (field.includes(delimiter) ? `"${field}"` : field)).join(delimiter);
      const rows = cents.map((value, index) => {
        const month = Math.floor(index / cities.length);
        const text = `${Math.floor(value / 100)}.${two(value % 100)}`;
        return row(
          dates.write(2024 + Math.floor(month / 12), (month % 12) + 1, 20),
          cities[index % cities.length] ?? '',
          numbers.write(text),
        );
      });
      const above = Array.from({ length: titles }, (_, index) => `Report ${index}`);
      const { source } = proposed({
        'a.csv': lines(
          ...above,
          row('date', 'city', 'revenue'),
          ...rows,
          ...(total ? [row('Total', '', numbers.write('1000.00'))] : []),
        ),
      });
      expect(source).toMatchObject({
        type: delimiter === '\t' ? 'tsv' : 'csv',
        ...(delimiter === ',' || delimiter === '\t' ? {} : { delimiter }),
        ...(titles === 0 ? {} : { skipRows: titles }),
        ...(total ? { footer: 1 } : {}),
      });
      const [entry] = source.drivers;
      expect(entry?.path).toEqual(['A', '{city}']);
      expect(entry?.time).toEqual(dates.format === 'iso' ? '{date}' : { from: '{date}', format: dates.format });
      const isPlain = Object.keys(numbers.format).length === 0;
      expect(entry?.value).toEqual(isPlain ? '{revenue}' : { from: '{revenue}', ...numbers.format });
    }),
    runsOf(20, 120),
  );
});
