/** What `init --from` says of a table for which it can propose nothing. */
import { expect, test } from 'vitest';
import { lines, proposed } from '../support/proposals.ts';

test.each([
  [lines('account,Jan,Feb', 'Rent,1,2'), 'the headers "Jan", "Feb" name months without a year'],
  [lines('Monat,Umsatz', 'Januar,1.5', 'Mai,2'), '"Monat" has months without a year, such as "Januar", "Mai"'],
  [
    lines('date,city,amount', '2024-01-01,Bonn,1', '2024-02-01,Bonn,2', 'page 2,,', 'date,city,amount'),
    '"date" comes nearest, where "2024-01-01" is a time and "page 2", "date" are not; the header stands in the table again: where: { "date": { not: [ "date" ] } }',
  ],
  [
    lines('week,amount', 'W12,1.5', 'W13,2'),
    '"week" is called as if it did, and no format reads its texts, such as "W12", "W13"',
  ],
  [
    lines('month,amount', '2024-01,1.5', '2024-02,2 to 3', '2024-03,4 to 5'),
    'no column holds numbers that could be values: "amount" comes nearest, where "1.5" is a number and "2 to 3", "4 to 5" are not',
  ],
])('what came nearest is told, with what did not fit: %j', (text, why) => {
  expect(proposed({ 'a.csv': text }).without[0]?.why).toContain(why);
});
