/** Limits that take a large file to reach. */
import { expect, test } from 'vitest';
import { csvOf, fileOf, readWhole, unreadable, unreadableLike } from '../support/source-world.ts';
import { document, readBook, unreadable as unreadableBook } from '../support/workbooks.ts';

test('a row of csv must not have so many fields that it is over 64 MB', async () => {
  const row = Array.from({ length: 8 }, () => 'x'.repeat(9_000_000)).join(',');
  await expect(readWhole(await csvOf(`a\n${row}\n`))).rejects.toMatchObject(
    unreadable('revenue.csv line 2: the row that starts here is over 64 MB'),
  );
});

test.each(['json', 'jsonl'] as const)('a record of %s must not be over 64 MB', async (type) => {
  const record = `{${Array.from({ length: 7 }, (_, at) => `"${at}":"${'x'.repeat(9_900_000)}"`).join(',')}}`;
  const content = type === 'json' ? `[${record}]` : `${record}\n`;
  await expect(readWhole(await fileOf(type, content))).rejects.toMatchObject(unreadableLike(/a record is over 64 MB/));
});

test('a workbook with more texts than any has is a failure before they are held', async () => {
  const entries = { 'xl/sharedStrings.xml': document('sst', '<si/>'.repeat(8 * 1024 * 1024 + 1)) };
  await expect(readBook({ sheets: [{ name: 'a' }], entries })).rejects.toMatchObject(
    unreadableBook(/^books\.xlsx has more than 8388608 texts in its table of texts$/, /split the workbook/),
  );
});
