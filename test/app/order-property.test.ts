/** The result depends on no order: of rows, of files, of their arrival, or of what is in which file. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runsOf } from '../support/campaign.ts';
import { collapsing, world } from '../support/world.ts';

const rules = ['last', 'first', 'sum', 'average', 'min', 'max', 'count'];

interface Reading {
  readonly driver: string;
  readonly path: string;
  readonly value: string;
}

// Equal numbers in different texts are the hard ones.
const value = fc.constantFrom('1', '1.0', '1.00', '0.1', '0.10', '-1', '-1.0', '2.5', '1e2', '100', '0', '-0.00', '.5');
const reading: fc.Arbitrary<Reading> = fc.record({
  driver: fc.constantFrom('A', 'B'),
  path: fc.constantFrom('P', 'Q'),
  value,
});

/** One source for each rule, over the same files. */
const config = {
  guard: { maxDeletes: 1000 },
  sources: Object.fromEntries(
    rules.map((rule) => {
      const driver = { id: `${rule}/{id}`, path: [rule, '{path}'], time: '{time}', value: '{value}', collapse: rule };
      return [rule, collapsing(rule, 'in/*.csv', { drivers: [driver] })];
    }),
  ),
};

/** Rows in files: a place for each says in which one, and where. */
function filesOf(rows: readonly string[], places: readonly number[], count: number): string[] {
  const ordered = rows.map((row, index) => ({ row, place: places[index] ?? 0 })).toSorted((a, b) => a.place - b.place);
  return Array.from({ length: count }, (_, file) => {
    const own = ordered.filter(({ place }) => place % count === file).map(({ row }) => row);
    return `id,path,time,value\n${own.join('')}`;
  });
}

test('any order of rows and files gives the same bytes, for every rule', async () => {
  const places = fc.array(fc.nat(), { minLength: 12, maxLength: 12 });
  const readings = fc.array(reading, { minLength: 1, maxLength: 12 });
  await using w = await world({ config });
  await fc.assert(
    fc.asyncProperty(readings, places, places, fc.integer({ min: 1, max: 3 }), async (read, one, other, count) => {
      // No two readings of a driver at one moment, or their order in a file would count.
      const rows = read.map(({ driver, path, value: text }, index) => {
        const day = String(1 + index).padStart(2, '0');
        return `${driver},${path},2026-0${1 + (index % 2)}-${day}T10:00:00Z,${text}\n`;
      });
      const digests: string[] = [];
      for (const [at, parts] of [[one, 1] as const, [one, count] as const, [other, count] as const]) {
        for (const [index, text] of filesOf(rows, at, parts).entries()) await w.write(`in/${index}.csv`, text);
        digests.push((await w.plan()).digest);
        for (let index = 0; index < parts; index++) await w.remove(`in/${index}.csv`);
      }
      expect(digests).toEqual([digests[0], digests[0], digests[0]]);
    }),
    runsOf(2, 36),
  );
});

test('any order of arrival gives the same points, also where times are equal', async () => {
  const readings = fc.array(reading, { minLength: 1, maxLength: 4 });
  const three = fc.tuple(readings, readings, readings);
  const order = fc.shuffledSubarray([0, 1, 2], { minLength: 3 });
  // Two files of one age: then their names decide.
  const ages = fc.array(fc.constantFrom(1, 2), { minLength: 3, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(three, order, ages, async (parts, arrival, days) => {
      const write = (w: Awaited<ReturnType<typeof world>>, index: number) => {
        const rows = (parts[index] ?? []).map(
          ({ driver, path, value: text }) => `${driver},${path},2026-01-31,${text}\n`,
        );
        const revisedAt = new Date(Date.UTC(2026, 1, days[index] ?? 1));
        return w.write(`in/${index}.csv`, `id,path,time,value\n${rows.join('')}`, revisedAt);
      };
      await using together = await world({ config });
      for (const index of [0, 1, 2]) await write(together, index);
      expect((await together.sync()).outcome).toBe('acknowledged');
      await using apart = await world({ config });
      for (const index of arrival) {
        await write(apart, index);
        expect((await apart.sync()).exit).toBe(0);
      }
      expect(apart.drivers()).toEqual(together.drivers());
    }),
    runsOf(1, 18),
  );
});
