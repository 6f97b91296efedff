import { once } from 'node:events';
import { readdir, stat, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import path from 'node:path';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import type { Part } from '../../src/core/model.ts';
import type { Source } from '../../src/core/ports.ts';
import { webPlaceOf } from '../../src/sources/web/keys.ts';
import { spool } from '../../src/sources/web/spool.ts';
import { Web } from '../../src/sources/web/web.ts';
import { rawReceiver, receiver } from '../support/destination-world.ts';
import { calm, openSource, readWhole, tempDir } from '../support/source-world.ts';
import { answer, csv, failureOf, secret, sourceOf, table } from '../support/web-world.ts';

const jsonTable = { columns: ['date', 'amount'], rows: [['2026-01-31', '1.50']] };

async function readTwice(source: Source): Promise<{ first: Part; second: Part }> {
  const [first] = await source.parts(calm);
  const { content } = await readWhole(source, first);
  expect(content.version).toBe(first!.version);
  const [second] = await source.parts(calm, new Map([[first!.name, content.version]]));
  return { first: first!, second: second! };
}

test('an answer that names a next page is not all there is', async () => {
  const base = await receiver((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv', link: '</report?page=2>; rel="next"' }).end(csv);
  });
  const source = openSource('http', { url: `${base}/report` }, await tempDir());
  await expect(source.parts(calm)).rejects.toMatchObject({
    code: 'source.unreadable',
    message: expect.stringContaining('one page of several') as string,
  });
});

test.each([
  [{}, false],
  [{ lineEnd: 'any' }, undefined],
])('an answer that does not end with a line end says so, unless such answers are whole: %j', async (keys, ends) => {
  const { content } = await readWhole(await sourceOf(answer(csv.trimEnd(), { 'content-type': 'text/csv' }), keys));
  expect(content.endsWithLineEnd).toBe(ends);
});

describe('what is asked', () => {
  /** What a server is sent for these keys. */
  async function askedWith(keys: object, user = ''): Promise<IncomingHttpHeaders> {
    let asked: IncomingHttpHeaders = {};
    const base = await receiver((request, response) => {
      asked = { ...request.headers, ':path': request.url };
      response.writeHead(200, { 'content-type': 'text/csv' }).end(csv);
    });
    const url = `${base.replace('//', `//${user}`)}/a%20report?from=2026&key=${secret}`;
    const source = openSource('http', { url, ...keys }, await tempDir());
    expect(await readWhole(source)).toMatchObject(table);
    return asked;
  }

  test('is the address as it is written, with its query', async () => {
    expect(await askedWith({})).toMatchObject({ ':path': `/a%20report?from=2026&key=${secret}` });
  });

  test('carries user and password of the address as Basic authorization', async () => {
    const { authorization } = await askedWith({}, 'ann%40example:p%C3%A4ss@');
    expect(authorization).toBe(`Basic ${Buffer.from('ann@example:päss').toString('base64')}`);
  });

  test('carries a token, or what is in its file without the line end', async () => {
    expect(await askedWith({ token: secret })).toMatchObject({ authorization: `Bearer ${secret}` });
    const file = path.join(await tempDir(), 'token');
    await writeFile(file, `${secret}\n`);
    expect(await askedWith({ tokenFile: file })).toMatchObject({ authorization: `Bearer ${secret}` });
  });

  test('carries headers of your own', async () => {
    const asked = await askedWith({ headers: { 'X-Api-Key': secret, Accept: 'text/csv;v=2' } });
    expect(asked).toMatchObject({ 'x-api-key': secret, accept: 'text/csv;v=2' });
  });

  test('prefers the format that is wanted', async () => {
    expect(await askedWith({ format: 'csv' })).toMatchObject({ accept: 'text/csv, */*;q=0.1' });
  });
});

describe('the format', () => {
  const jsonl = '{"date":"2026-01-31","amount":1.50}\n';
  const json = '[{"date":"2026-01-31","amount":1.50}]';

  test.each([
    ['text/csv; charset=utf-8', '/x', csv, table],
    ['text/tab-separated-values', '/x', csv.replaceAll(',', '\t'), table],
    ['application/x-ndjson', '/x', jsonl, jsonTable],
    ['application/json', '/x.csv', json, jsonTable],
    ['application/vnd.reports+json', '/x', json, jsonTable],
    ['application/octet-stream', '/x.jsonl', jsonl, jsonTable],
    ['text/plain', '/x.CSV?version=2', csv, table],
  ])('of a Content-Type %s at %s is told', async (type, at, body, expected) => {
    const source = await sourceOf(answer(body, { 'content-type': type }), {}, at);
    expect(await readWhole(source)).toMatchObject(expected);
  });

  test('is what the config says, whatever the server calls it', async () => {
    const source = await sourceOf(answer(csv, { 'content-type': 'text/html' }), { format: 'csv' });
    expect(await readWhole(source)).toMatchObject(table);
  });

  test('that nothing tells is a failure that says what to set', async () => {
    const source = await sourceOf(answer(csv, { 'content-type': 'application/octet-stream' }), {}, '/export');
    await expect(source.parts(calm)).rejects.toMatchObject({
      code: 'source.unreadable',
      message: expect.stringContaining('application/octet-stream'),
      hint: 'set format to one of csv, tsv, jsonl, json',
    });
  });

  test('reads json at a path, and its numbers as they are written', async () => {
    const body = '{"meta":{},"result":{"rows":[{"amount":12345678901234567890.10},{"amount":1e2}]}}';
    const source = await sourceOf(answer(body, { 'content-type': 'application/json' }), { items: 'result.rows' });
    expect((await readWhole(source)).rows).toEqual([['12345678901234567890.10'], ['1e2']]);
  });

  test('takes the keys of delimited text', async () => {
    const body = 'a report\ndate;amount\n2026-01-31;1,50\ntotal;1,50\n';
    const source = await sourceOf(answer(body), { delimiter: ';', skipRows: 1, footer: 1 });
    expect(await readWhole(source)).toMatchObject({ columns: ['date', 'amount'], rows: [['2026-01-31', '1,50']] });
  });

  test('is in the charset of the Content-Type, unless the config says otherwise', async () => {
    const body = Buffer.from('name\nM\xfcller\n', 'latin1');
    const type = { 'content-type': 'text/csv; charset="ISO-8859-1"' };
    expect((await readWhole(await sourceOf(answer(body, type)))).rows).toEqual([['Müller']]);
    const own = await sourceOf(answer(body, type), { encoding: 'cp850' });
    expect((await readWhole(own)).rows).toEqual([['M³ller']]);
  });

  test('is not read in an unknown charset', async () => {
    const failure = await failureOf(await sourceOf(answer(csv, { 'content-type': 'text/csv; charset=x-mine' })));
    expect(failure).toMatchObject({ code: 'part.unreadable', message: expect.stringContaining('x-mine') });
  });
});

describe('what has not changed', () => {
  /** A server that knows the version of its report. */
  async function reportServer(version: Record<string, string>): Promise<{ source: Source; statuses: number[] }> {
    const statuses: number[] = [];
    const source = await sourceOf((request, response) => {
      const { 'if-none-match': tag, 'if-modified-since': date } = request.headers;
      const isSame =
        tag === undefined ? date !== undefined && date === version['last-modified'] : tag === version['etag'];
      statuses.push(isSame ? 304 : 200);
      response.writeHead(isSame ? 304 : 200, version).end(isSame ? '' : csv);
    });
    return { source, statuses };
  }

  test('by its ETag is asked about and not read again', async () => {
    const version = { etag: '"v1"' };
    const { source, statuses } = await reportServer(version);
    const { first, second } = await readTwice(source);
    expect(second.version).toBe(first.version);
    version.etag = '"v2"';
    const [third] = await source.parts(calm, new Map([[first.name, first.version]]));
    expect(third!.version).not.toBe(first.version);
    expect(statuses).toEqual([200, 304, 200]);
  });

  test('by its date is asked about and not read again, and is as old as that', async () => {
    const { source, statuses } = await reportServer({ 'last-modified': 'Mon, 05 Jan 2026 10:00:00 GMT' });
    const { first, second } = await readTwice(source);
    expect(second).toEqual(first);
    expect(first.revisedAtMs).toBe(Date.UTC(2026, 0, 5, 10));
    expect(statuses).toEqual([200, 304]);
  });

  test('by a date of this very second says nothing: it may change within it', async () => {
    const now = 'Mon, 05 Jan 2026 10:00:00 GMT';
    const { source, statuses } = await reportServer({ 'last-modified': now, date: now });
    const { first, second } = await readTwice(source);
    expect(second.version).not.toBe(first.version);
    expect(statuses).toEqual([200, 200]);
  });

  test.each([
    { etag: '"v1"' },
    { etag: 'W/"v1"' },
    { etag: '"v1"', 'last-modified': 'Mon, 05 Jan 2026 10:00:00 GMT' },
    { 'last-modified': 'Mon, 05 Jan 2026 10:00:00 GMT' },
  ])('by the version of an answer in full is read: the server was asked and sends the content: %j', async (version) => {
    let body = csv;
    const source = await sourceOf((_request, response) => response.writeHead(200, version).end(body));
    const { first, second } = await readTwice(source);
    expect(second.version).not.toBe(first.version);
    body = 'date,amount\n2026-01-31,2\n';
    const [third] = await source.parts(calm, new Map([[second.name, second.version]]));
    expect(third!.version).not.toBe(second.version);
    const { rows, content } = await readWhole(source, third);
    expect(rows).toEqual([['2026-01-31', '2']]);
    expect(content.version).toBe(third!.version);
  });

  test('is asked by the same tag after an answer in full', async () => {
    const asked: unknown[] = [];
    const source = await sourceOf((request, response) => {
      asked.push(request.headers['if-none-match']);
      response.writeHead(200, { etag: '"v1"' }).end(csv);
    });
    const { second } = await readTwice(source);
    await source.parts(calm, new Map([[second.name, second.version]]));
    expect(asked).toEqual([undefined, '"v1"', '"v1"']);
  });

  test('cannot be told of a server that says nothing of versions: it is read each time', async () => {
    const source = await sourceOf(answer(csv));
    const { first, second } = await readTwice(source);
    expect(second.version).not.toBe(first.version);
    const hashes = [await readWhole(source), await readWhole(source)].map(({ content }) => content.hash);
    expect(hashes[0]).toBe(hashes[1]);
  });
});

describe('an answer', () => {
  test('that a look asked for is the one that is read', async () => {
    let asked = 0;
    const source = await sourceOf((_request, response) => response.end(`amount\n${++asked}\n`));
    const [part] = await source.parts(calm);
    expect((await readWhole(source, part)).rows).toEqual([['1']]);
    expect((await readWhole(source, part)).rows).toEqual([['2']]);
  });

  test.each([
    ['gzip', gzipSync(csv)],
    ['x-gzip', gzipSync(csv)],
    ['br', brotliCompressSync(csv)],
    ['zstd', zstdCompressSync(csv)],
    ['zstd', Buffer.concat([zstdCompressSync(csv.slice(0, 20)), zstdCompressSync(csv.slice(20))])],
    ['gzip, br', brotliCompressSync(gzipSync(csv))],
    ['identity', Buffer.from(csv)],
  ])('in content-encoding %s is expanded, and its hash is that of the text', async (coding, body) => {
    const plain = await readWhole(await sourceOf(answer(csv)));
    const coded = await readWhole(await sourceOf(answer(body, { 'content-encoding': coding })));
    expect(coded).toMatchObject(table);
    expect(coded.content.hash).toBe(plain.content.hash);
  });

  test('that is an archive is read as what is in it', async () => {
    const gzip = await sourceOf(answer(gzipSync(csv), { 'content-type': 'application/gzip' }), {}, '/x.csv.gz');
    expect(await readWhole(gzip)).toMatchObject(table);
    const zstd = await sourceOf(answer(zstdCompressSync(csv), { 'content-type': 'text/csv' }), {}, '/x');
    expect(await readWhole(zstd)).toMatchObject(table);
  });

  test('stands in a private file while it is read, which is gone after it', async () => {
    const temporary = await tempDir();
    vi.stubEnv('TMPDIR', temporary);
    const spools = async (): Promise<string[]> =>
      (await readdir(temporary)).filter((name) => name.startsWith('driver-sync-'));
    const source = await sourceOf(answer(csv));
    const [part] = await source.parts(calm);
    const whole = await readWhole(source, part, async () => {
      const [directory] = await spools();
      const modes = [directory!, path.join(directory!, 'body')].map((name) => stat(path.join(temporary, name)));
      expect((await Promise.all(modes)).map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o600]);
    });
    expect(whole).toMatchObject(table);
    for await (const _batch of source.rows(part!, calm)) break;
    await failureOf(await sourceOf(answer('a,a\n')));
    await failureOf(await sourceOf(answer(csv), { expandedMax: '10B' }));
    expect(await spools()).toEqual([]);
  });

  test('larger than expandedMax is refused, also where it is so only once expanded', async () => {
    const large = `date,amount\n${'2026-01-31,1\n'.repeat(10_000)}`;
    const bodies = [answer(large), answer(gzipSync(large), { 'content-encoding': 'gzip' }), answer(gzipSync(large))];
    for (const handle of bodies) {
      const source = await sourceOf(handle, { expandedMax: '100kB' });
      expect(await failureOf(source)).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringMatching(/more than 100000 bytes \(expandedMax\)/),
      });
    }
  });

  test.each([
    ['gzip', gzipSync(csv)],
    ['br', brotliCompressSync(csv)],
    ['zstd', zstdCompressSync(csv)],
  ])('whose %s is cut short is refused', async (coding, body) => {
    const source = await sourceOf(answer(body.subarray(0, -4), { 'content-encoding': coding }));
    expect(await failureOf(source)).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringContaining('is cut short'),
    });
  });

  test.each([
    ['gzip', gzipSync(csv)],
    ['br', brotliCompressSync(csv)],
    ['zstd', zstdCompressSync(csv)],
  ])('whose %s has something behind its end is refused', async (coding, body) => {
    const source = await sourceOf(answer(Buffer.concat([body, Buffer.from('junk')]), { 'content-encoding': coding }));
    expect(await failureOf(source)).toMatchObject({ code: 'part.unreadable' });
  });

  test('in a content-encoding that nobody asked for is refused', async () => {
    const source = await sourceOf(answer(csv, { 'content-encoding': 'compress' }));
    expect(await failureOf(source)).toMatchObject({
      code: 'part.unreadable',
      message: 'the answer comes in a content-encoding other than gzip, br, zstd',
    });
  });

  test.each([
    [
      'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n',
      /^http:.*: the answer did not come whole \(\d+ of 100 bytes were read\): the connection was cut/,
    ],
    [
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2c\r\n',
      /^http:.*: the answer did not come whole \(\d+ bytes were read\): the connection was cut/,
    ],
  ])('whose connection is cut is never half a read', async (head, message) => {
    const base = await rawReceiver((socket) => socket.end(`${head}${csv}`));
    const source = openSource('http', { url: `${base}/x.csv` }, await tempDir());
    const failure = await failureOf(source);
    expect(failure.code).toBe('part.unreadable');
    expect(failure.message).toMatch(message);
  });

  test('that stalls is refused', async () => {
    const url = `${await receiver((_request, response) => response.write(csv))}/x.csv`;
    const web = await Web.open(webPlaceOf({ url, headers: {} }, '/'), calm, { silenceMs: 50 });
    const place = new URL(url);
    const stalled = await web.get(place, { headers: {}, statuses: [200] }, calm);
    await expect(spool(web, stalled, 1000, calm)).rejects.toMatchObject({
      code: 'part.unreadable',
      message: `${place.origin}: the answer did not come whole (${csv.length} bytes were read): no byte moved for 0.05 s`,
    });
    web.destroy();
  });

  test('that stalls ends with the signal, and its connection with it', async () => {
    const closed = Promise.withResolvers<void>();
    const source = await sourceOf((_request, response) => {
      response.on('close', closed.resolve);
      response.write(csv);
    });
    const [part] = await source.parts(calm);
    const controller = new AbortController();
    const reason = new Error('enough');
    const reading = source.rows(part!, controller.signal).next();
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    await closed.promise;
  });

  test('that breaks while it waits to be read is asked for again', async () => {
    const [open] = [Promise.withResolvers<ServerResponse>()];
    let asked = 0;
    const source = await sourceOf((_request, response) => {
      if (++asked > 1) return void response.end(csv);
      response.writeHead(200, { 'content-length': '1000' }).write(csv);
      open.resolve(response);
    });
    const controller = new AbortController();
    const [part] = await source.parts(controller.signal);
    controller.abort();
    await once(await open.promise, 'close');
    expect(await readWhole(source, part)).toMatchObject(table);
  });
});
