/** Answers of 200 that say an error. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readWhole } from '../support/source-world.ts';
import { answer, everythingIn, failureOf, secret, sourceOf } from '../support/web-world.ts';

const json = { 'content-type': 'application/json' };
const row = '{"date":"2026-01-31","amount":1.50}';
const table = { columns: ['date', 'amount'], rows: [['2026-01-31', '1.50']] };

describe('an answer of 200 that says an error is none', () => {
  test.each<[string, string]>([
    [`{"error":"rate limit exceeded","data":[${row}]}`, 'rate limit exceeded'],
    [`{"data":[${row}],"errors":[{"message":"shard 2 timed out"}]}`, '[{"message":"shard 2 timed out"}]'],
    [`{"data":[${row}],"error":{"code": "RATE_LIMIT"}}`, '{"code": "RATE_LIMIT"}'],
    [`{"error":true,"data":[],"message":"too many requests"}`, 'true: too many requests'],
    [`{"error":429,"data":[]}`, '429'],
    [`{"\\u0065rror":"a\\u001b[2Jb\\n\\"c\\"","data":[]}`, 'a [2Jb "c"'],
    [`\uFEFF \n{ "data" : [{"error":"}"},"\\\\"] , "error" : null, "error": "late" }`, 'late'],
  ])('%s', async (body, words) => {
    const error = await failureOf(await sourceOf(answer(body, json), { items: 'data' }, '/x'));
    expect(error.code).toBe('source.unreadable');
    expect(error.message).toMatch(/^http:\/\/[^ ]+: it answered 200 with an error: /);
    expect(error.message.split('with an error: ')[1]).toBe(words);
    expect(error.hint).toMatch(/it is tried again/);
  });

  test('and its words are short, without a secret', async () => {
    const body = JSON.stringify({ error: `token ${secret} ${'x'.repeat(10_000)}`, data: [] });
    const error = await failureOf(await sourceOf(answer(body, json), { items: 'data', token: secret }, '/x'));
    expect(error.message).toContain('with an error: token *** xxx');
    expect(error.message.length).toBeLessThan(400);
    expect(everythingIn(error)).not.toContain(secret);
  });

  test('also where the error stands behind many rows, and in a compressed answer', async () => {
    const rows = Array.from({ length: 50_000 }, (_, at) => `{"text":"\\"}${at}","error":"of a row"}`);
    const body = gzipSync(`{"data":[${rows.join(',')}],"error":"the rest is missing"}`);
    for (const headers of [{ ...json, 'content-encoding': 'gzip' }, json]) {
      const error = await failureOf(await sourceOf(answer(body, headers), { items: 'data' }, '/x'));
      expect(error.message).toMatch(/with an error: the rest is missing$/);
    }
  });

  test('where the document should be the list of the rows', async () => {
    const error = await failureOf(await sourceOf(answer('{"error":"no such report"}', json), {}, '/x'));
    expect(error.message).toMatch(/with an error: no such report$/);
  });
});

describe('an answer is read', () => {
  test.each(['null', 'false', '""', '0', '0.0', '[]', '[ ]', '{}', '{ }'])('whose error is %s', async (nothing) => {
    const body = `{"error":${nothing},"data":[${row}],"errors":${nothing}}`;
    expect(await readWhole(await sourceOf(answer(body, json), { items: 'data' }, '/x'))).toMatchObject(table);
  });

  test.each<[string, object]>([
    [`{"errors":[${row}]}`, { rows: '/errors' }],
    [`{"error":{"rows":[${row}]}}`, { items: 'error.rows' }],
    [`{"data":{"error":"x","rows":[${row}]}}`, { items: 'data.rows' }],
    [`[${row}]`, {}],
  ])('whose error is no such thing: %s', async (body, keys) => {
    expect(await readWhole(await sourceOf(answer(body, json), keys, '/x'))).toMatchObject(table);
  });

  test('whose rows are the entries of the document, where one is called error', async () => {
    const source = await sourceOf(answer('{"error":{"count":3},"warning":{"count":5}}', json), { keys: 'level' }, '/x');
    expect(await readWhole(source)).toMatchObject({
      columns: ['level', 'count'],
      rows: [
        ['error', '3'],
        ['warning', '5'],
      ],
    });
  });
});
