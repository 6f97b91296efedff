/** What `init --from` says of the size of numbers, and of days without a year. */
import { expect, test } from 'vitest';
import { lines, proposed } from '../support/proposals.ts';

test.each([
  ['revenue (kEUR)', 'thousands', '1000'],
  ['Umsatz in Tsd.', 'thousands', '1000'],
  ['Umsatz TEUR', 'thousands', '1000'],
  ['cost in millions', 'millions', '1000000'],
  ['amount_cents', 'cents', '0.01'],
])('a header that says the size of its numbers is asked about: %s', (name, what, scale) => {
  const { sources } = proposed({ 'a.csv': lines(`month,city,${name}`, '2024-01,Bonn,1.5', '2024-02,Kiel,2.5') });
  expect(sources[0]?.undecided).toEqual([
    `whether numbers are in ${what}, as "${name}" says: then write scale: ${scale} in "value", where whole ones are wanted`,
  ]);
});

test('a title that says the size of the numbers is asked about', () => {
  const { sources } = proposed({
    'a.csv': lines('Umsatz in TEUR', '', 'month,city,amount', '2024-01,Bonn,1.5', '2024-02,Kiel,2'),
  });
  expect(sources[0]?.undecided[0]).toContain('whether numbers are in thousands, as "Umsatz in TEUR" says');
});

test('days without a year name nothing', () => {
  const rows = ['4930,1501,1.5', '8400,0101,2.5', '4930,3101,3.5'];
  const { source, text } = proposed({ 'batch_202601.csv': lines('Konto,Belegdatum,Betrag', ...rows) });
  expect(source.drivers[0]?.path).toEqual(['Batch', '{Konto}']);
  expect(text).toContain('left out: "Belegdatum", days without a year');
});
