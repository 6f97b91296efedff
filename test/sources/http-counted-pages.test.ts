/** Pages that are counted: by their number, or by their rows. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { openSource, readWhole } from '../support/source-world.ts';
import { failureOf, sourceOf } from '../support/web-world.ts';

const all = Array.from({ length: 7 }, (_, at) => `{"id":"${at}"}`);
const ids = all.map((_row, at) => [String(at)]);

/** A server that gives at most `most` of its rows from the one that `offset` counts. */
async function counting(
  { most, rows = all, first = 0 }: { most: number; rows?: readonly string[]; first?: number },
  pages: object,
  asked: number[] = [],
): Promise<Source> {
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const offset = Number(new URL(request.url ?? '', 'http://server').searchParams.get('offset'));
    asked.push(offset);
    const body = rows.slice(offset - first, offset - first + most);
    response.writeHead(200, { 'content-type': 'application/json' }).end(`[${body.join(',')}]`);
  };
  return sourceOf(handle, { pages: { parameter: 'offset', ...pages } }, '/x');
}

describe('a parameter that counts rows', () => {
  test('grows by the rows of a page, until one has none', async () => {
    const asked: number[] = [];
    const source = await counting({ most: 3 }, { from: 0, step: 3 }, asked);
    expect((await readWhole(source)).rows).toEqual(ids);
    expect(asked).toEqual([0, 3, 6, 7, 0]);
  });

  test('may begin at 1', async () => {
    const asked: number[] = [];
    const source = await counting({ most: 3, rows: all.slice(0, 6), first: 1 }, { from: 1, step: 3 }, asked);
    expect((await readWhole(source)).rows).toEqual(ids.slice(0, 6));
    expect(asked).toEqual([1, 4, 7, 1]);
  });

  test.each([
    ['fewer', 2, all, 'page 1 has 2 rows, and step says 3'],
    ['fewer, and all that are left', 2, all.slice(0, 3), 'page 1 has 2 rows, and step says 3'],
    ['more', 4, all, 'page 1 has 4 rows, and step says 3'],
  ])('jumps over no rows where a page has %s than step says', async (_than, most, rows, message) => {
    const error = await failureOf(await counting({ most, rows }, { from: 0, step: 3 }));
    expect(error.message).toMatch(new RegExp(`^http:[^ ]*: ${message}$`));
    expect(error.hint).toBe('set step to the rows that the server gives on a page');
  });

  test.each(['offset', 'skip', 'start', 'startIndex', 'startAt', '$skip', 'page[offset]'])(
    'is not counted as pages: %s',
    (parameter) => {
      const open = (pages: object): Source => openSource('http', { url: 'https://x/y.json', pages }, '/');
      expect(() => open({ parameter, from: 0 })).toThrow('the parameter counts rows by its name, and there is no step');
      expect(() => open({ parameter, step: 100 })).toThrow('step, and no from');
      expect(() => open({ parameter, from: 0, step: 100 })).not.toThrow();
    },
  );

  test('counts pages all the same where its step is 1', async () => {
    const handle = (request: IncomingMessage, response: ServerResponse): void => {
      const page = Number(new URL(request.url ?? '', 'http://server').searchParams.get('start'));
      const body = `[${all.slice(page * 3, page * 3 + 3).join(',')}]`;
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    };
    const source = await sourceOf(handle, { pages: { parameter: 'start', from: 0, step: 1 } }, '/x');
    expect((await readWhole(source)).rows).toEqual(ids);
  });
});

test.each([
  ['does not know the parameter', () => 1, 'page 2 is the same as page 1'],
  ['gives its last page again', (page: number) => Math.min(page, 3), 'page 4 is the same as page 3'],
])('nothing of counted pages counts where the server %s', async (_what, pageOf, message) => {
  const asked: string[] = [];
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    asked.push(request.url ?? '');
    const page = pageOf(Number(new URL(request.url ?? '', 'http://server').searchParams.get('page')));
    response.writeHead(200, { 'content-type': 'application/json' }).end(`[{"page":${page}}]`);
  };
  const error = await failureOf(await sourceOf(handle, { pages: { parameter: 'page' } }, '/x'));
  expect(error.message).toMatch(new RegExp(`: ${message}$`));
  expect(error.hint).toContain('the server may not know the parameter page');
  expect(asked).toHaveLength(Number(/^page (\d)/.exec(message)![1]));
});
