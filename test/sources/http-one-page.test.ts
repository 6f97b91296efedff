/** Answers that are one page of several, where the config says nothing of pages. */
import { describe, expect, test } from 'vitest';
import { readWhole } from '../support/source-world.ts';
import { answer, failureOf, sourceOf } from '../support/web-world.ts';

const json = { 'content-type': 'application/json' };
const table = { columns: ['date', 'amount'], rows: [['2026-01-31', '1.50']] };
const bodyWith = (more: string): string => `{"data":[{"date":"2026-01-31","amount":1.50,"next":"/row"}],${more}}`;

describe('an answer is one page of several', () => {
  test.each<[string, string]>([
    ['"@odata.nextLink":"https://books.example/orders?$skiptoken=2"', '@odata.nextLink'],
    ['"nextLink":"https:\\/\\/books.example\\/orders"', 'nextLink'],
    ['"next":"/orders?page=2"', 'next'],
    ['"next_url":"?page=2"', 'next_url'],
    ['"next_page_url":"orders?page=2"', 'next_page_url'],
  ])('where it names a next one: %s', async (more, key) => {
    const error = await failureOf(await sourceOf(answer(bodyWith(more), json), { items: 'data' }, '/x'));
    expect(error.code).toBe('source.unreadable');
    expect(error.message).toMatch(/: the answer is one page of several: its "[^"]*" names a next one$/);
    expect(error.message).toContain(`its "${key}"`);
    expect(error.hint).toContain(`say pages: { next: /${key} } to read all of them`);
  });

  test.each(['has_more', 'hasMore', 'hasNextPage', 'has_next'])('where its %s is true', async (key) => {
    const body = bodyWith(`"total":60,"${key}": true`);
    const error = await failureOf(await sourceOf(answer(body, json), { items: 'data' }, '/x'));
    expect(error.message).toMatch(new RegExp(`: the answer is one page of several: its "${key}" is true$`));
    expect(error.hint).toContain('say with pages how the next one is found');
  });

  test('and pages: one says that it is all, also beside a Link', async () => {
    const handle = answer(bodyWith('"next":"/orders?page=2","has_more":true'), {
      ...json,
      link: '</x?page=2>; rel=next',
    });
    const error = await failureOf(await sourceOf(handle, { items: 'data' }, '/x'));
    expect(error.message).toMatch(/: its Link names a next one$/);
    expect(error.hint).toContain('pages: one says that this one is all');
    const read = await readWhole(await sourceOf(handle, { items: 'data', pages: 'one' }, '/x'));
    expect(read).toMatchObject({ columns: ['date', 'amount', 'next'], rows: [['2026-01-31', '1.50', '/row']] });
  });

  test('whose version is as cheap as that of any other where pages: one says that it is all', async () => {
    const handle = answer('date\n2026-01-31\n', {
      'content-type': 'text/csv',
      etag: '"a"',
      link: '<?page=2>; rel=next',
    });
    const source = await sourceOf(handle, { pages: 'one' }, '/x');
    expect((await readWhole(source)).content.version).toBe('{"etag":"\\"a\\""}');
  });
});

test.each([
  '"next":null',
  '"next":""',
  '"next":2',
  '"next":"March"',
  '"next":{"page":2}',
  '"has_more":false',
  '"hasMore":"true"',
  '"links":{"next":"/of/something/else"}',
])('an answer is all there is where it says no more than %s', async (more) => {
  const source = await sourceOf(answer(bodyWith(more).replace(',"next":"/row"', ''), json), { items: 'data' }, '/x');
  expect(await readWhole(source)).toMatchObject(table);
});

test('an answer names no next page where each of its keys is that of a row', async () => {
  const source = await sourceOf(answer('{"next":"/a","has_more":true}', json), { keys: 'name' }, '/x');
  expect((await readWhole(source)).rows).toEqual([
    ['next', '/a'],
    ['has_more', 'true'],
  ]);
});
