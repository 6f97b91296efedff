import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Stamp, formatMonth, parseMonth, stampSeconds } from '../../src/core/time/month.ts';
import { BodyEncoder, compareUtf8, encodeBody } from '../../src/core/series/snapshot.ts';
import { driver } from '../support/packed.ts';

function body(
  drivers: Iterable<ReturnType<typeof driver>>,
  shouldDeleteMissing = true,
  stamp: Stamp = 'middle',
): string {
  const chunks: Buffer[] = [];
  // Each is copied, since the next one is written over it.
  encodeBody(drivers, { shouldDeleteMissing, stamp }, (chunk) => chunks.push(Buffer.from(chunk)));
  return Buffer.concat(chunks).toString();
}

describe('the body of a snapshot', () => {
  test('has no white space, keys in their order, and values as they are', () => {
    const drivers = [
      driver('a', { '2026-03': '1.50', '2026-04': '-0.10' }, ['Revenue', 'North']),
      driver('b', { '1969-12': '7' }),
    ];
    expect(body(drivers)).toBe(
      '{"shouldDeleteMissing":true,"extDrivers":[' +
        '{"id":"a","path":["Revenue","North"],"timeSeries":[{"time":"1773576000","value":"1.50"},{"time":"1776254400","value":"-0.10"}]},' +
        '{"id":"b","path":["b"],"timeSeries":[{"time":"-1425600","value":"7"}]}]}',
    );
  });

  test('of no drivers is an empty list', () => {
    expect(body([], false)).toBe('{"shouldDeleteMissing":false,"extDrivers":[]}');
  });

  test.each<[Stamp, string]>([
    ['start', '1772323200'],
    ['middle', '1773576000'],
    ['end', '1775001599'],
  ])('stands for March 2026 at its %s by %s', (stamp, time) => {
    expect(body([driver('a', { '2026-03': '1' })], true, stamp)).toContain(`"time":"${time}"`);
  });

  test('is what JSON.stringify would write, at any size and with any text', () => {
    const value = fc.stringMatching(/^-?(0|[1-9]\d{0,40})(\.\d{1,4})?$/);
    const anyDriver = fc.record({
      id: fc.string({ unit: 'grapheme', minLength: 1 }),
      path: fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 }), { minLength: 1 }),
      values: fc.dictionary(fc.constantFrom('2024-01', '2024-02', '2025-12'), value),
    });
    fc.assert(
      fc.property(fc.uniqueArray(anyDriver, { selector: ({ id }) => id }), (drivers) => {
        const sorted = drivers.toSorted((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
        const months = ({ values }: (typeof drivers)[number]) =>
          Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1));
        const packed = sorted.map((one) => driver(one.id, Object.fromEntries(months(one)), one.path));
        const expected = sorted.map((one) => ({
          id: one.id,
          path: one.path,
          timeSeries: months(one).map(([month, text]) => ({
            time: String(stampSeconds(parseMonth(month)!, 'middle')),
            value: text,
          })),
        }));
        expect(body(packed)).toBe(JSON.stringify({ shouldDeleteMissing: true, extDrivers: expected }));
      }),
    );
  });

  test('comes in chunks that make one whole, though a driver is larger than any', () => {
    const months = Object.fromEntries(
      Array.from({ length: 3000 }, (_, index) => [
        `${1700 + Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, '0')}`,
        '9'.repeat(300),
      ]),
    );
    const drivers = ['a', 'b', 'c'].map((id) => driver(id, months));
    const parsed = JSON.parse(body(drivers)) as { extDrivers: { timeSeries: { value: string }[] }[] };
    expect(parsed.extDrivers.map(({ timeSeries }) => timeSeries.length)).toEqual([3000, 3000, 3000]);
    expect(parsed.extDrivers[2]?.timeSeries.at(-1)?.value).toBe('9'.repeat(300));
  });
});

test('a body is the same whatever was written before it: other stamps, other months in the same places, longer drivers', () => {
  const series = fc.uniqueArray(fc.integer({ min: 1600 * 12, max: 9999 * 12 }), { minLength: 1, maxLength: 40 });
  const one = fc.record({
    stamp: fc.constantFrom<Stamp>('start', 'middle', 'end'),
    months: fc.oneof(
      series,
      fc
        .constantFrom(100, 1023, 1024, 1025, 3000)
        .map((count) => Array.from({ length: count }, (_, at) => 24_000 + at)),
    ),
    value: fc.constantFrom('0', '-1.25', '123456789012345', '1234567890123456', '12345678901234567', '7'.repeat(140)),
  });
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 6 }), (bodies) => {
      for (const { stamp, months, value } of bodies) {
        const sorted = months.toSorted((a, b) => a - b);
        const values = Object.fromEntries(sorted.map((month) => [formatMonth(month), value]));
        const timeSeries = sorted.map((month) => ({ time: String(stampSeconds(month, stamp)), value }));
        expect(body([driver('a', values)], true, stamp)).toBe(
          JSON.stringify({ shouldDeleteMissing: true, extDrivers: [{ id: 'a', path: ['a'], timeSeries }] }),
        );
      }
    }),
  );
});

test('chunks that are kept stay as they were while the next ones are made', () => {
  const format = { shouldDeleteMissing: true, stamp: 'middle' } as const;
  const drivers = Array.from({ length: 12_000 }, (_, at) => driver(`driver ${at}`, { '2025-01': `${at}.25` }));
  const kept: Uint8Array[] = [];
  const encoder = new BodyEncoder(format, (chunk) => void kept.push(chunk), 'kept');
  for (const one of drivers) encoder.add(one);
  encoder.end();
  const copies: Uint8Array[] = [];
  encodeBody(drivers, format, (chunk) => void copies.push(Uint8Array.from(chunk)));
  expect(kept.length).toBeGreaterThan(3);
  expect(Buffer.compare(Buffer.concat(kept), Buffer.concat(copies))).toBe(0);
});

describe('drivers in a section', () => {
  const piece = (bytes: Uint8Array): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const sectionOf = (drivers: readonly ReturnType<typeof driver>[]): Buffer =>
    Buffer.concat(
      drivers.flatMap(({ id, path, rule, points }) => [
        piece(Buffer.from(JSON.stringify(['sales', id, rule, path, null]))),
        piece(points),
      ]),
    );

  test('give the same bytes as one by one, and are counted', () => {
    const name = fc.string({ unit: fc.constantFrom('a', '"', '\\', ',', 'é', '\n', '\ud800'), maxLength: 8 });
    const one = fc.record({ id: name, path: fc.array(name, { minLength: 1 }), hasPoints: fc.boolean() });
    fc.assert(
      fc.property(fc.uniqueArray(one, { selector: ({ id }) => id }), fc.nat(5), (list, first) => {
        const drivers = list.map(({ id, path, hasPoints }) => driver(id, hasPoints ? { '2025-01': '7' } : {}, path));
        const chunks: Buffer[] = [];
        const format = { shouldDeleteMissing: true, stamp: 'middle' } as const;
        const encoder = new BodyEncoder(format, (chunk) => chunks.push(Buffer.from(chunk)));
        const counts = [drivers.slice(0, first), drivers.slice(first)].map((some) =>
          encoder.addSection(sectionOf(some)),
        );
        encoder.end();
        expect(Buffer.concat(chunks).toString()).toBe(body(drivers));
        expect(counts).toEqual([Math.min(first, drivers.length), Math.max(0, drivers.length - first)]);
      }),
    );
  });

  test('make chunks that may be kept, and none that is empty', () => {
    const large = driver('large', { '2025-01': '7' }, ['x'.repeat(1_000_000)]);
    const some = Array.from({ length: 9000 }, (_, at) => driver(`driver ${at}`, { '2025-01': `${at}.25` }));
    const sections = [some.slice(0, 6000), some.slice(6000), [large]];
    const chunks: Uint8Array[] = [];
    const format = { shouldDeleteMissing: true, stamp: 'middle' } as const;
    const encoder = new BodyEncoder(format, (chunk) => void chunks.push(chunk), 'kept');
    for (const one of sections) encoder.addSection(sectionOf(one));
    encoder.end();
    expect(Buffer.concat(chunks).toString() === body([...some, large])).toBe(true);
    expect(chunks.map((chunk) => chunk.length)).not.toContain(0);
  });

  test('are refused where the section does not end with one of them', () => {
    const whole = sectionOf([driver('a', { '2025-01': '7' }), driver('b', { '2025-02': '8' })]);
    const encode = (section: Uint8Array): number =>
      new BodyEncoder({ shouldDeleteMissing: true, stamp: 'middle' }, () => {}).addSection(section);
    const ofOne = sectionOf([driver('a', { '2025-01': '7' })]).length;
    for (let length = 1; length < whole.length; length++) {
      if (length === ofOne) continue;
      expect(() => encode(whole.subarray(0, length)), `${length} bytes`).toThrow('a section of drivers is damaged');
    }
    for (const length of [0x7fff_ffff, 0xffff_fff0, 0xffff_ffff]) {
      const broken = Buffer.from(whole);
      broken.writeUInt32LE(length, 0);
      expect(() => encode(broken), String(length)).toThrow('a section of drivers is damaged');
    }
    expect(encode(whole)).toBe(2);
  });
});

test('ids are ordered by their UTF-8 bytes', () => {
  const edges = fc.constantFrom(
    'a',
    '\ud7ff',
    '\u{10000}',
    '\u{103ff}',
    '\u{10fc00}',
    '\u{10ffff}',
    '\ue000',
    '\uffff',
  );
  const id = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: edges, maxLength: 4 }));
  fc.assert(
    fc.property(id, id, id, (front, a, b) => {
      const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
      expect(Math.sign(compareUtf8(a, b))).toBe(bytes);
      expect(Math.sign(compareUtf8(front + a, front + b))).toBe(bytes);
    }),
  );
  expect(compareUtf8('\uffff', '\u{10000}')).toBeLessThan(0);
});
