/** A fold beside a model of it: sorted lists and big integers, and no tables. Rows come one by one, many at once, or collapsed by a database. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LatestReading, Readings } from '../../src/core/mapping/reading.ts';
import { Memory, forgetUnused } from '../../src/core/memory.ts';
import type { Rule } from '../../src/core/model.ts';
import { Fold } from '../../src/core/series/fold/fold.ts';
import { type FoldedDriver, packDriver, unpackDriver } from '../../src/core/series/packing.ts';
import { runsOf } from '../support/campaign.ts';
import { addReading, readingsOf } from '../support/mapping.ts';

const rules: Rule[] = ['last', 'first', 'sum', 'average', 'min', 'max', 'count'];

/** A value of so many decimals. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

interface Row {
  readonly driver: string;
  readonly path: readonly string[];
  readonly month: number;
  readonly seconds: number;
  readonly nanos: number;
  readonly value: Decimal;
  /** As read, or '' where that is the value. */
  readonly text: string;
  readonly entry: number;
  /** Its place in the part. */
  readonly row: number;
}

const value = fc.record({
  // Those that fit a double as integers, those at its edge and those beyond it.
  digits: fc.oneof(
    fc.bigInt({ min: -30n, max: 30n }),
    fc.bigInt({ min: 999_999_999_999_990n, max: 1_000_000_000_000_010n }),
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
  ),
  scale: fc.nat({ max: 3 }),
});

const rows = fc
  .array(
    fc.record({
      driver: fc.constantFrom('a', 'b', 'c'),
      path: fc.constantFrom(['A'], ['A', 'B']),
      month: fc.integer({ min: 10, max: 12 }),
      seconds: fc.integer({ min: -1, max: 1 }),
      nanos: fc.constantFrom(0, 0, 5),
      value,
      text: fc.constantFrom('', '', 'as read'),
      entry: fc.nat({ max: 2 }),
    }),
    { minLength: 1, maxLength: 40, size: 'max' },
  )
  .map((list): Row[] => list.map((one, index) => ({ ...one, row: index + 1 })));

test.each(rules)('%s gives what its model gives, one by one and at once', (rule) => {
  fc.assert(
    fc.property(rows, fc.boolean(), fc.integer({ min: 1, max: 2 }), (drawn, isAtOnce, perRow) => {
      // Entries may make readings of one driver from one row, in their order.
      const list = drawn.map((one, index) => ({ ...one, row: 1 + Math.floor(index / perRow) }));
      using folding = new Fold(1);
      const readings = new Readings();
      for (const one of list) {
        put(readings, rule, one);
        if (!isAtOnce) {
          folding.add(readings, 0);
          readings.cut(0);
        }
      }
      if (isAtOnce) folding.take(readings);
      const packed = [...folding.drain()];
      expect(packed.map((driver) => seenOf(unpackDriver(driver)))).toEqual(modelOf(rule, list));
      // However its values were kept, a driver has one form.
      for (const driver of packed) expect(packDriver(unpackDriver(driver))).toEqual(driver);
    }),
    runsOf(100, 2000),
  );
});

test.each([1, 500, 1023, 1024, 1025, 2000])('%i months of two drivers are all handed over', (months) => {
  using folding = new Fold(1);
  const readings = new Readings();
  const list = Array.from({ length: months }, (_, month): Row[] =>
    ['a', 'b'].map((driver, index) => {
      const negative = { digits: -(10n ** 14n) - BigInt(month * 2 + index), scale: 3 };
      const place = { seconds: 4e9 + month, nanos: 999_999_999, row: 2 ** 40 + month };
      return { driver, path: [driver], month, ...place, value: negative, text: '', entry: 0 };
    }),
  ).flat();
  for (const one of list) put(readings, 'last', one);
  folding.take(readings);
  expect(Array.from(folding.drain(2 ** 20), unpackDriver).map(seenOf)).toEqual(
    modelOf(
      'last',
      list.map((one) => ({ ...one, row: one.row + 2 ** 20 })),
    ),
  );
});

test.each(rules)(
  '%s of what a database collapsed is that of its rows, however they were grouped and in any order',
  (rule) => {
    fc.assert(
      fc.property(rows, fc.array(fc.nat({ max: 2 }), { minLength: 40, maxLength: 40 }), (list, groupOf) => {
        const groups = Map.groupBy(list, (one) => `${groupOf[one.row - 1]} ${one.driver} ${one.month}`);
        using folding = new Fold(1);
        const readings = new Readings();
        for (const group of groups.values()) putCollapsed(readings, rule, group);
        folding.take(readings);
        // A database does not say how the values of a sum were written.
        const known = ({ cells, ...driver }: Seen): Seen => ({
          ...driver,
          cells: cells.map((cell) => ({ ...cell, text: '' })),
        });
        const expected = modelOf(rule, list).map(known);
        expect(Array.from(folding.drain(), unpackDriver).map(seenOf).map(known)).toEqual(expected);
      }),
      runsOf(100, 2000),
    );
  },
);

test('the memory that a fold has needed is there for the next one', () => {
  forgetUnused();
  using fresh = new Memory();
  {
    using folding = new Fold(1);
    const name = { id: 'a', path: ['A'], rule: 'last' } as const;
    for (let month = 0; month < 2000; month++)
      folding.take(readingsOf({ name, moment: { month, months: 1, seconds: month, nanos: 0 }, value: '1' }));
  }
  using next = new Memory();
  expect(next.bytes.length).toBeGreaterThan(fresh.bytes.length);
});

/** What is compared. */
type Seen = ReturnType<typeof seenOf>;

function seenOf({ id, path, entry, pathPlace, cells }: FoldedDriver) {
  const { seconds, nanos, row } = pathPlace;
  return {
    id,
    path,
    entry,
    at: [seconds, nanos, row],
    cells: cells.map((cell) => ({
      month: cell.month,
      value: cell.value,
      text: cell.text,
      count: cell.count,
      at: [cell.seconds, cell.nanos, cell.row],
    })),
  };
}

function modelOf(rule: Rule, list: readonly Row[]): Seen[] {
  const drivers = Map.groupBy(list, ({ driver }) => driver);
  return [...drivers].toSorted(byKey).map(([id, ofDriver]) => {
    const latest = ofDriver.toSorted(byTime).at(-1)!;
    const months = [...Map.groupBy(ofDriver, ({ month }) => month)].toSorted(byKey);
    return {
      id,
      path: latest.path,
      entry: latest.entry,
      at: placeOf(latest),
      cells: months.map(([month, group]) => {
        const counts = counting(rule, group);
        const result = valueOf(rule, group);
        return {
          month,
          value: result,
          text: counts.text || textOf(counts.value),
          count: group.length,
          at: placeOf(counts),
        };
      }),
    };
  });
}

/** The row whose place and text a point has. */
function counting(rule: Rule, group: readonly Row[]): Row {
  const sorted = group.toSorted(byTime);
  const earliest = sorted[0]!;
  switch (rule) {
    case 'first':
      return sorted.find((one) => one.seconds === earliest.seconds && one.nanos === earliest.nanos)!;
    case 'min':
      return sorted.toSorted((a, b) => compare(b.value, a.value)).at(-1)!;
    case 'max':
      return sorted.toSorted((a, b) => compare(a.value, b.value)).at(-1)!;
    default:
      return sorted.at(-1)!;
  }
}

function valueOf(rule: Rule, group: readonly Row[]): string {
  switch (rule) {
    case 'sum':
      return textOf(sumOf(group));
    case 'average':
      return averageOf(sumOf(group), group.length);
    case 'count':
      return String(group.length);
    default:
      return textOf(counting(rule, group).value);
  }
}

function sumOf(group: readonly Row[]): Decimal {
  const scale = Math.max(...group.map((one) => one.value.scale));
  return { scale, digits: group.reduce((sum, one) => sum + at(one.value, scale), 0n) };
}

/** With six decimals more, rounded half to even, and without zeros at its end. */
function averageOf({ digits, scale }: Decimal, count: number): string {
  const size = (digits < 0n ? -digits : digits) * 10n ** 6n;
  const of = BigInt(count);
  const [whole, twiceLeft] = [size / of, 2n * (size % of)];
  const rounded = twiceLeft > of || (twiceLeft === of && whole % 2n === 1n) ? whole + 1n : whole;
  const text = textOf({ digits: digits < 0n ? -rounded : rounded, scale: scale + 6 });
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function at({ digits, scale }: Decimal, wanted: number): bigint {
  return digits * 10n ** BigInt(wanted - scale);
}

function compare(a: Decimal, b: Decimal): number {
  const difference = at(a, 3) - at(b, 3);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function textOf({ digits, scale }: Decimal): string {
  const size = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0');
  const whole = size.slice(0, size.length - scale);
  return `${digits < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${size.slice(-scale)}`}`;
}

function byTime(a: Row, b: Row): number {
  return a.seconds - b.seconds || a.nanos - b.nanos || a.row - b.row;
}

function byKey<Key extends string | number>([a]: readonly [Key, unknown], [b]: readonly [Key, unknown]): number {
  return a < b ? -1 : 1;
}

function placeOf({ seconds, nanos, row }: Row): number[] {
  return [seconds, nanos, row];
}

function put(readings: Readings, rule: Rule, { driver, path, value: read, row, entry, text, ...moment }: Row): void {
  const name = { id: driver, path, rule };
  addReading(readings, { name, moment: { ...moment, months: 1 }, value: textOf(read), text, row, entry });
}

/** One reading for all of a group, as `entry-reader.ts` makes it of what a database answers. */
function putCollapsed(readings: Readings, rule: Rule, group: readonly Row[]): void {
  const counts = counting(rule, group);
  const { path, entry, ...newest } = group.toSorted(byTime).at(-1)!;
  const latest: LatestReading | undefined =
    newest.row === counts.row
      ? undefined
      : { moment: { month: newest.month, months: 1, seconds: newest.seconds, nanos: newest.nanos }, row: newest.row };
  readings.collapsed(group.length, latest);
  const isAdded = rule === 'sum' || rule === 'average';
  put(readings, rule, { ...counts, path, entry, ...(isAdded && { value: sumOf(group), text: '' }) });
}
