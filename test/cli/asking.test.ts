/** What counts as a yes at a terminal. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { isYes } from '../../src/cli/asking.ts';

/** What was answered to these keys, and what the terminal shows. */
async function typed(keys: string): Promise<{ readonly yes: boolean; readonly shown: string }> {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { isTTY: true });
  const answered = isYes('forgetting this deletes 2 drivers', { input, output });
  input.write(keys);
  const yes = await answered;
  return { yes, shown: String(output.read()) };
}

test.each(['y\r', 'Yes\r', ' y \r'])('%j is a yes', async (keys) => {
  expect(await typed(keys)).toMatchObject({
    yes: true,
    shown: expect.stringContaining('forgetting this deletes 2 drivers. Go on? [y/N] '),
  });
});

test.each(['n\r', '\r', 'yo\r'])('%j is a no', async (keys) => {
  expect(await typed(keys)).toMatchObject({ yes: false });
});

test.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
  ['Ctrl-C behind a y', 'y\u0003'],
])('%s is a no, and ends the line', async (_name, keys) => {
  expect(await typed(keys)).toMatchObject({ yes: false, shown: expect.stringMatching(/\n$/) });
});
