/** Whatever is in a file, its proposal is a config that loads, or there is none. */
import fc from 'fast-check';
import { test } from 'vitest';
import { runsOf } from '../support/campaign.ts';
import { problems } from '../support/config-world.ts';
import { proposed } from '../support/proposals.ts';

const cell = fc.oneof(
  fc.constantFrom(
    'date',
    'amount',
    'Konto',
    '',
    '-',
    'n/a',
    'Total',
    '2024-01-31',
    '31.12.2024',
    '01/02/2024',
    'Jan 24',
    '2024',
    'Q1 2024',
  ),
  fc.constantFrom(
    '1.234,50',
    '(12.5)',
    '1e5',
    '0012',
    '5%',
    '{x}',
    'a|b',
    '# c',
    '"',
    '${HOME}',
    ': - ',
    "it's",
    '*a',
    '&b',
    '!c',
    'ключ',
    '日本',
  ),
  fc.integer({ min: -1000, max: 100_000 }).map(String),
  fc.string({ maxLength: 6, unit: 'grapheme' }),
);
const table = fc
  .tuple(fc.constantFrom(',', ';', '\t', '|'), fc.array(fc.array(cell, { maxLength: 6 }), { maxLength: 12 }))
  .map(([delimiter, rows]) => rows.map((cells) => cells.join(delimiter)).join('\n'));

test('tables of anything', () => {
  fc.assert(
    fc.property(fc.array(table, { minLength: 1, maxLength: 3 }), (texts) => {
      const { text } = proposed(
        Object.fromEntries(texts.map((content, at) => [`in/f [${at}] {x}-2024-0${at + 1}.csv`, content])),
      );
      return text === undefined || problems(text).length === 0;
    }),
    runsOf(10, 240),
  );
});

test('headers of anything above plain data', () => {
  fc.assert(
    fc.property(fc.uniqueArray(cell, { minLength: 3, maxLength: 3 }), (names) => {
      const quoted = names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',');
      const { text } = proposed({
        'a.csv': `${quoted}\n2024-01-31,Bonn,1.5\n2024-02-29,Kiel,2.5\n2024-02-29,Bonn,3\n`,
      });
      return text === undefined || problems(text).length === 0;
    }),
    runsOf(10, 240),
  );
});

test('bytes of anything', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      const { text } = proposed({ 'a.csv': Buffer.from(bytes) });
      return text === undefined || problems(text).length === 0;
    }),
    runsOf(10, 240),
  );
});
