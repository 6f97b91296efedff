/** Times of contents that are ahead of a clock which was set back, in memory and in SQLite. */
import { describe, expect, test } from 'vitest';
import { unpackDriver } from '../../src/core/series/packing.ts';
import { bothStates } from '../support/two-stores.ts';

describe.each(bothStates)('%s', (_name, openState) => {
  test('they are noted anew wherever they stand, and what counted still counts', () => {
    const { parts, reads } = openState().open().buffer;
    const made = [7, 9, 8].map((revisedAtMs, at) => {
      const writer = parts.begin('sales', { name: `${at}.csv`, kind: 'part' }, 'f');
      const place = { seconds: 0, nanos: 0, row: 1, part: writer.id };
      const cells = [{ month: 24_312, value: String(at), text: String(at), count: 1, ...place }];
      writer.add([{ id: 'a', path: ['a'], rule: 'last', pathPlace: place, cells }]);
      return writer.commit({ version: 'v', hash: `h${at}`, revisedAtMs }, { rows: 1, rejects: 0 });
    });
    const chosen = made.map(({ id }) => ({ id, carried: false, settled: false }));
    reads.set('sales', 'accepted', chosen);
    parts.setSeen('sales', new Map([['3.csv', { version: 'v', hash: 'h', revisedAtMs: 9 }]]));
    parts.setSeen('costs', new Map([['3.csv', { version: 'v', hash: 'h', revisedAtMs: 10 }]]));
    const values = (): readonly string[] =>
      [...reads.drivers('sales', 'accepted')].flatMap((one) => unpackDriver(one).cells.map(({ value }) => value));
    expect(values()).toEqual(['1']);
    expect(parts.timesAfter(7)).toEqual([8, 9, 10]);

    parts.redate(
      new Map([
        [8, 7.25],
        [9, 8],
        [10, 9],
      ]),
    );
    expect(parts.timesAfter(7)).toEqual([7.25, 8, 9]);
    expect(reads.parts('sales', 'accepted')?.map((part) => part.revisedAtMs)).toEqual([7, 8, 7.25]);
    expect(made.map(({ origin }) => parts.origin(origin).revisedAtMs)).toEqual([7, 8, 7.25]);
    expect(parts.seen('sales').get('3.csv')?.revisedAtMs).toBe(8);
    expect(parts.seen('costs').get('3.csv')?.revisedAtMs).toBe(9);
    expect(values()).toEqual(['1']);

    // Something that comes later is newer than what was ahead.
    parts.redate(new Map([[8, 7.125]]));
    reads.set('sales', 'accepted', chosen);
    expect(values()).toEqual(['2']);
  });
});
