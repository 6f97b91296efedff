import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnNeeds } from '../../src/core/mapping/columns.ts';
import { asColumns } from '../../src/core/mapping/row-coder.ts';
import type { RowBatch } from '../../src/core/model.ts';
import { readDocument } from '../../src/sources/formats/json-array.ts';
import { readTokens } from '../../src/sources/formats/json-lines.ts';
import { readPlainRecords } from '../../src/sources/formats/scan/json-read.ts';
import { isCampaign } from '../support/campaign.ts';
import { foldBatches } from '../support/folded-part.ts';
import { fileOf } from '../support/nasty-files.ts';
import { entry, mapping, utc } from '../support/row-world.ts';

test('the scanner of JSON tells numbers from texts as the tokenizer does', async () => {
  const value = fc.oneof(
    fc.constantFrom(
      '7.125',
      '-0.125',
      '1234',
      '1.5e-7',
      '1E+3',
      '123456789012345.678',
      'null',
      'true',
      '0',
      '-0',
      '-0.0',
    ),
    fc
      .constantFrom('7.125', '1.234,50', '1,5', '1234', '(5,00)', '', ' 7.125 ', '0', '-0', 'x')
      .map((text) => `"${text}"`),
  );
  const format = fc
    .record({
      decimal: fc.constantFrom('.', ','),
      mark: fc.constantFrom(undefined, '.', ' '),
      accounting: fc.boolean(),
      negate: fc.boolean(),
      round: fc.constantFrom(undefined, undefined, 1),
    })
    .filter(({ decimal, mark }) => decimal !== mark)
    .map(({ mark, ...keys }) => ({
      ...keys,
      scale: undefined,
      group: mark === undefined ? undefined : { mark, sizes: [3] },
    }));
  const cases = fc.record({
    formats: fc.array(format, { minLength: 1, maxLength: 2 }),
    templates: fc.tuple(fc.constantFrom('{a}', '{b}'), fc.constantFrom('{a}', '{b|trim}', '-{a}')),
    missing: fc.constantFrom([''], ['', '7.125'], ['', '-0.125', '0']),
    fillDown: fc.constantFrom([], ['a'], ['b']),
    rows: fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 40 }),
    layout: fc.constantFrom('lines' as const, 'list' as const),
  });
  let scanned = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ formats, templates, rows, layout, ...more }) => {
      const by = mapping(
        formats.map((one, at) =>
          entry({ path: [`d${at}`, '{k}'], time: '2026-01', value: templates[at]!, format: one }),
        ),
        more,
      );
      const records = rows.map(([a, b], at) => `{"k":"k${at % 3}","a":${a},"b":${b}}`);
      const content = Buffer.from(layout === 'lines' ? `${records.join('\n')}\n` : `[${records.join(',')}]`);
      const needs = (columns: readonly string[]) => columnNeeds(by, columns);
      const folding = { mapping: by, rules: utc, rejectsMax: 100 };
      const file = () => fileOf(content, 65_536);
      const tokens: AsyncGenerator<RowBatch, unknown, void> =
        layout === 'lines'
          ? readTokens(file())
          : readDocument(file(), { steps: [], isPointer: false, hasLists: false });
      const byTokens = await foldBatches(asColumns(tokens, { needs }), folding);
      const plain = readPlainRecords(file(), { layout, needs, blockBytes: 65_536 });
      const byScanner = await foldBatches(plain as never, folding);
      expect(byScanner).toEqual(byTokens);
      scanned += rows.length;
    }),
    { numRuns: Number(process.env.JSON_NUMBERS ?? (isCampaign ? 1600 : 130)) },
  );
  expect(scanned).toBeGreaterThan(400);
});
