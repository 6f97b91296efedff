import { describe, expect, test } from 'vitest';
import type { PartRead } from '../../src/core/buffer.ts';
import type { AcceptedPart } from '../../src/app/read/accepted-parts.ts';
import { goneParts } from '../../src/app/read/carried.ts';
import { renameParts } from '../../src/app/read/former-names.ts';
import { openBuffer } from '../../src/edges/state/buffer.ts';
import { memoryBuffer } from '../../src/simulate/state/memory-buffer.ts';
import { emptyTables } from '../../src/simulate/state/tables.ts';

/** Which of these accepted names are gone where these files are there, all of them with another content. */
function gone(accepted: readonly string[], listed: Readonly<Record<string, string>>, hashes: object = {}) {
  const parts = accepted.map((name) => ({ kind: 'inSnapshot', name, hash: `old ${name}` }) as AcceptedPart);
  const files = Object.entries(listed).map(([name, below]) => ({ name, ...(below !== '' && { below }) }));
  const present = files.map(({ name }) => ({ name, hash: `new ${name}`, ...hashes }) as PartRead);
  return goneParts(parts, { present, listed: files }).map(({ name }) => name);
}

describe('a part that was accepted by another machine under a name of its own', () => {
  test('is the file that ends as its name does', () => {
    expect(gone(['mnta/a.csv'], { '${E}/a.csv': 'a.csv' })).toEqual([]);
    expect(gone(['../../mnt/2026/a.csv'], { '${E}/2026/a.csv': '2026/a.csv' })).toEqual([]);
    expect(gone(['../share/a.csv'], { '/mnt/share/a.csv': 'a.csv' })).toEqual([]);
    expect(gone(['x.zip#a.csv'], { '${E}/x.zip#a.csv': 'x.zip#a.csv' })).toEqual([]);
  });

  test('is gone where no file ends so, or an absolute path says that it is another one', () => {
    expect(gone(['mnta/b.csv'], { '${E}/a.csv': 'a.csv' })).toEqual(['mnta/b.csv']);
    expect(gone(['mnta/aa.csv'], { '${E}/a.csv': 'a.csv' })).toEqual(['mnta/aa.csv']);
    expect(gone(['../books/a.csv'], { '/mnt/share/a.csv': 'a.csv' })).toEqual(['../books/a.csv']);
  });

  test('is gone where it may be one of two, or two may be it', () => {
    const two = ['mnta/a.csv', 'srvb/a.csv'];
    expect(gone(two, { '${E}/a.csv': 'a.csv' })).toEqual(two);
    expect(gone(['mnta/a.csv'], { '${E}/a.csv': 'a.csv', '${F}/a.csv': 'a.csv' })).toEqual(['mnta/a.csv']);
  });

  test('is gone where the file was accepted under its own name, or was another one until now', () => {
    const both = { '${E}/a.csv': 'a.csv' };
    expect(gone(['${E}/a.csv', 'mnta/a.csv'], both)).toEqual(['mnta/a.csv']);
    expect(gone(['${E}/b.csv', 'mnta/a.csv'], both, { hash: 'old ${E}/b.csv' })).toEqual(['mnta/a.csv']);
  });

  test('is gone as ever in an agent alone, and where names are the same on all machines', () => {
    expect(gone(['mnt/a.csv'], { 'srv/a.csv': '' })).toEqual(['mnt/a.csv']);
    expect(gone(['${E}/a.csv'], { '${F}/a.csv': 'a.csv' })).toEqual(['${E}/a.csv']);
  });
});

describe.each([
  ['SQLite', () => openBuffer(':memory:', 'write')],
  ['memory', () => memoryBuffer(emptyTables())],
] as const)('what a buffer in %s has of a part', (_name, open) => {
  test('is called as its source calls it now', () => {
    const buffer = open();
    const writer = buffer.parts.begin('sales', { name: 'mnt/a.csv', kind: 'part' }, '');
    const { id } = writer.commit({ version: '1', hash: 'h', revisedAtMs: 0 }, { rows: 1, rejects: 1 });
    buffer.reads.set('sales', 'accepted', [{ id, carried: false, settled: false }]);
    buffer.rejects.keep('sales', 'mnt/a.csv', [{ row: 1, reason: 'r', text: 't' }], 1);
    buffer.parts.setSeen('sales', new Map([['mnt/b.csv', { version: '1', hash: 'h', revisedAtMs: 0 }]]));
    expect(buffer.parts.origin(id).name).toBe('mnt/a.csv');
    const names = new Map([
      ['mnt/a.csv', '${E}/a.csv'],
      ['mnt/b.csv', '${E}/b.csv'],
    ]);
    renameParts({ buffer }, 'sales', { nowCalled: (name) => names.get(name) });
    expect(buffer.reads.parts('sales', 'accepted')).toMatchObject([{ id, name: '${E}/a.csv', version: '1' }]);
    expect(buffer.parts.origin(id).name).toBe('${E}/a.csv');
    expect(buffer.rejects.counts('sales')).toMatchObject([{ part: '${E}/a.csv', total: 1 }]);
    expect([...buffer.rejects.all('sales')]).toMatchObject([{ part: '${E}/a.csv', row: 1 }]);
    expect([...buffer.parts.seen('sales').keys()]).toEqual(['${E}/b.csv']);
    buffer.close();
  });
});
