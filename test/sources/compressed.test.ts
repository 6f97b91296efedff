import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { gzipSync, zstdCompressSync, constants } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expand } from '../../src/sources/files/compressed.ts';
import { PartFile } from '../../src/sources/files/part-file.ts';
import { StableFile } from '../../src/sources/files/stable-file.ts';
import { kinds } from '../../src/sources/index.ts';
import { runsOf } from '../support/campaign.ts';
import { calm, fileOf, openSource, readWhole, tempDir, writeFiles } from '../support/source-world.ts';

const table = 'a,b\n1,2\n';
const rows = [['1', '2']];

/** As the zstd tool makes them: without a checksum damage may show nowhere. */
function checkedZstd(content: string | Uint8Array): Buffer {
  return zstdCompressSync(content, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
}

const compressions = [
  ['gzip', 'gz', (content: string | Uint8Array): Buffer => gzipSync(content)],
  ['zstd', 'zst', checkedZstd],
] as const;

function unreadableLike(message: RegExp): object {
  return { code: 'part.unreadable', message: expect.stringMatching(message), hint: expect.any(String) };
}

describe.each(compressions)('a file stored as %s', (compression, suffix, compress) => {
  const name = `revenue.csv.${suffix}`;

  async function failureOf(content: Uint8Array, keys: object = {}): Promise<unknown> {
    const source = await fileOf('csv', content, { name, ...keys });
    return await readWhole(source).then(
      () => 'no failure',
      (error: unknown) => error,
    );
  }

  test('is read as what is in it', async () => {
    expect((await readWhole(await fileOf('csv', compress(table), { name }))).rows).toEqual(rows);
    const upper = { name: name.toUpperCase() };
    expect((await readWhole(await fileOf('csv', compress(table), upper))).rows).toEqual(rows);
  });

  test('may be of any kind of files', async () => {
    const record = compress('[{"a":1}]');
    expect((await readWhole(await fileOf('json', record, { name: `revenue.json.${suffix}` }))).rows).toEqual([['1']]);
  });

  test('has the hash of the bytes as they are stored', async () => {
    const stored = compress(table);
    const source = await fileOf('csv', stored, { name });
    const hash = createHash('sha256').update(stored).digest('hex');
    expect((await readWhole(source)).content.hash).toBe(hash);
    expect(await source.hash!((await source.parts(calm))[0]!, calm)).toMatchObject({ hash });
  });

  test('may be several archives in a row', async () => {
    const stored = Buffer.concat(['a,b\n', '1,', '', '2\n'].map((text) => compress(text)));
    expect((await readWhole(await fileOf('csv', stored, { name }))).rows).toEqual(rows);
  });

  test('is refused where it is cut short', async () => {
    const stored = compress(randomBytes(3000).toString('hex'));
    for (const length of [0, 1, 5, 10, stored.length >> 1, stored.length - 4, stored.length - 1]) {
      expect(await failureOf(stored.subarray(0, length))).toMatchObject(
        unreadableLike(new RegExp(`^${name}: the ${compression} archive is cut short$`)),
      );
    }
    const second = Buffer.concat([stored, stored.subarray(0, 20)]);
    expect(await failureOf(second)).toMatchObject(unreadableLike(/archive is cut short$/));
  });

  test('is refused where it is damaged', async () => {
    const stored = compress(randomBytes(3000).toString('hex'));
    stored[stored.length >> 1]! ^= 0xff;
    expect(await failureOf(stored)).toMatchObject(
      unreadableLike(new RegExp(`the ${compression} archive is damaged: `)),
    );
  });

  test('is refused where its checksum is of other bytes', async () => {
    const stored = compress(table);
    stored[stored.length - (compression === 'gzip' ? 8 : 4)]! ^= 1;
    expect(await failureOf(stored)).toMatchObject(unreadableLike(/archive is damaged: /));
  });

  test.each([table, '<html>', 'PK\x03\x04'])('is refused where it is %j', async (content) => {
    expect(await failureOf(Buffer.from(content))).toMatchObject(
      unreadableLike(new RegExp(`^${name} is not a ${compression} archive`)),
    );
  });

  test.each(['rubbish', table, '\0\0\0x', `${'\0'.repeat(200_000)}x`])(
    'is refused where something follows (%#)',
    async (rest) => {
      expect(await failureOf(Buffer.concat([compress(table), Buffer.from(rest)]))).toMatchObject(
        unreadableLike(/something other than|archive is damaged/),
      );
    },
  );

  test('is refused where it expands to more than expandedMax', async () => {
    const bomb = compress(Buffer.alloc(20_000_000, 'a,b\n'));
    expect(bomb.length).toBeLessThan(100_000);
    expect(await failureOf(bomb, { expandedMax: '1MB' })).toMatchObject(
      unreadableLike(/^revenue.csv.* expands to more than 1000000 bytes \(expandedMax\)$/),
    );
    expect(await failureOf(compress(table), { expandedMax: '8B' })).toBe('no failure');
    expect(await failureOf(compress(table), { expandedMax: '7B' })).toMatchObject({ code: 'part.unreadable' });
  });

  test('is expanded no faster than it is taken', async () => {
    // Random bytes do not shrink, so that as many are read as are expanded.
    const stored = compress(randomBytes(8_000_000));
    let read = 0;
    async function* counted(): AsyncGenerator<Buffer> {
      for await (const chunk of oneByOne(stored, 65_536)) {
        read += chunk.length;
        yield chunk;
      }
    }
    let taken = 0;
    for await (const chunk of expand({ name, compression, stored: counted(), expandedMax: 1e9 })) {
      taken += chunk.length;
      expect(read - taken).toBeLessThan(1_000_000);
    }
    expect(taken).toBe(8_000_000);
  });

  test('gives the memory of chunks back that are not in use any more', async () => {
    const content = randomBytes(3_000_000);
    const held: Buffer[] = [];
    let at = 0;
    const archive = { name, compression, stored: oneByOne(compress(content), 65_536), expandedMax: 1e9 };
    for await (const chunk of expand(archive, 3)) {
      expect(chunk.equals(content.subarray(at, at + chunk.length))).toBe(true);
      at += chunk.length;
      held.push(chunk);
      // The newest two, while the next one is made.
      expect(held.slice(-2).every(({ length }) => length > 0)).toBe(true);
    }
    expect(at).toBe(content.length);
    expect(held.filter(({ length }) => length === 0).length).toBeGreaterThan(5);
  });

  test('is the same however its bytes come', async () => {
    const content = fc.uint8Array({ maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(content, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 40 }),
        async (texts, step) => {
          const stored = Buffer.concat(texts.map((text) => compress(text)));
          const archive = { name, compression, stored: oneByOne(stored, step), expandedMax: 1e6 };
          expect(Buffer.concat(await collect(expand(archive)))).toEqual(Buffer.concat(texts));
        },
      ),
      runsOf(20, 240),
    );
  });

  test('names the lines and bytes of what is in it', async () => {
    const bytes = Buffer.concat([Buffer.from('a,b\n1,'), Buffer.from([0xff])]);
    expect(await failureOf(compress(bytes))).toMatchObject(
      unreadableLike(/ line 2: invalid utf-8 byte 0xFF at byte offset 6$/),
    );
  });

  test('can be read here and there', async () => {
    const dir = await tempDir();
    const content = randomBytes(200_000);
    await writeFiles(dir, { stored: compress(content), [name]: compress(content), plain: content });
    for (const file of [name, 'plain']) {
      const stable = await StableFile.open(path.join(dir, file), file, calm);
      const part = new PartFile(stable, 1e6);
      expect(await part.size()).toBe(content.length);
      expect(await part.slice(100_000, 100_010)).toEqual(content.subarray(100_000, 100_010));
      expect(await part.slice(199_990, 300_000)).toEqual(content.subarray(199_990));
      expect(await part.byteAt(150_000)).toBe(content[150_000]);
      expect(await part.byteAt(200_000)).toBeUndefined();
      await stable.close();
    }
  });
});

test('zeros may follow a gzip archive, as tapes have them', async () => {
  for (const zeros of [1, 512, 200_000]) {
    const stored = Buffer.concat([gzipSync(table), Buffer.alloc(zeros)]);
    expect((await readWhole(await fileOf('csv', stored, { name: 'revenue.csv.gz' }))).rows).toEqual(rows);
  }
});

test('a zstd archive may have frames that hold nothing, checksums and long lines of one byte', async () => {
  const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
  const frame = checkedZstd(`a\n${'x'.repeat(500_000)}\n`);
  const stored = Buffer.concat([skippable, frame, skippable, zstdCompressSync('y\n')]);
  const { rows: read } = await readWhole(await fileOf('csv', stored, { name: 'revenue.csv.zst' }));
  expect(read).toEqual([['x'.repeat(500_000)], ['y']]);
});

test('random tables are the same rows in every kind and archive', async () => {
  const dir = await tempDir();
  const field = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/\0|\uFFFD/g, ''));
  const columns = ['a', 'b', 'c'];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(field, field, field), { minLength: 1, maxLength: 20 }), async (random) => {
      const quoted = (row: readonly string[], delimiter: string): string =>
        row.map((text) => `"${text.replaceAll('"', '""')}"`).join(delimiter);
      const delimited = (delimiter: string): string =>
        [columns, ...random].map((row) => `${quoted(row, delimiter)}\r\n`).join('');
      const records = random.map((row) => JSON.stringify(Object.fromEntries(columns.map((key, at) => [key, row[at]]))));
      const texts = {
        csv: delimited(','),
        tsv: delimited('\t'),
        jsonl: records.join('\n'),
        json: `[${records.join()}]`,
      };
      for (const [type, text] of Object.entries(texts)) {
        await writeFiles(dir, { x: text, 'x.gz': gzipSync(text), 'x.zst': zstdCompressSync(text) });
        for (const file of ['x', 'x.gz', 'x.zst']) {
          expect(await readWhole(openSource(type, { files: [file] }, dir))).toMatchObject({ columns, rows: random });
        }
      }
    }),
    runsOf(4, 75),
  );
});

test.each(['4', '4 apples', '', '-1GB', '1.5GB'])('expandedMax must be a size: %j', (expandedMax) => {
  const { error } = kinds['csv']!.schema.safeParse({ files: ['*.csv'], expandedMax });
  expect(error?.issues.map(({ path: at }) => at[0])).toEqual(['expandedMax']);
});

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

async function* oneByOne(bytes: Buffer, step: number): AsyncGenerator<Buffer, void, void> {
  for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
}
