/** Files in buckets: what is listed, what is read, and what never counts. */
import { readdir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { type S3Server, etagOf, fail, s3Keys, s3Server } from '../support/s3-server.ts';
import { calm, laterClock, openSource, openSourceIn, readWhole, tempDir } from '../support/source-world.ts';
import { csv, everythingIn, failureOf, table } from '../support/web-world.ts';
import { judged, world } from '../support/world.ts';

function sourceIn(server: S3Server, files: readonly string[], keys: object = {}, dir = '/'): Source {
  const s3 = { endpoint: server.endpoint, ...s3Keys };
  return openSource('csv', { files, s3, ...keys }, dir, laterClock(0));
}

/** A server with these keys, each with the table. */
async function bucketOf(...keys: readonly string[]): Promise<S3Server> {
  const server = await s3Server();
  for (const key of keys) server.objects.set(key, csv);
  return server;
}

async function names(source: Source): Promise<readonly string[]> {
  return (await source.parts(calm)).map(({ name }) => name);
}

describe('files in a bucket', () => {
  test('are read like any others', async () => {
    const server = await bucketOf('finance/revenue-2026-01.csv');
    server.objects.set('finance/revenue-2026-02.csv.gz', gzipSync(csv));
    const source = sourceIn(server, ['s3://exports/finance/*']);
    const parts = await source.parts(calm);
    expect(parts).toEqual([
      {
        name: 's3://exports/finance/revenue-2026-01.csv',
        version: `${etagOf(csv)} ${csv.length}`,
        revisedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5),
      },
      expect.objectContaining({ name: 's3://exports/finance/revenue-2026-02.csv.gz' }),
    ]);
    for (const part of parts) expect(await readWhole(source, part)).toMatchObject(table);
  });

  test('are those that a pattern names, as it would name local ones', async () => {
    const server = await bucketOf('a/x.csv', 'a/.x.csv', 'a/~$x.csv', 'a/b/y.csv', 'a/b/c/z.csv', 'a/x.txt', 'a/b/');
    const found = async (...files: string[]) =>
      (await names(sourceIn(server, files))).map((name) => name.replace('s3://exports/', ''));
    expect(await found('s3://exports/a/*.csv')).toEqual(['a/x.csv']);
    expect(await found('s3://exports/a/x.csv')).toEqual(['a/x.csv']);
    expect(await found('s3://exports/a/*/*.csv')).toEqual(['a/b/y.csv']);
    expect(await found('s3://exports/**/*.csv')).toEqual(['a/b/c/z.csv', 'a/b/y.csv', 'a/x.csv']);
    expect(await found('s3://exports/a/[x]*.{csv,txt}')).toEqual(['a/x.csv', 'a/x.txt']);
    expect(await found('s3://exports/a/*.csv', 's3://exports/a/x*')).toEqual(['a/x.csv', 'a/x.txt']);
  });

  test('may have any names', async () => {
    const odd = ['a+b %20&=?#', "it's (1)!*", 'ü 😀 日本', 'tab\tand\nline', '<&>"', '%', 'a//b', '\u0001', '$(x);'];
    const server = await s3Server();
    for (const name of odd) server.objects.set(`odd/${name}.csv`, csv.replace('1.50', String(odd.indexOf(name))));
    const source = sourceIn(server, ['s3://exports/odd/**']);
    const parts = await source.parts(calm);
    const read = await Promise.all(
      parts.map(async (part) => [part.name, (await readWhole(source, part)).rows[0]?.[1]] as const),
    );
    const wanted = odd
      .filter((name) => name !== 'a//b')
      .map((name) => [`s3://exports/odd/${name}.csv`, String(odd.indexOf(name))]);
    expect(Object.fromEntries(read)).toMatchObject(Object.fromEntries(wanted));
  });

  test('are those of the bucket, also where a key begins like an address', async () => {
    const server = await bucketOf('/x.csv', '//127.0.0.1:1/x.csv');
    const source = sourceIn(server, ['s3://exports/**/*.csv']);
    const parts = await source.parts(calm);
    for (const part of parts) expect(await readWhole(source, part)).toMatchObject(table);
    expect(server.asked.slice(1)).toEqual(['GET /exports///127.0.0.1%3A1/x.csv', 'GET /exports//x.csv']);
  });

  test('are listed page by page, to the last one', async () => {
    const keys = Array.from({ length: 25 }, (_, at) => `a/${String(at).padStart(2, '0')}.csv`);
    const server = await bucketOf(...keys);
    server.pageKeys = 10;
    expect(await names(sourceIn(server, ['s3://exports/a/*.csv']))).toHaveLength(25);
    expect(server.asked).toHaveLength(3);
  });

  test('are reached with keys of the environment, and below an address of it', async () => {
    const server = await bucketOf('x.csv');
    vi.stubEnv('AWS_ACCESS_KEY_ID', s3Keys.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', s3Keys.secretAccessKey);
    vi.stubEnv('AWS_REGION', s3Keys.region);
    vi.stubEnv('AWS_ENDPOINT_URL', server.endpoint);
    expect(await readWhole(openSource('csv', { files: ['s3://exports/*.csv'] }, '/'))).toMatchObject(table);
  });

  test('are kept in the state directory only while they are read', async () => {
    const server = await bucketOf('x.csv', 'y.csv', 'z.csv');
    const state = await tempDir();
    const keys = { files: ['s3://exports/*.csv'], s3: { endpoint: server.endpoint, ...s3Keys } };
    const source = openSourceIn({ clock: laterClock(0), state }, 'csv', keys);
    const parts = await source.parts(calm);
    for (const part of parts) await readWhole(source, part);
    // The last ones stay for a while, since their ends may be asked for.
    expect(await readdir(path.join(state, 'kept'))).toHaveLength(2);
  });
});

/** A page that leads to itself. */
const again =
  '<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>1</NextContinuationToken></ListBucketResult>';

test('a list that can be asked for more has more, whatever the service says beside it', async () => {
  const server = await s3Server();
  const entry =
    '<Contents><Key>a/x.csv</Key><ETag>"1"</ETag><Size>3</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>';
  server.intercept = ({ url = '' }, response) => {
    const page = url.includes('continuation-token=t')
      ? `<IsTruncated>false</IsTruncated>${entry}`
      : '<NextContinuationToken>t</NextContinuationToken>';
    return Boolean(response.writeHead(200).end(`<ListBucketResult>${page}</ListBucketResult>`));
  };
  expect(await names(sourceIn(server, ['s3://exports/a/*.csv']))).toEqual(['s3://exports/a/x.csv']);
});

describe('a source is not read', () => {
  test.each([
    ['there is no such bucket', 's3://nowhere/*.csv', /404 Not Found: NoSuchBucket The words of the service\./],
    ['nothing matches', 's3://exports/b/*.csv', /^nothing matches s3:\/\/exports\/b\/\*\.csv$/],
  ])('where %s', async (_why, pattern, message) => {
    const server = await bucketOf('a/x.csv');
    expect(await failureOf(sourceIn(server, [pattern]))).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(message),
    });
  });

  test('where its keys are wrong, which the message does not show', async () => {
    const server = await bucketOf('a/x.csv');
    const s3 = { endpoint: server.endpoint, ...s3Keys, secretAccessKey: 'wrong-and-secret' };
    const error = await failureOf(openSource('csv', { files: ['s3://exports/a/*'], s3 }, '/'));
    expect(error.message).toContain('403 Forbidden: SignatureDoesNotMatch');
    expect(everythingIn(error)).not.toContain('wrong-and-secret');
  });

  test('where there are no keys', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, '');
    const error = await failureOf(openSource('csv', { files: ['s3://exports/a/*'] }, '/'));
    expect(error.message).toBe('there are no keys for S3');
  });

  test.each([
    [
      'ends in the middle',
      '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a/x.csv</Key>',
    ],
    ['ends within a tag', '<?xml version="1.0"?><ListBucketResult><IsTruncated>fal'],
    ['says that there is more, and not how', '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>'],
    ['says the same otherwise', '<ListBucketResult><IsTruncated> 1 </IsTruncated></ListBucketResult>'],
    ['says nothing', '<ListBucketResult/>'],
    [
      'says that it has more than came',
      '<ListBucketResult><IsTruncated>false</IsTruncated><KeyCount>2</KeyCount><CommonPrefixes><Prefix>a/b/</Prefix></CommonPrefixes></ListBucketResult>',
    ],
    ['is another document', '<html><body>Sign in</body></html>'],
    ['is empty', ''],
    ['lacks what an entry must have', '<ListBucketResult><Contents><Key>a/x.csv</Key></Contents></ListBucketResult>'],
  ])('where the list %s', async (_how, body) => {
    const server = await bucketOf('a/x.csv');
    server.intercept = (_request, response) => Boolean(response.writeHead(200).end(body));
    expect(await failureOf(sourceIn(server, ['s3://exports/a/*.csv']))).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringContaining('the list of the bucket is not whole'),
    });
  });

  test.each([
    ['breaks off', /the answer did not come whole|the connection/, (response: ServerResponse) => response.destroy()],
    [
      'fails',
      /500 Internal Server Error: InternalError/,
      (response: ServerResponse) => fail(response, 500, 'InternalError'),
    ],
    ['begins again', /it begins again/, (response: ServerResponse) => response.writeHead(200).end(again)],
  ])('where the second page %s', async (_how, message, act) => {
    const server = await bucketOf('a/1.csv', 'a/2.csv', 'a/3.csv');
    server.pageKeys = 1;
    server.intercept = (request, response) => {
      if (request.url?.includes('continuation-token') !== true) return false;
      act(response);
      return true;
    };
    const error = await failureOf(sourceIn(server, ['s3://exports/a/*.csv']));
    expect(error).toMatchObject({ code: 'source.unreadable', message: expect.stringMatching(message) });
  });

  test('where an object was replaced since it was listed', async () => {
    const server = await bucketOf('a/x.csv');
    const source = sourceIn(server, ['s3://exports/a/*.csv']);
    const [part] = await source.parts(calm);
    server.objects.set('a/x.csv', csv.replace('1.50', '2.50'));
    await expect(readWhole(source, part)).rejects.toMatchObject({ code: 'part.changing' });
    server.objects.delete('a/x.csv');
    await expect(readWhole(source, part)).rejects.toMatchObject({ code: 'part.changing' });
  });

  test.each([
    ['without If-Match', { etag: '"another"' }, csv],
    ['with another length than the list says', { etag: etagOf(csv) }, csv.slice(0, -4)],
  ])('where an object changes %s', async (_how, headers, body) => {
    const server = await bucketOf('a/x.csv');
    const source = sourceIn(server, ['s3://exports/a/*.csv']);
    const [part] = await source.parts(calm);
    server.intercept = (_request, response) => Boolean(response.writeHead(200, headers).end(body));
    await expect(readWhole(source, part)).rejects.toMatchObject({ code: 'part.changing' });
  });

  test('where an object breaks off', async () => {
    const server = await bucketOf('a/x.csv');
    const source = sourceIn(server, ['s3://exports/a/*.csv']);
    const [part] = await source.parts(calm);
    server.intercept = (_request, response) => {
      response.writeHead(200, { etag: etagOf(csv), 'content-length': csv.length });
      response.write(csv.slice(0, 10), () => response.destroy());
      return true;
    };
    await expect(readWhole(source, part)).rejects.toMatchObject({ code: 'part.unreadable' });
  });

  test('where an object is larger than it may be', async () => {
    const server = await s3Server();
    server.objects.set('a/x.csv', `${csv}${'2026-01-01,1\n'.repeat(1000)}`);
    const error = await failureOf(sourceIn(server, ['s3://exports/a/*.csv'], { expandedMax: '1KB' }));
    expect(error.message).toMatch(/^s3:\/\/exports\/a\/x\.csv has more than 10\d\d bytes \(expandedMax\)$/);
  });
});

describe('a service that writes its tags otherwise', () => {
  const bare = etagOf(csv).replaceAll('"', '');
  const modified = { 'last-modified': 'Fri, 02 Jan 2026 03:04:05 GMT' };

  /** One object, the tag that the list has of it, and what the answer says beside it. */
  async function taggedAs(listed: string, given: Record<string, string>, asked: (string | undefined)[] = []) {
    const server = await s3Server();
    const entry = `<Contents><Key>a/x.csv</Key><ETag>${listed.replaceAll('"', '&quot;')}</ETag><Size>${csv.length}</Size><LastModified>2026-01-02T03:04:05.678Z</LastModified></Contents>`;
    server.intercept = (request, response) => {
      const isList = request.url?.includes('list-type') === true;
      if (!isList) asked.push(request.headers['if-match']);
      if (isList)
        response.writeHead(200).end(`<ListBucketResult><IsTruncated>false</IsTruncated>${entry}</ListBucketResult>`);
      else response.writeHead(200, given).end(csv);
      return true;
    };
    return sourceIn(server, ['s3://exports/a/*.csv']);
  }

  test.each<[string, string, Record<string, string>, string | undefined]>([
    ['without quotes in the list', bare, { etag: `"${bare}"` }, `"${bare}"`],
    ['without quotes in the answer', `"${bare}"`, { etag: bare }, `"${bare}"`],
    ['weak in the answer, with its time', bare, { etag: `W/"${bare}"`, ...modified }, `"${bare}"`],
    ['weak in both, with its time', `W/"${bare}"`, { etag: `W/"${bare}"`, ...modified }, undefined],
  ])('is read: %s', async (_how, listed, given, condition) => {
    const asked: (string | undefined)[] = [];
    expect(await readWhole(await taggedAs(listed, given, asked))).toMatchObject(table);
    expect(asked).toEqual([condition]);
  });

  test.each<[string, Record<string, string>, string, RegExp]>([
    ['no tag', {}, 'part.unreadable', /x\.csv: the answer has no ETag, so that nothing says which version it is$/],
    [
      'a weak tag and no time',
      { etag: `W/"${bare}"` },
      'part.unreadable',
      /x\.csv: the answer has only a weak ETag and no Last-Modified, which do not say which version it is$/,
    ],
    [
      'a weak tag and another time',
      { etag: `W/"${bare}"`, 'last-modified': 'Fri, 02 Jan 2026 03:04:06 GMT' },
      'part.changing',
      /changed while it was read$/,
    ],
    ['another tag', { etag: `W/"x${bare}"`, ...modified }, 'part.changing', /changed while it was read$/],
  ])('is not read where the answer has %s', async (_what, given, code, message) => {
    const source = await taggedAs(`"${bare}"`, given);
    await expect(readWhole(source)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('has another version at another time where its tags are weak', async () => {
    const [part] = await (await taggedAs(`W/"${bare}"`, {})).parts(calm);
    expect(part!.version).toBe(`W/"${bare}" 2026-01-02T03:04:05.678Z ${csv.length}`);
  });
});

test('a pass deletes nothing because a list stopped half way, and carries an object that is gone', async () => {
  const server = await s3Server();
  server.pageKeys = 1;
  server.objects.set('a/1.csv', 'id,time,value\nA,2026-01,1\n');
  server.objects.set('a/2.csv', 'id,time,value\nB,2026-01,2\n');
  const drivers = [{ path: ['{id}', '{file|match:\\d}'], time: '{time}', value: '{value}' }];
  const s3 = { endpoint: server.endpoint, ...s3Keys };
  await using w = await world({
    config: { sources: { a: { type: 'csv', files: ['s3://exports/a/*'], s3, drivers } } },
  });
  expect(await w.sync()).toMatchObject({ exit: 0 });
  expect(Object.keys(w.points())).toEqual(['A/1', 'B/2']);
  const reads = server.asked.filter((asked) => !asked.includes('list-type')).length;
  server.intercept = (request, response) =>
    request.url?.includes('continuation-token') === true && Boolean(response.destroy());
  expect(await w.sync()).toMatchObject(judged(3, 'a', { state: 'unread' }));
  server.intercept = undefined;
  server.objects.delete('a/1.csv');
  expect(await w.sync()).toMatchObject(judged(3, 'a', { carried: ['s3://exports/a/1.csv'] }));
  expect(Object.keys(w.points())).toEqual(['A/1', 'B/2']);
  // What was read once is not read again.
  expect(server.asked.filter((asked) => !asked.includes('list-type'))).toHaveLength(reads);
});

test.each([
  ['s3:///a.csv', 'not the name of a bucket'],
  ['s3://exports/', 'it names no files'],
  ['s3://exports/../a.csv', '".." in an address'],
  ['s3://exports/*a*b*c*d*e.csv', 'more than 4 wildcards "*" in one name: leave some out, one matches any text'],
  ['sftp:///a.csv', 'not the address of a server'],
  ['gs://exports/a.csv', 'gs:// is no place that files are read from'],
  ['FTP://me:pw@h/a.csv', 'FTP:// is no place that files are read from'],
  ['file:///exports/a.csv', 'file:// is no place that files are read from'],
  ['https://h?x/a.csv', 'not the address of a server'],
])('%s is a problem of the config', (pattern, message) => {
  expect(() => openSource('csv', { files: [pattern] }, '/')).toThrow(JSON.stringify(message).slice(1, -1));
});

test.each([
  [301, 'PermanentRedirect', 'the bucket is elsewhere: check s3.region and s3.endpoint'],
  [403, 'AccessDenied', 'check the keys of s3, and that they may ListBucket and GetObject'],
  [403, 'RequestTimeTooSkewed', 'set the clock of this machine: requests are signed with its time'],
  [400, 'ExpiredToken', 'these keys were for a while: give new ones'],
  [404, 'NoSuchBucket', 'check the bucket, s3.region and s3.endpoint'],
  [503, 'SlowDown', 'the server is busy: it is tried again later'],
])('status %i with %s says what to do in the words of the config', async (status, code, hint) => {
  const server = await bucketOf('x.csv');
  server.intercept = (_request, response) => {
    fail(response, status, code);
    return true;
  };
  expect(await failureOf(sourceIn(server, ['s3://exports/*.csv']))).toMatchObject({ code: 'source.unreadable', hint });
});
