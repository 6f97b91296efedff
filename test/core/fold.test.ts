import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fold } from '../../src/core/series/fold/fold.ts';
import { mergeDrivers, placeOrder } from '../../src/core/series/merge-folds.ts';
import { mergePacked } from '../../src/core/series/merge-packed.ts';
import { Readings } from '../../src/core/mapping/reading.ts';
import type { Rule } from '../../src/core/model.ts';
import { type Cell, type FoldedDriver, packDriver, unpackDriver } from '../../src/core/series/packing.ts';
import { runsOf } from '../support/campaign.ts';
import { addReading, readingsOf } from '../support/mapping.ts';

const rules: Rule[] = ['last', 'first', 'sum', 'average', 'min', 'max', 'count'];

interface TestReading {
  month: number;
  seconds: number;
  value: string;
}

function fold(rule: Rule, part: number, readings: readonly TestReading[], path = ['A']): FoldedDriver | undefined {
  using folding = new Fold(part);
  for (const [index, { month, seconds, value }] of readings.entries()) {
    const name = { id: 'a', path, rule };
    const moment = { month, months: 1, seconds, nanos: 0 };
    folding.take(readingsOf({ name, moment, value, row: index + 1 }));
  }
  return [...folding.drain()].map(unpackDriver)[0];
}

const parts = new Map([
  [1, { id: 1, source: 's', name: 'b.csv', revisedAtMs: 1000 }],
  [2, { id: 2, source: 's', name: 'a.csv', revisedAtMs: 1000 }],
  [3, { id: 3, source: 's', name: 'c.csv', revisedAtMs: 500 }],
]);
const order = placeOrder((id) => parts.get(id)!);

function points(driver: FoldedDriver | undefined): [number, string][] {
  return driver?.cells.map(({ month, value }) => [month, value]) ?? [];
}

const at = (seconds: number, value: string, month = 24314): TestReading => ({ month, seconds, value });

describe('one part', () => {
  test.each<[Rule, string]>([
    ['last', '3'],
    ['first', '10.0'],
    ['sum', '15.50'],
    // 15.50 / 3 at a scale of 2 + 6.
    ['average', '5.16666667'],
    ['min', '2.50'],
    ['max', '10.0'],
    ['count', '3'],
  ])('%s of 10.0, 2.50 and 3 is %s', (rule, expected) => {
    expect(points(fold(rule, 1, [at(1, '10.0'), at(2, '2.50'), at(3, '3')]))).toEqual([[24314, expected]]);
  });

  test('last takes the later row at equal times, first the earlier one', () => {
    expect(points(fold('last', 1, [at(5, '1'), at(5, '2'), at(4, '3')]))).toEqual([[24314, '2']]);
    expect(points(fold('first', 1, [at(5, '1'), at(4, '2'), at(4, '3')]))).toEqual([[24314, '2']]);
  });

  test('remembers which row a value came from and how many it stands for', () => {
    expect(fold('last', 1, [at(5, '1'), at(6, '2'), at(4, '3')])?.cells).toMatchObject([
      { row: 2, text: '2', count: 3 },
    ]);
    expect(fold('sum', 1, [at(5, '1'), at(6, '2'), at(4, '3')])?.cells).toMatchObject([
      { row: 2, text: '2', count: 3 },
    ]);
    expect(fold('max', 1, [at(5, '9'), at(6, '2')])?.cells).toMatchObject([{ row: 1, text: '9', count: 2 }]);
  });

  test('refuses one driver by two rules', () => {
    const folding = new Fold(1);
    const moment = { month: 1, months: 1, seconds: 0, nanos: 0 };
    const by = (rule: Rule): void =>
      folding.take(readingsOf({ name: { id: 'a', path: ['A'], rule }, moment, value: '1' }));
    by('last');
    expect(() => by('sum')).toThrow('driver "a" is made with collapse last and sum');
  });

  test("keeps the latest reading's path and another one that was there", () => {
    const folding = new Fold(1);
    const add = (path: string[], seconds: number, row: number): void =>
      folding.take(
        readingsOf({
          name: { id: 'a', path, rule: 'last' },
          moment: { month: 1, months: 1, seconds, nanos: 0 },
          value: '1',
          row,
        }),
      );
    add(['New'], 9, 1);
    add(['Old'], 3, 2);
    expect([...folding.drain()].map(unpackDriver)).toMatchObject([{ path: ['New'], otherPath: ['Old'] }]);
  });
});

test('a decimal of any sign, length and scale is given as it was read', () => {
  const decimal = fc.stringMatching(/^(-?[1-9]\d{0,15}|0|-?(0|[1-9]\d{0,12})\.\d{0,5}[1-9]0?)$/);
  fc.assert(
    fc.property(decimal, fc.constantFrom<Rule>('last', 'first', 'sum', 'min', 'max'), (value, rule) => {
      expect(fold(rule, 1, [at(1, value)])!.cells).toMatchObject([{ value, text: value }]);
    }),
  );
});

test.each(rules)('%s gives a value of any length, and the text as it was read, whatever is in it', (rule) => {
  const value = fc.oneof(
    fc.integer().map(String),
    fc.stringMatching(/^-?[1-9]\d{0,40}\.\d{0,5}[1-9]$/),
    fc.constantFrom('1.50', '0.10', '999999999999999', '1234567890123456789012345678901'),
  );
  const text = fc.oneof(
    fc.constant(''),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.nat({ max: 40 }).map((length) => '('.padEnd(length, '1')),
    fc.constantFrom('(1.50)', '1.50 \u20ac', '\u00a3 1', '\u00ff'.repeat(31)),
  );
  const readings = fc.array(fc.record({ value, text, isItself: fc.boolean() }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(readings, (list) => {
      using folding = new Fold(1);
      const taken = new Readings();
      const texts = list.map((one) => (one.isItself ? one.value : one.text || one.value));
      for (const [index, one] of list.entries()) {
        const name = { id: 'a', path: ['A'], rule };
        const moment = { month: 24_314 + index, months: 1, seconds: index, nanos: 0 };
        addReading(taken, { name, moment, value: one.value, text: texts[index]!, row: index + 1, entry: 0 });
      }
      folding.take(taken);
      const [driver] = [...folding.drain()].map(unpackDriver);
      const valueOf = (written: string): string => {
        if (rule === 'count') return '1';
        // A mean has no zeros at its end.
        return rule === 'average' ? written.replace(/(?<=\..*)0+$/, '') : written;
      };
      expect(driver!.cells.map((one) => [one.value, one.text])).toEqual(
        list.map((one, index) => [valueOf(one.value), texts[index]]),
      );
    }),
  );
});

describe('many readings at once', () => {
  /** A few drivers, or more than any table has room for in the beginning. */
  const idsMax = fc.constantFrom(2, 60);
  const name = fc.record({
    number: fc.nat({ max: 1000 }),
    path: fc.constantFrom(['A'], ['A', 'B']),
  });
  const given = fc.record({
    /** Which of the names: readings of one driver may be named by several numbers. */
    named: fc.nat({ max: 79 }),
    month: fc.integer({ min: 10, max: 13 }),
    seconds: fc.integer({ min: -2, max: 2 }),
    nanos: fc.constantFrom(0, 0, 0, 5),
    value: fc.oneof(
      fc.constantFrom('0', '1', '1.0', '1.00', '-2.5', '0.3', '999999999999999', '-999999999999999.5'),
      fc.integer({ min: -1000, max: 1000 }).map(String),
    ),
    text: fc.constantFrom('', '', '', '', 'as read'),
    entry: fc.nat({ max: 2 }),
  });
  const cases = fc.record({
    idsMax,
    names: fc.array(name, { minLength: 80, maxLength: 80 }),
    readings: fc.array(given, { maxLength: 300, size: 'max' }),
    cuts: fc.array(fc.nat({ max: 300 }), { maxLength: 3 }),
    tiesFrom: fc.nat({ max: 300 }),
  });

  test.each(rules)('%s gives what it gives one by one', (rule) => {
    fc.assert(
      fc.property(cases, ({ idsMax: ids, names: drawn, readings: list, cuts, tiesFrom }) => {
        const names = drawn.map(({ number, path }) => ({ id: `driver ${number % ids}`, path }));
        const atOnce = new Fold(1);
        const oneByOne = new Fold(1);
        const readings = new Readings();
        const numbers = names.map((one) => readings.names.add({ ...one, rule }));
        const handOver = (): void => {
          if (readings.count > 0) atOnce.take(readings);
          for (let index = 0; index < readings.count; index++) oneByOne.add(readings, index);
          readings.cut(0);
        };
        for (const [index, { named, value, text, entry, ...moment }] of list.entries()) {
          addReading(readings, {
            name: { ...names[named]!, rule },
            moment: { ...moment, months: 1 },
            value,
            text,
            row: index + 1,
            entry,
          });
          readings.named[readings.count - 1] = numbers[named]!;
          if (cuts.includes(index)) handOver();
          if (index === tiesFrom) {
            handOver();
            for (const one of [atOnce, oneByOne]) one.cutTies(index + 1);
          }
        }
        handOver();
        expect([...atOnce.drain()]).toEqual([...oneByOne.drain()]);
        for (const one of [atOnce, oneByOne]) one[Symbol.dispose]();
      }),
      runsOf(35, 300),
    );
  });
});

test('what is taken is given once, in the order of ids, and counts as held until then', () => {
  using folding = new Fold(1);
  const take = (id: string, value: string, row: number): void => {
    const name = { id, path: [id], rule: 'last' as const };
    folding.take(readingsOf({ name, moment: { month: 24314, months: 1, seconds: 0, nanos: 0 }, value, row }));
  };
  const given = (): unknown => Array.from(folding.drain(), unpackDriver).map((one) => [one.id, one.cells[0]?.value]);
  expect(folding.size).toBe(0);
  for (const [index, id] of ['m', 'z', 'a', 'k'].entries()) take(id, String(index), index + 1);
  expect(folding.size).toBe(8);
  // Two values of one moment are a tie, which is held too.
  take('a', '7', 5);
  expect(folding.size).toBe(9);
  expect(given()).toEqual([
    ['a', '7'],
    ['k', '3'],
    ['m', '0'],
    ['z', '1'],
  ]);
  expect(folding.size).toBe(0);
  expect(given()).toEqual([]);
  take('z', '9', 6);
  expect(given()).toEqual([['z', '9']]);
});

test.each(rules)('%s of many drivers, each from its newest reading to its oldest', (rule) => {
  using folding = new Fold(1);
  const readings = new Readings();
  const drivers = Array.from({ length: 100 }, (_, number) => `driver ${String(number).padStart(3, '0')}`);
  for (const [number, id] of drivers.entries()) {
    for (const [index, seconds] of [3, 2, 1].entries()) {
      const moment = { month: 24314, months: 1, seconds, nanos: 0 };
      const value = String(10 * number + seconds);
      addReading(readings, { name: { id, path: [id], rule }, moment, value, row: 3 * number + index + 1 });
    }
  }
  folding.take(readings);
  const expected: Record<Rule, (number: number) => string> = {
    last: (number) => String(10 * number + 3),
    first: (number) => String(10 * number + 1),
    min: (number) => String(10 * number + 1),
    max: (number) => String(10 * number + 3),
    sum: (number) => String(30 * number + 6),
    average: (number) => String(10 * number + 2),
    count: () => '3',
  };
  const folded = [...folding.drain()].map(unpackDriver);
  expect(folded.map(({ id, cells }) => [id, ...cells.map(({ value, count }) => [value, count])])).toEqual(
    drivers.map((id, number) => [id, [expected[rule](number), 3]]),
  );
  expect(folded.flatMap(({ cells }) => cells.flatMap(({ tie }) => tie ?? []))).toEqual([]);
});

describe('across parts', () => {
  test('at equal times the part that was revised later wins, then the later name', () => {
    const [b, a, c] = [1, 2, 3].map((part) => fold('last', part, [at(5, String(part))])!) as [
      FoldedDriver,
      FoldedDriver,
      FoldedDriver,
    ];
    expect(points(mergeDrivers([b, a, c], order))).toEqual([[24314, '1']]);
    expect(points(mergeDrivers([a, c], order))).toEqual([[24314, '2']]);
  });

  const reading = fc.record({
    month: fc.integer({ min: 24310, max: 24314 }),
    seconds: fc.integer({ min: -3, max: 3 }),
    value: fc.constantFrom('0', '1', '1.0', '1.00', '-2.5', '1000000000000000000000.01', '0.3'),
  });

  test.each(rules)('%s gives the same in any order of parts, and however a part is cut into chunks', (rule) => {
    fc.assert(
      fc.property(
        fc.array(fc.array(reading, { maxLength: 12 }), { minLength: 3, maxLength: 3 }),
        fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
        (readings, shuffled) => {
          const folds = readings.map((list, index) => fold(rule, index + 1, list));
          const straight = folds.filter((one) => one !== undefined);
          if (straight.length === 0) return;
          const expected = mergeDrivers(straight, order);
          const turned = shuffled.map((index) => folds[index]).filter((one) => one !== undefined);
          expect(mergeDrivers(turned, order)).toEqual(expected);
          // Packed and unpacked on the way, as in the buffer.
          const packed = turned.map((one) => unpackDriver(packDriver(one)));
          expect(mergeDrivers(packed, order).cells).toEqual(expected.cells);
          expect(mergePacked(turned.map(packDriver), order)).toEqual(packDriver(expected));
        },
      ),
    );
  });

  test('two that share a month are merged by their rule, also where one of another rule has the latest reading', () => {
    const january = (value: string, part: number): FoldedDriver =>
      ({ ...fold('sum', part, [at(5, value)])!, id: 'a' }) satisfies FoldedDriver;
    const later = fold('last', 3, [{ ...at(90, '7'), month: 24320 }])!;
    const folds = [january('10', 1), later, january('5', 2)];
    for (const turned of [folds, folds.toReversed(), [later, ...folds.filter((one) => one !== later)]]) {
      expect(points(mergeDrivers(turned, order))).toEqual([
        [24314, '15'],
        [24320, '7'],
      ]);
      expect(points(unpackDriver(mergePacked(turned.map(packDriver), order)))).toEqual([
        [24314, '15'],
        [24320, '7'],
      ]);
    }
  });

  test.each(rules)('%s of series that overlap anywhere is merged from bytes as it is from cells', (rule) => {
    const cell = fc.record({
      month: fc.integer({ min: 24_000, max: 24_300 }),
      value: fc.constantFrom('0', '-2.5', '1000000000000000000000.01', '7'.repeat(130)),
      text: fc.constantFrom('0', '-2,5', 'x'.repeat(200)),
      count: fc.constantFrom(1, 300),
      seconds: fc.integer({ min: -3, max: 3 }),
      nanos: fc.constantFrom(0, 999_999_999),
      row: fc.integer({ min: 1, max: 2 ** 40 }),
      sum: fc.constant('12.5'),
    });
    const series = fc.record({
      part: fc.constantFrom(1, 2, 3),
      cells: fc.uniqueArray(cell, { selector: ({ month }) => month, minLength: 1, maxLength: 200, size: 'max' }),
      from: fc.integer({ min: 0, max: 300 }),
    });
    const driverOf = ({ part, cells, from }: { part: number; cells: Omit<Cell, 'part'>[]; from: number }) => ({
      id: 'a',
      path: ['A'],
      rule,
      pathPlace: { seconds: 0, nanos: 0, row: 1, part },
      cells: cells.toSorted((a, b) => a.month - b.month).map((one) => ({ ...one, part, month: one.month + from })),
    });
    fc.assert(
      fc.property(fc.array(series, { minLength: 2, maxLength: 3 }), (list) => {
        // An average alone keeps a sum.
        const kept = list.map((one) => packDriver(driverOf(one)));
        const expected = mergeDrivers(kept.map(unpackDriver), order);
        expect(mergePacked(kept, order)).toEqual(packDriver(expected));
      }),
      runsOf(35, 300),
    );
  });

  test.each(rules)('%s of rows in any order gives the same where no two have one time', (rule) => {
    fc.assert(
      fc.property(
        fc.uniqueArray(reading, { selector: ({ seconds }) => seconds, minLength: 1 }),
        fc.infiniteStream(fc.nat()),
        (list, keys) => {
          const shuffled = list
            .map((one) => ({ one, key: keys.next().value as number }))
            .sort((a, b) => a.key - b.key)
            .map(({ one }) => one);
          expect(points(fold(rule, 1, shuffled))).toEqual(points(fold(rule, 1, list)));
        },
      ),
    );
  });
});

test('what is packed comes back, whatever is in it', () => {
  const cell = fc.record({
    value: fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,5})?$/),
    text: fc.string({ unit: 'binary' }),
    count: fc.integer({ min: 1, max: 2 ** 40 }),
    seconds: fc.integer({ min: -30_610_224_000, max: 253_402_300_799 }),
    nanos: fc.integer({ min: 0, max: 999_999_999 }),
    row: fc.integer({ min: 1, max: 2 ** 40 }),
    part: fc.integer({ min: 1, max: 2 ** 31 }),
    sum: fc.constant('12.5'),
  });
  fc.assert(
    fc.property(fc.array(cell), fc.string({ unit: 'grapheme' }), (cells, id) => {
      const driver: FoldedDriver = {
        id,
        path: [id],
        rule: 'average',
        pathPlace: { seconds: -1, nanos: 5, row: 1, part: 2 },
        otherPath: undefined,
        cells: cells.map((one, index) => ({ ...one, month: 12_000 + index * 7 })),
      };
      expect(unpackDriver(packDriver(driver))).toEqual(driver);
    }),
    runsOf(35, 300),
  );
});
