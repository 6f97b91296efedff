import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCampaign } from '../support/campaign.ts';
import { Draw } from '../support/nasty-files.ts';
import { type NastyJson, nastyJson } from '../support/nasty-json.ts';
import { readJsonBothWays } from '../support/two-json-ways.ts';

/** More by hand: `SCANNED_FILES=1000000 npm test -- test/sources/scan-json.test.ts`. */
const files = Number(process.env.SCANNED_FILES ?? (isCampaign ? 20_000 : 250));

/** @returns how many rows came as columns; `undefined` where the tokenizer has to read the file */
async function scannedRows(content: string, keys: Partial<NastyJson> = {}): Promise<number | undefined> {
  const sizes = { chunkBytes: 65_536, blockBytes: 65_536 };
  return await readJsonBothWays({
    content: Buffer.from(content),
    layout: 'lines',
    draw: new Draw(1),
    ...sizes,
    ...keys,
  });
}

function lines(count: number, line: (at: number) => string): string {
  return `${Array.from({ length: count }, (_, at) => line(at)).join('\n')}\n`;
}

describe('the scanner of JSON reads as the tokenizer does', () => {
  test('files of every kind', async () => {
    let rows = 0;
    await fc.assert(
      fc.asyncProperty(fc.noShrink(fc.integer()), async (seed) => {
        rows += (await readJsonBothWays(nastyJson(seed))) ?? 0;
      }),
      { numRuns: files },
    );
    // Many are damaged or hold lists and objects; of the others all rows come as columns.
    expect(rows).toBeGreaterThan(2 * files);
  });

  test.each<[NastyJson['layout'], string]>([
    [
      'lines',
      '{"a":"x","b":-1.50}\r\n\n{ "b" : 2 , "a" : "s\\u00fc\\"\\ud83d\\ude00" }\n{"a":null}\n{}\n{"c":true,"a":"x"}',
    ],
    ['list', ' [{"a":"x","b":-1.50},\r\n{ "b" : 2 , "a" : "\\u00fc\\\\" }\n,{"a":null},{},\n{"c":true,"a":"x"}\n] \n'],
    ['list', '[]'],
    ['list', '[{\n  "a": 1,\n  "b": "x"\n}, {\n  "a": 2,\n  "b": "y"\n}]'],
  ])('with a border at every byte of %s %j', async (layout, content) => {
    const rows = await scannedRows(content, { layout });
    expect(rows).toBeTypeOf('number');
    for (let blockBytes = 1; blockBytes <= content.length; blockBytes++) {
      for (const chunkBytes of [1, 2, 3, blockBytes]) {
        expect(await scannedRows(content, { layout, blockBytes, chunkBytes })).toBe(rows);
      }
    }
  });

  test.each([
    '{"a":1}\n{"a":[1]}\n',
    '{"a":1}\n{"a":{"b":1}}\n',
    '{"a":1,"a":2}\n',
    '{"a":1," a":2}\n',
    '{"a":1} {"a":2}\n',
    '{"a":1}\r{"a":2}\n',
    '{"a":\n1}\n',
    '{"a":"\\ud83d"}\n',
    '{"a":"\\u0000"}\n',
    '{"a":01}\n',
    '{"a":1}\n{"a":1',
    '{"a":1},\n',
    '1\n',
  ])('and leaves %j to it', async (content) => {
    expect(await scannedRows(content)).toBeUndefined();
  });

  test('values without quotes that begin like a known text', async () => {
    const records = ['{"a":"1}"}', '{"a":"1 "}', '{"a":"null"}', '{"a":1}', '{"a":1 }', '{"a":null}', '{"a":1,"b":2}'];
    for (const first of records) {
      for (const second of records) expect(await scannedRows(`${first}\n${second}\n${second}\n`)).toBe(3);
    }
  });

  test('columns of more texts than are kept', async () => {
    const content = lines(100_000, (at) => `{"id":"voucher ${at}","n":${at % 3 === 0 ? `"${at}"` : at}}`);
    expect(await scannedRows(content)).toBe(100_000);
  });

  test('records of very many keys', async () => {
    const keys = Array.from({ length: 2000 }, (_, at) => `"k${at}":${at}`);
    expect(await scannedRows(lines(100, (at) => `{${keys.slice(at % 7).join(',')}}`))).toBe(100);
  });

  test.each([
    `{"a":"${'x'.repeat(10_000_001)}"}`,
    `{"a":"${'x'.repeat(3_500_000)}"}`,
    `{"a":"${'x'.repeat(4_000_000)}`,
  ])('and leaves records of several megabytes to it (%#)', async (record) => {
    expect(await scannedRows(`{"a":1}\n${record}\n{"a":2}\n`)).toBeUndefined();
  });
});
