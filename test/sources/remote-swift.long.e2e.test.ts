/** Files in buckets of OpenStack Swift: S3 as others understand it, with signatures, pages and tags that are not ours. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { calm, openSource, readWhole } from '../support/source-world.ts';
import {
  type Bucket,
  type SwiftServer,
  cannotSwift,
  strangerKeys,
  swiftKeys,
  swiftName,
  swiftPageKeys,
  swiftServer,
} from '../support/swift-server.ts';
import { csv, everythingIn, failureOf, table } from '../support/web-world.ts';
import { judged, longFile, longSource, world } from '../support/world.ts';

/** A file of many batches: it is still on its way when the first one is read. */
const long = `date,amount\n${'2026-01-31,1.50\n'.repeat(300_000)}`;

describe.skipIf(cannotSwift)(`files in a bucket of ${swiftName}`, () => {
  // One for all tests: it takes longer to start than they do.
  const left: (() => unknown)[] = [];
  let server: SwiftServer;
  beforeAll(async () => {
    server = await swiftServer({
      async tempDir() {
        const dir = await mkdtemp(path.join(tmpdir(), 'swift-'));
        left.push(() => rm(dir, { recursive: true, force: true }));
        return dir;
      },
      atEnd: (cleanup) => void left.push(cleanup),
    });
    await server.bucket('refusals');
  });
  afterAll(async () => {
    for (const cleanup of left.toReversed()) await cleanup();
  });

  const keysOf = (s3: object = {}): object => ({ endpoint: server.endpoint, ...swiftKeys, ...s3 });
  const sourceOf = (pattern: string, s3: object = {}): Source =>
    openSource('csv', { files: [pattern], s3: keysOf(s3) }, '/');
  const namesIn = async (bucket: Bucket, pattern: string): Promise<readonly string[]> =>
    (await sourceOf(`s3://${bucket.name}/${pattern}`).parts(calm)).map(({ name }) =>
      name.replace(`s3://${bucket.name}/`, ''),
    );

  test('are listed page by page, also where a page has folders alone', async () => {
    const bucket = await server.bucket('pages');
    const numbered = (count: number, name: (digits: string) => string): readonly string[] =>
      Array.from({ length: count }, (_, at) => name(String(at).padStart(2, '0')));
    const files = numbered(2 * swiftPageKeys + 5, (digits) => `a/${digits}.csv`);
    const deeper = numbered(2 * swiftPageKeys + 1, (digits) => `a/1${digits}/x.csv`);
    for (const key of [...files, ...deeper, 'a/.x.csv', 'a/~$x.csv', 'a/folder/', 'b.csv']) await bucket.put(key, csv);
    expect(await namesIn(bucket, 'a/*.csv')).toEqual(files);
    expect(await namesIn(bucket, 'a/*/*.csv')).toEqual(deeper);
    expect(await namesIn(bucket, '**/*.csv')).toEqual([...files, ...deeper, 'b.csv'].toSorted());
    expect(await namesIn(bucket, 'a/0[1-3].csv')).toEqual(['a/01.csv', 'a/02.csv', 'a/03.csv']);
    expect(await namesIn(bucket, 'b.csv')).toEqual(['b.csv']);
  });

  test('may have any names, and each is read', async () => {
    const bucket = await server.bucket('names');
    const odd = [
      'a+b %20&=?#',
      "it's (1)!*",
      'ü 😀 日本',
      'tab\tand\nline',
      '<&>"',
      '%',
      '%2F',
      'a//b',
      '$(x);',
      '\\',
      '~',
    ];
    for (const name of odd) await bucket.put(`odd/${name}.csv`, csv.replace('1.50', String(odd.indexOf(name))));
    await bucket.put('/x.csv', csv);
    const source = sourceOf('s3://names/odd/**/*.csv');
    const read: Record<string, string | undefined> = {};
    for (const part of await source.parts(calm)) read[part.name] = (await readWhole(source, part)).rows[0]?.[1];
    expect(read).toEqual(Object.fromEntries(odd.map((name, at) => [`s3://names/odd/${name}.csv`, String(at)])));
  });

  test('have another version when their content is another one, and are never read in a later one than was listed', async () => {
    const bucket = await server.bucket('versions');
    await bucket.put('x.csv', csv);
    const source = sourceOf('s3://versions/*.csv');
    const [first] = await source.parts(calm);
    expect((await readWhole(source, first)).content.version).toBe(first!.version);
    await bucket.put('x.csv', csv);
    expect((await source.parts(calm))[0]!.version).toBe(first!.version);

    await bucket.put('x.csv', csv.replace('1.50', '2.75'));
    const [second] = await source.parts(calm);
    expect(second!.version).not.toBe(first!.version);
    await bucket.put('x.csv', csv.replace('1.50', '3.25'));
    await expect(readWhole(source, second)).rejects.toMatchObject({ code: 'part.changing' });
    const [third] = await source.parts(calm);
    expect((await readWhole(source, third)).rows[0]).toEqual(['2026-01-31', '3.25']);

    await bucket.put('x.csv', csv.replace('1.50', '4.00'));
    const [fourth] = await source.parts(calm);
    await bucket.remove('x.csv');
    await expect(readWhole(source, fourth)).rejects.toMatchObject({ code: 'part.changing' });
    await expect(source.parts(calm)).rejects.toMatchObject({ message: 'nothing matches s3://versions/*.csv' });
  });

  test('that are replaced while they are read are read as they were', async () => {
    const bucket = await server.bucket('replaced');
    await bucket.put('x.csv', long);
    const source = sourceOf('s3://replaced/*.csv');
    const [part] = await source.parts(calm);
    let batches = 0;
    const read = await readWhole(source, part, async () => {
      if (batches++ === 0) await bucket.put('x.csv', long.replaceAll('1.50', '9.99'));
    });
    expect(new Set(read.rows.map(([, amount]) => amount))).toEqual(new Set(['1.50']));
    expect(read.rows).toHaveLength(300_000);
    expect((await source.parts(calm))[0]!.version).not.toBe(part!.version);
  });

  test('that were uploaded in parts are read whole', async () => {
    const bucket = await server.bucket('multipart');
    await bucket.putInParts('x.csv', [csv.slice(0, 20), csv.slice(20)]);
    const source = sourceOf('s3://multipart/*.csv');
    const [part] = await source.parts(calm);
    expect(part!.version).toMatch(/^"[\da-f]{32}-2" \d+$/);
    expect(await readWhole(source, part)).toMatchObject(table);
  });

  test.each([
    [
      'a secret key that is wrong',
      's3://refusals/*',
      { secretAccessKey: 'wrong-and-secret' },
      /403 Forbidden: SignatureDoesNotMatch/,
    ],
    [
      'a user who is not known',
      's3://refusals/*',
      { accessKeyId: 'books:nobody' },
      /403 Forbidden: SignatureDoesNotMatch/,
    ],
    ['a user who may not see it', 's3://refusals/*', strangerKeys, /403 Forbidden: AccessDenied/],
    ['another region', 's3://refusals/*', { region: 'us-west-2' }, /400 Bad Request: AuthorizationHeaderMalformed/],
    ['a bucket that is not there', 's3://nowhere/*', {}, /404 Not Found: NoSuchBucket/],
  ])('are not read with %s', async (_what, pattern, s3, message) => {
    const error = await failureOf(sourceOf(pattern, s3));
    expect(error).toMatchObject({ code: 'source.unreadable', message: expect.stringMatching(message) });
    expect(error.hint).toMatch(/s3/);
    expect(everythingIn(error)).not.toMatch(/wrong-and-secret|another-secret|secret\/with/);
  });

  test('are carried by a pass that is refused, and one that is gone is carried too', async () => {
    const bucket = await server.bucket('passes');
    const points = (value: number): string => longFile({ A: { '2026-01': value } });
    await bucket.put('a.csv', points(1));
    await bucket.put('b.csv', longFile({ B: { '2026-01': 2 } }));
    const configOf = (s3: object = {}): { sources: Record<string, object> } => ({
      sources: { a: longSource('s3://passes/*.csv', { s3: keysOf(s3) }) },
    });
    await using w = await world({ config: configOf() });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    const before = { A: { '2026-01': '1' }, B: { '2026-01': '2' } };
    expect(w.points()).toEqual(before);

    await bucket.put('a.csv', points(3));
    await w.reconfigure(configOf({ secretAccessKey: 'wrong-and-secret' }));
    expect(await w.sync()).toMatchObject(
      judged(3, 'a', { state: 'unread', reason: expect.stringContaining('SignatureDoesNotMatch') }),
    );
    expect(w.points()).toEqual(before);

    await w.reconfigure(configOf());
    await bucket.remove('b.csv');
    expect(await w.sync()).toMatchObject(judged(3, 'a', { carried: ['s3://passes/b.csv'] }));
    expect(w.points()).toEqual({ ...before, A: { '2026-01': '3' } });
  });
});
