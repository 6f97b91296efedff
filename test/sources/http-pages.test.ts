/** Answers in pages. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { calm, readWhole } from '../support/source-world.ts';
import { failureOf, sourceOf } from '../support/web-world.ts';

const rows = [
  ['2026-01-31', '1.50'],
  ['2026-02-28', '007'],
  ['2026-03-31', '3'],
];
const records = rows.map(([date, amount]) => `{"date":"${date}","amount":"${amount}"}`);
const whole = { columns: ['date', 'amount'], rows };

type Answer = (
  page: number,
  url: URL,
) => { readonly body: string; readonly headers?: Record<string, string | string[]> };

/** A server whose pages are counted from 1 by the parameter `page`. */
function paged(answer: Answer, asked: string[] = []) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '', 'http://server');
    asked.push(`${url.pathname}${url.search}`);
    const { body, headers = {} } = answer(Number(url.searchParams.get('page') ?? '1'), url);
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
  };
}

const pageOf = (page: number): string => records[page - 1] ?? '';

describe('pages of json', () => {
  test.each<[string, object, Answer]>([
    [
      'the Link header',
      { pages: 'link', items: 'rows' },
      (page) => ({
        body: `{"rows":[${pageOf(page)}]}`,
        ...(page < 3 && {
          headers: { link: `</x?page=${page}>; rel="prev", </x?page=${page + 1}>; title="a, b"; rel="next last"` },
        }),
      }),
    ],
    [
      'several lines of Link',
      { pages: 'link', items: 'rows' },
      (page) => ({
        body: `{"rows":[${pageOf(page)}]}`,
        headers: { link: ['</x>; rel="first"', ...(page < 3 ? [`</x?page=${page + 1}>; rel="next"`] : [])] },
      }),
    ],
    [
      'a Link whose texts look like parameters',
      { pages: 'link', items: 'rows' },
      (page) => ({
        body: `{"rows":[${pageOf(page)}]}`,
        headers: {
          link: `</x>; rel="first", </x?page=${page + 1}>; title="a, \\"b; rel=prev"; rel=${page < 3 ? 'next' : 'last'}; rel="next"`,
        },
      }),
    ],
    [
      'an address in the answer',
      { pages: { next: '/paging/next' }, items: 'rows' },
      (page) => ({
        body: `{"rows":[${pageOf(page)}],"paging":{"next":${page < 3 ? `"/x?page=${page + 1}"` : 'null'}}}`,
      }),
    ],
    [
      'a cursor',
      { pages: { cursor: '/meta/cursor', parameter: 'page' }, items: 'rows' },
      (page) => ({ body: `{"rows":[${pageOf(page)}],"meta":{${page < 3 ? `"cursor":${page + 1}` : ''}}}` }),
    ],
    [
      'the number of the page',
      { pages: { parameter: 'page' }, rows: '/1' },
      (page) => ({ body: `[{"page":${page}},[${pageOf(page)}]]` }),
    ],
  ])('are read by %s, with the first one asked for again at the end', async (_by, keys, answer) => {
    const asked: string[] = [];
    const source = await sourceOf(paged(answer, asked), keys, '/x');
    expect(await readWhole(source)).toMatchObject(whole);
    expect(asked.at(-1)).toBe(asked[0]);
    expect(new Set(asked).size).toBeGreaterThanOrEqual(3);
  });

  test('have the columns of all of them together', async () => {
    const bodies = ['{"a":1}', '{"b":2}'];
    const answer: Answer = (page) => ({ body: `[${bodies[page - 1] ?? ''}]` });
    const source = await sourceOf(paged(answer), { pages: { parameter: 'page' } }, '/x');
    expect(await readWhole(source)).toMatchObject({
      columns: ['a', 'b'],
      rows: [
        ['1', ''],
        ['', '2'],
      ],
    });
  });

  test('are read where what stands around their rows is new in each answer', async () => {
    let request = 0;
    const answer: Answer = (page) => ({
      body: `{"request":${++request},"rows":[${pageOf(page)}],"next":${page < 3 ? `"/x?page=${page + 1}&r=${request}"` : 'null'}}`,
    });
    const source = await sourceOf(paged(answer), { pages: { next: '/next' }, items: 'rows' }, '/x');
    expect(await readWhole(source)).toMatchObject(whole);
    const moving: Answer = (page) => ({
      ...answer(page, new URL('http://x')),
      ...(page === 1 && request > 8 && { body: '{"rows":[]}' }),
    });
    request = 6;
    const error = await failureOf(await sourceOf(paged(moving), { pages: { next: '/next' }, items: 'rows' }, '/x'));
    expect(error.message).toContain('its first page changed while the others were read');
  });

  test('have a hash of their content', async () => {
    const answer: Answer = (page) => ({ body: `[${pageOf(page)}]` });
    const source = await sourceOf(paged(answer), { pages: { parameter: 'page' } }, '/x');
    const [one, two] = [await readWhole(source), await readWhole(source)];
    expect(one.content.hash).toBe(two.content.hash);
    expect(one.content.version).not.toBe(two.content.version);
  });
});

test.each([{ pages: { parameter: 'page' } }, { pages: 'link' }])(
  'pages of JSON lines have the columns of all of them together, and the last one may be empty: $pages',
  async (keys) => {
    const bodies = ['{"a":1}\n', '{"a":2,"note":"x"}\n{"b":3,"a":4}', ''];
    const answer: Answer = (page) => ({
      body: bodies[page - 1] ?? '',
      headers: {
        'content-type': 'application/x-ndjson',
        ...(keys.pages === 'link' && page < 3 && { link: `<?page=${page + 1}>; rel=next` }),
      },
    });
    expect(await readWhole(await sourceOf(paged(answer), keys, '/x'))).toMatchObject({
      columns: ['a', 'note', 'b'],
      rows: [
        ['1', '', ''],
        ['2', 'x', ''],
        ['4', '', '3'],
      ],
    });
  },
);

test('a page of JSON lines that is damaged is named by its line', async () => {
  const answer: Answer = (page) => ({
    body: page === 2 ? '{"a":1}\n{"a":' : '{"a":1}\n',
    headers: { 'content-type': 'application/x-ndjson', ...(page < 2 && { link: '<?page=2>; rel=next' }) },
  });
  const error = await failureOf(await sourceOf(paged(answer), { pages: 'link' }, '/x'));
  expect(error.message).toMatch(/line 2: /);
});

test('pages of csv are one table', async () => {
  const answer: Answer = (page) => ({
    body: `date,amount\n${(rows[page - 1] ?? []).join(',')}\n`,
    headers: { 'content-type': 'text/csv', ...(page < 3 && { link: `<?page=${page + 1}>; rel=next` }) },
  });
  expect(await readWhole(await sourceOf(paged(answer), { pages: 'link' }, '/x'))).toMatchObject(whole);
  const other: Answer = (page, url) => {
    const given = answer(page, url);
    return page === 2 ? { ...given, body: given.body.replace('amount', 'units') } : given;
  };
  const error = await failureOf(await sourceOf(paged(other), { pages: 'link' }, '/x'));
  expect(error.message).toBe('page 2 has other columns than the first: date, units');
});

describe('pages that do not end with a line end', () => {
  /** Pages of lines, each with a line end or without. */
  const linesOf =
    (type: string, ends: readonly string[]): Answer =>
    (page) => ({
      body: `${type === 'text/csv' ? `date,amount\n${(rows[page - 1] ?? []).join(',')}` : pageOf(page)}${ends[page - 1]}`,
      headers: { 'content-type': type, ...(page < ends.length && { link: `<?page=${page + 1}>; rel=next` }) },
    });

  test.each<[readonly string[], string]>([
    [['\n', '', '\n'], 'page 2 ends without a line end, and page 1 has one'],
    [['', '\n'], 'page 1 ends without a line end, and page 2 has one'],
  ])('may be half of one where another one has one: %j', async (ends, message) => {
    const error = await failureOf(await sourceOf(paged(linesOf('text/csv', ends)), { pages: 'link' }, '/x'));
    expect(error).toMatchObject({ code: 'part.unreadable', message });
  });

  test('are whole with lineEnd: any', async () => {
    const answer = linesOf('text/csv', ['\n', '', '\n']);
    const read = await readWhole(await sourceOf(paged(answer), { pages: 'link', lineEnd: 'any' }, '/x'));
    expect(read).toMatchObject(whole);
    expect(read.content.endsWithLineEnd).toBeUndefined();
  });

  test.each<[string, readonly string[], boolean]>([
    ['text/csv', ['\n', '\n'], true],
    ['text/csv', ['', ''], false],
    ['application/x-ndjson', ['\n', '\n'], true],
    // Where a record ends is seen without one.
    ['application/x-ndjson', ['\n', ''], false],
  ])('are said to be such: %s %j', async (type, ends, endsWithLineEnd) => {
    const { content } = await readWhole(await sourceOf(paged(linesOf(type, ends)), { pages: 'link' }, '/x'));
    expect(content.endsWithLineEnd).toBe(endsWithLineEnd);
  });
});

test('pages of csv that have line ends between their lines alone end with one that is the header', async () => {
  const answer: Answer = (page) => ({
    body: `date,amount\n${(rows[page - 1] ?? []).join(',')}`,
    headers: { 'content-type': 'text/csv' },
  });
  const read = await readWhole(await sourceOf(paged(answer), { pages: { parameter: 'page' } }, '/x'));
  expect(read).toMatchObject({ ...whole, content: { endsWithLineEnd: false } });
});

describe('nothing of the pages counts', () => {
  const linked: Answer = (page) => ({
    body: `[${pageOf(page)}]`,
    ...(page < 3 && { headers: { link: `</x?page=${page + 1}>; rel="next"` } }),
  });

  test.each<[string, object, Answer, RegExp]>([
    [
      'where they go in a circle',
      { pages: 'link' },
      () => ({ body: '[]', headers: { link: '</x>; rel=next' } }),
      /leads back to an earlier one$/,
    ],
    [
      'where they never end',
      { pages: 'link' },
      (page) => ({ body: '[]', headers: { link: `</x?page=${page + 1}>; rel=next` } }),
      /more than 1000 pages$/,
    ],
    ['where one is no JSON', { pages: { next: '/next' } }, () => ({ body: 'soon' }), /is not JSON/],
    [
      'where what should hold the next address is missing',
      { pages: { next: '/paging/next' } },
      () => ({ body: '{}' }),
      /has nothing at \/paging$/,
    ],
    [
      'where the next address is none',
      { pages: { next: '/next' } },
      () => ({ body: '{"next":"ftp://x"}' }),
      /is no address/,
    ],
    ['where nobody asked for pages', {}, linked, /one page of several/],
  ])('%s', async (_why, keys, answer, message) => {
    const error = await failureOf(await sourceOf(paged(answer), keys, '/x'));
    expect(error.message).toMatch(message);
  });

  test('where one fails', async () => {
    const source = await sourceOf(
      (request, response) => {
        if (request.url?.includes('page=3') === true) response.writeHead(500).end();
        else paged(linked)(request, response);
      },
      { pages: 'link' },
      '/x',
    );
    expect((await failureOf(source)).message).toMatch(/^page 3 of http:.*500 Internal Server Error/);
  });

  test.each<[string, object]>([
    ['where one says an error instead of a next page', { next: '/next' }],
    ['where one says an error instead of a cursor', { cursor: '/next', parameter: 'page' }],
    ['where one says an error instead of rows', { parameter: 'page' }],
  ])('%s', async (_why, pages) => {
    const answer: Answer = (page) => ({
      body:
        page === 3
          ? '{"error":{"code":"RATE_LIMIT"},"rows":[]}'
          : `{"rows":[${pageOf(page)}],"next":${'next' in pages ? `"/x?page=${page + 1}"` : page + 1}}`,
    });
    const error = await failureOf(await sourceOf(paged(answer), { pages, items: 'rows' }, '/x'));
    expect(error.code).toBe('source.unreadable');
    expect(error.message).toMatch(/^page 3 of http:.*: it answered 200 with an error: \{"code":"RATE_LIMIT"\}$/);
  });

  test('where the first one changed while the others were read', async () => {
    let asked = 0;
    const answer: Answer = (page, url) =>
      page === 1 && asked++ > 0 ? { body: '[{"date":"new"}]' } : linked(page, url);
    const error = await failureOf(await sourceOf(paged(answer), { pages: 'link' }, '/x'));
    expect(error.message).toContain('its first page changed while the others were read');
  });

  test('where they are too much together', async () => {
    const error = await failureOf(await sourceOf(paged(linked), { pages: 'link', expandedMax: '100B' }, '/x'));
    expect(error.message).toMatch(/has more than \d+ bytes \(expandedMax\)$/);
  });
});

describe('a first page', () => {
  /** What is said of pages whose pages name the next one under `next`. */
  async function warningsOf(pages: object, first: string): Promise<readonly string[] | undefined> {
    const answer: Answer = (page) => ({ body: page === 1 ? first : '{"rows":[]}' });
    const source = await sourceOf(paged(answer), { pages, items: 'rows' }, '/x');
    await readWhole(source);
    return source.warnings?.();
  }

  test.each<[object, string, string]>([
    [{ next: '/nxt' }, '{"rows":[],"next":"/x?page=2"}', '/nxt'],
    [{ next: '/paging/nxt' }, '{"rows":[],"paging":{"next":"/x?page=2"}}', '/paging/nxt'],
    [{ cursor: '/cursr', parameter: 'page' }, '{"rows":[],"cursor":2}', '/cursr'],
  ])('that has nothing where %j points is taken as the only one, which is said', async (pages, body, pointer) => {
    expect(await warningsOf(pages, body)).toEqual([
      `the first page has nothing at ${pointer}, so it is taken as the only one: is that where a next one is named?`,
    ]);
  });

  test.each<[object, string]>([
    [{ next: '/next' }, '{"rows":[],"next":null}'],
    [{ next: '/next' }, '{"rows":[],"next":"/x?page=2"}'],
    [{ cursor: '/cursor', parameter: 'page' }, '{"rows":[],"cursor":""}'],
  ])('that is the only one, or names a next one as %j says, is no more than that: %s', async (pages, body) => {
    expect(await warningsOf(pages, body)).toEqual([]);
  });
});

test('a look at pages asks for nothing, so that the read is of one moment', async () => {
  const asked: string[] = [];
  const source = await sourceOf(
    paged(() => ({ body: '[]' }), asked),
    { pages: 'link' },
    '/x',
  );
  await source.parts(calm);
  expect(asked).toEqual([]);
});
