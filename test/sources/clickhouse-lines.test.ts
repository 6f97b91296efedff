/** An answer of ClickHouse as lines: what is whole, what was cut, and what stands where a row was to begin. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AnswerLines } from '../../src/sources/databases/clickhouse-lines.ts';

const rows = '+\t1\ta\n+\t2\tb\\tc\n+\t3\tzwölf\n';
const ended = `${rows}\n+\t1\ta\n+\t3\tzwölf\n`;
const failure = "Code: 395. DB::Exception: Value passed to 'throwIf' function is non-zero\n";

/** In pieces that end at these places. */
function read(answer: Uint8Array, { hasEnd = true, ends = [] as readonly number[] } = {}) {
  const lines = new AnswerLines('db.test', { columns: 2, hasEnd });
  const places = [0, ...[...ends].sort((a, b) => a - b).filter((end) => end < answer.length), answer.length];
  const taken: unknown[] = [];
  for (const [at, end] of places.entries()) {
    if (at > 0) lines.push(answer.subarray(places[at - 1], end));
    if (at % 2 === 0) taken.push(...lines.take());
  }
  lines.end();
  const { isWhole, failure: said } = lines;
  return { rows: [...taken, ...lines.take()], isWhole, failure: said };
}

const places = fc.array(fc.nat(80), { maxLength: 6 });
const bytesOf = (text: string): Uint8Array => Buffer.from(text);

describe('an answer with its end', () => {
  test('is whole however it comes in pieces, and its end is no row', () => {
    fc.assert(
      fc.property(places, (ends) => {
        expect(read(bytesOf(ended), { ends })).toEqual({
          rows: [
            ['1', 'a'],
            ['2', 'b\tc'],
            ['3', 'zwölf'],
          ],
          isWhole: true,
          failure: undefined,
        });
      }),
    );
  });

  test('is not whole wherever it is cut, but before its first byte', () => {
    const whole = bytesOf(ended);
    for (let length = 1; length < whole.length; length++)
      expect(read(whole.subarray(0, length)), String(length)).toMatchObject({ isWhole: false });
  });

  test('has none where it has no rows', () => {
    expect(read(bytesOf(''))).toEqual({ rows: [], isWhole: true, failure: undefined });
  });

  test.each([
    ['behind rows', rows],
    ['behind nothing', ''],
    ['behind the empty line', `${rows}\n`],
    ['within its end', `${rows}\n+\t1\ta\n`],
    ['behind its end', ended],
  ])('has a failure of the server %s, in whatever pieces it comes', (_where, before) => {
    fc.assert(
      fc.property(places, (ends) => {
        expect(read(bytesOf(`${before}${failure}`), { ends })).toMatchObject({
          isWhole: false,
          failure: expect.stringContaining('Code: 395'),
        });
      }),
    );
  });

  test('has totals before its end, which are told as such', () => {
    const totals = `${rows}\n+\t0\tz\n\n+\t1\ta\n+\t3\tz\n`;
    fc.assert(
      fc.property(places, (ends) => {
        expect(read(bytesOf(totals), { ends })).toMatchObject({
          isWhole: false,
          failure: expect.stringMatching(/^\n\+\t/),
        });
      }),
    );
  });
});

test('an answer of a user who may set nothing has no end: it is whole behind each row', () => {
  expect(read(bytesOf(rows), { hasEnd: false })).toMatchObject({ isWhole: true, rows: { length: 3 } });
  expect(read(bytesOf(ended), { hasEnd: false })).toMatchObject({
    isWhole: false,
    failure: expect.stringMatching(/^\n\+\t/),
  });
});
