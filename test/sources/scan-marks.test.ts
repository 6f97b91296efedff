import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnNeeds } from '../../src/core/mapping/columns.ts';
import type { Batch } from '../../src/core/mapping/column-batch.ts';
import { asColumns } from '../../src/core/mapping/row-coder.ts';
import type { Rule } from '../../src/core/model.ts';
import { type DecimalFormat, plainDecimal } from '../../src/core/numbers/decimal.ts';
import { formattedReader } from '../../src/core/numbers/formatted.ts';
import { spelledText } from '../../src/core/numbers/spelling.ts';
import type { Mapping } from '../../src/core/settings.ts';
import { readDelimited } from '../../src/sources/formats/delimited.ts';
import { readColumns } from '../../src/sources/formats/scan/read.ts';
import { isCampaign } from '../support/campaign.ts';
import { foldBatches } from '../support/folded-part.ts';
import { fileOf, plainSettings } from '../support/nasty-files.ts';
import { entry, mapping, utc } from '../support/row-world.ts';

const marks = fc.constantFrom('.', ',', ' ', "'", ';', '|');
const formats: fc.Arbitrary<DecimalFormat> = fc
  .record({
    decimal: fc.constantFrom('.', ','),
    mark: fc.option(marks, { nil: undefined }),
    sizes: fc.constantFrom([3], [3], [3, 2]),
    accounting: fc.boolean(),
    negate: fc.boolean(),
    scale: fc.constantFrom(undefined, undefined, undefined, '1000'),
    round: fc.constantFrom(undefined, undefined, undefined, 1),
  })
  .filter(({ decimal, mark }) => decimal !== mark)
  .map(({ mark, sizes, ...format }) => ({ ...format, group: mark === undefined ? undefined : { mark, sizes } }));

const digits = (min: number, max: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789'.split('')), minLength: min, maxLength: max });

/** As people write numbers, mostly whole. */
const numbers = fc
  .record({
    before: fc.constantFrom('', '', '', '-', '(', '+', '€ ', '$', ' '),
    first: digits(1, 4),
    groups: fc.array(digits(3, 3), { maxLength: 4 }),
    group: marks,
    decimal: fc.constantFrom('.', ',', ''),
    fraction: digits(0, 4),
    behind: fc.constantFrom('', '', '', ')', '-', ' €', '€', '$', ' £', '%', ' '),
  })
  .map(({ before, first, groups, group, decimal, fraction, behind }) => {
    return `${before}${[first, ...groups].join(group)}${decimal}${fraction}${behind}`;
  });

const texts = fc.oneof(
  { arbitrary: numbers, weight: 6 },
  {
    arbitrary: fc.constantFrom('0', '0,00', '-0', '(0,00)', '1.234,50', '(1.234,50)', '12,5-', '5 €', '-', '', '1,5'),
    weight: 4,
  },
  fc.string({ unit: fc.constantFrom(...'01 .,()-€$£"x'.split('')), maxLength: 8 }),
);

interface Case {
  readonly mapping: Mapping;
  readonly content: string;
  readonly delimiter: string;
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    formats: fc.array(formats, { minLength: 1, maxLength: 3 }),
    columns: fc.array(fc.constantFrom('a', 'b'), { minLength: 3, maxLength: 3 }),
    rule: fc.constantFrom<Rule>('last', 'first', 'min', 'max', 'sum', 'average', 'count'),
    missing: fc.constantFrom([''], ['', '0'], ['', '0,00', '-'], ['1,5']),
    delimiter: fc.constantFrom(',', ';', '|', '\t', '$'),
    isQuoted: fc.boolean(),
    rows: fc.array(fc.tuple(texts, texts, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 28 })), {
      minLength: 1,
      maxLength: 60,
    }),
  })
  .map(({ formats: written, columns, rule, missing, delimiter, isQuoted, rows }) => {
    const field = (text: string): string =>
      isQuoted || text.includes(delimiter) || text.includes('"') ? `"${text.replaceAll('"', '""')}"` : text;
    const lines = rows.map(([a, b, key, day]) =>
      [`k${key}`, `2026-0${(day % 3) + 1}-${String(day).padStart(2, '0')}`, field(a), field(b)].join(delimiter),
    );
    const drivers = written.map((format, at) =>
      entry({
        path: [`d${at}`, '{region}'],
        rule,
        value: `{${columns[at]}}`,
        format,
      }),
    );
    const content = `${['region', 'date', 'a', 'b'].join(delimiter)}\n${lines.join('\n')}\n`;
    return { mapping: mapping(drivers, { missing }), content, delimiter };
  });

test('what the scanner reads by the marks of a column is what is read of its texts, digit for digit and text for text', async () => {
  let scanned = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ mapping: by, content, delimiter }) => {
      const settings = { ...plainSettings, delimiter };
      const folding = { mapping: by, rules: utc, rejectsMax: 100 };
      const needs = (columns: readonly string[]) => columnNeeds(by, columns);
      const file = () => fileOf(Buffer.from(content), 65_536);
      const byTexts = await foldBatches(asColumns(readDelimited(file(), settings), { needs }), folding);
      const byMarks = await foldBatches(readColumns(file(), settings, { needs }) as AsyncGenerator<Batch>, folding);
      expect(byMarks).toEqual(byTexts);
      for await (const batch of readColumns(file(), settings, { needs })) {
        if (!('rows' in batch)) for (const column of batch.values) scanned += column?.spelled?.length ? 1 : 0;
      }
    }),
    { numRuns: Number(process.env.MARKED_FILES ?? (isCampaign ? 1600 : 260)) },
  );
  expect(scanned).toBeGreaterThan(100);
});

test.each([
  '1.234,50',
  '(1.234.567,891)',
  '12,00-',
  '-5 €',
  '1.000 $',
  '0,05€',
  '999.999.999.999.999',
  '(0,001)',
  '7 £',
])('%s is kept as its number and how it is written', async (text) => {
  const format: DecimalFormat = { ...plainDecimal, decimal: ',', group: { mark: '.', sizes: [3] }, accounting: true };
  const by = mapping([entry({ path: ['{region}'], format })]);
  const file = fileOf(Buffer.from(`region;date;amount\nx;2026-01-01;${text}\n`), 65_536);
  const needs = (columns: readonly string[]) => columnNeeds(by, columns);
  const { value } = await readColumns(file, { ...plainSettings, delimiter: ';' }, { needs }).next();
  const column = (value as Batch).values[2]!;
  const { mantissas, scales, spelled } = column;
  const expected = { mantissas: new Float64Array(1), scales: new Int8Array(1) };
  formattedReader(format)!(text, 0, expected);
  expect([mantissas[0], scales[0]]).toEqual([expected.mantissas[0], expected.scales[0]]);
  const kept = [
    { decimal: '.', group: undefined },
    { decimal: ',', group: '.' },
  ];
  expect(spelledText(mantissas[0]!, scales[0]!, spelled![0]!, kept)).toBe(text);
  expect(column.text(0)).toBe(text);
});
