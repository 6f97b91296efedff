import { utimes } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { TextEnd } from '../../src/core/ports.ts';
import { calm, laterClock, openSource, readWhole, tempDir, writeFiles } from '../support/source-world.ts';

describe('the end of a text file', () => {
  async function endOf(content: string | Uint8Array, keys: object = {}, aheadMs = 5000): Promise<TextEnd | undefined> {
    return await endIn({ 'a.csv': content }, keys, aheadMs);
  }

  async function endIn(
    files: Readonly<Record<string, string | Uint8Array>>,
    keys: object,
    aheadMs: number,
  ): Promise<TextEnd | undefined> {
    const source = openSource('csv', { files: ['*'], settle: '0s', ...keys }, await dirOf(files), laterClock(aheadMs));
    return await source.textEnd?.((await source.parts(calm))[0]!, calm);
  }

  test.each<[string, string | Uint8Array, object, boolean]>([
    ['a line feed', 'a,b\n1,2\n', {}, true],
    ['a carriage return', 'a,b\r1,2\r', {}, true],
    ['a digit', 'a,b\n1,2', {}, false],
    ['nothing', '', {}, false],
    ['a line feed in UTF-16 by its mark', Buffer.from('\uFEFFa\n1\n', 'utf16le'), {}, true],
    [
      'Ċ in UTF-16, whose first byte is that of a line feed',
      Buffer.from('a\n1Ċ', 'utf16le'),
      { encoding: 'utf-16le' },
      false,
    ],
    ['a digit in UTF-16', Buffer.from('a\n1', 'utf16le').swap16(), { encoding: 'utf-16be' }, false],
  ])('is known before its rows are read: %s', async (_what, content, keys, endsWithLineEnd) => {
    expect(await endOf(content, keys)).toMatchObject({ endsWithLineEnd });
  });

  test('of a compressed file is that of what is in it', async () => {
    expect(await endIn({ 'a.csv.gz': gzipSync('a\n1\n') }, {}, 0)).toMatchObject({ endsWithLineEnd: true });
    expect(await endIn({ 'a.csv.gz': gzipSync('a\n1') }, {}, 0)).toMatchObject({ endsWithLineEnd: false });
  });

  test('comes with how long it was quiet, and how long it has to be without a line end', async () => {
    const { quietMs } = (await endOf('a\n1'))!;
    expect(quietMs).toBeGreaterThan(4900);
    expect(quietMs).toBeLessThan(60_000);
    expect(await endOf('a\n1')).toMatchObject({ quietNeededMs: 60_000 });
    expect(await endOf('a\n1', { settle: '2s' })).toMatchObject({ quietNeededMs: 60_000 });
    expect(await endOf('a\n1', { settle: '1m' }, 100_000)).toMatchObject({ quietNeededMs: 600_000 });
  });

  test('says nothing with lineEnd: any', async () => {
    expect(await endOf('a\n1', { lineEnd: 'any' })).toBeUndefined();
    const source = openSource('csv', { files: ['a.csv'], lineEnd: 'any' }, await dirOf({ 'a.csv': 'a\n1' }));
    expect((await readWhole(source)).content.endsWithLineEnd).toBeUndefined();
  });

  test('of a file with a time ahead of the clock goes by when the system last changed it', async () => {
    const dir = await dirOf({ 'a.csv': 'a\n1' });
    await utimes(path.join(dir, 'a.csv'), new Date(), new Date(Date.now() + 86_400_000));
    const clock = laterClock(5000);
    const source = openSource('csv', { files: ['a.csv'], settle: '3s' }, dir, clock);
    const { quietMs } = (await source.textEnd!((await source.parts(calm))[0]!, calm))!;
    expect(clock.sleptMs).toEqual([]);
    expect(quietMs).toBeGreaterThan(4900);
    expect(quietMs).toBeLessThan(60_000);
  });

  test.each(['xlsx', 'json', 'parquet'])('is no matter of %s', (type) => {
    expect(openSource(type, { files: ['a'] }, '/')).not.toHaveProperty('textEnd');
  });

  async function dirOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
    const dir = await tempDir();
    await writeFiles(dir, files);
    return dir;
  }
});
