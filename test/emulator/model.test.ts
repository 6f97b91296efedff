import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Driver, Point, Update } from '../../src/contract/driver-push.ts';
import { updateSchema } from '../../src/contract/driver-push.ts';
import { runsOf } from '../support/campaign.ts';
import { emulatorWorld, send, streamOf } from '../support/emulator-world.ts';

/** The rules of the driver push, in their simplest form. */
class Model {
  readonly #drivers = new Map<string, { path: string[]; points: Map<string, Point> }>();

  push({ shouldDeleteMissing, extDrivers }: Update): void {
    const told = new Map<string, { path: string[]; points: Map<string, Point> }>();
    for (const { id, path, timeSeries } of extDrivers) {
      const points = told.get(id)?.points ?? new Map<string, Point>();
      told.set(id, { path, points });
      for (const point of timeSeries) {
        const month = new Date(Number(point.time) * 1_000).toISOString().slice(0, 7);
        const other = points.get(month);
        if (other === undefined || Number(other.time) <= Number(point.time)) points.set(month, point);
      }
    }
    if (shouldDeleteMissing === true) this.#drivers.clear();
    for (const [id, { path, points }] of told) {
      const known = this.#drivers.get(id)?.points ?? [];
      this.#drivers.set(id, { path, points: new Map([...known, ...points]) });
    }
  }

  drivers(): Driver[] {
    const sorted = [...this.#drivers].sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    return sorted.map(([id, { path, points }]) => ({
      id,
      path,
      timeSeries: [...points].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, point]) => point),
    }));
  }
}

// Few values, so that they collide: starts, ends and middles of three months, and one moment in two notations.
const time = fc.constantFrom(
  ...[
    '2026-02-28T23:59:59Z',
    '2026-03-01T00:00:00Z',
    '2026-03-15T12:00:00Z',
    '2026-03-31T23:59:59Z',
    '2026-04-01T00:00:00Z',
  ]
    .map((moment) => String(Date.parse(moment) / 1_000))
    .flatMap((seconds) => [seconds, `000000000${seconds}`]),
);
const value = fc.stringMatching(/^-?\d{1,4}(\.\d{1,3})?$/);
const text = fc.constantFrom('a', 'b', 'é', '"timeSeries":[', '\uFFFD', '\u{1F600}', 'a/b', '\u0000');
const element = fc.record({
  id: text,
  path: fc.array(text, { minLength: 1, maxLength: 3 }),
  timeSeries: fc.array(fc.record({ time, value }), { maxLength: 6 }),
});
const update = fc.record(
  { shouldDeleteMissing: fc.boolean(), extDrivers: fc.array(element, { maxLength: 5 }) },
  { requiredKeys: ['extDrivers'] },
);

/** Notations of the same update. */
const writing = fc.record({
  indent: fc.constantFrom(undefined, 2, '\t'),
  reversed: fc.boolean(),
  escaped: fc.boolean(),
  gzip: fc.boolean(),
  pieceBytes: fc.integer({ min: 1, max: 300 }),
});
type Writing = typeof writing extends fc.Arbitrary<infer Written> ? Written : never;

function write(content: Update, { indent, reversed, escaped }: Writing): Buffer {
  const order = (_key: string, node: unknown): unknown =>
    reversed && typeof node === 'object' && node !== null && !Array.isArray(node)
      ? Object.fromEntries(Object.entries(node).reverse())
      : node;
  const json = JSON.stringify(content, order, indent);
  const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // Escapes also characters that need none, such as digits.
  return Buffer.from(
    escaped ? json.replaceAll(/[^\p{ASCII}]|(?<=")[\da-z]/gv, (found) => found.split('').map(escape).join('')) : json,
  );
}

test('any requests, written and cut in any way, have the result that the rules give', async () => {
  const emulator = await emulatorWorld();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(update, writing), { minLength: 1, maxLength: 5 }), async (requests) => {
      emulator.reset();
      const model = new Model();
      for (const [content, how] of requests) {
        const body = write(content, how);
        const sent = how.gzip ? gzipSync(body) : body;
        const headers: Record<string, string> = how.gzip ? { 'content-encoding': 'gzip' } : {};
        const { status } = await send(emulator, streamOf(sent, how.pieceBytes), headers);
        expect(status).toBe(200);
        model.push(content);
        expect(emulator.drivers()).toEqual(model.drivers());
      }
    }),
    runsOf(80, 600),
  );
});

test('what the emulator shows can be sent to another one, which then shows the same', async () => {
  const [first, second] = [await emulatorWorld(), await emulatorWorld()];
  await fc.assert(
    fc.asyncProperty(update, async (content) => {
      first.reset();
      await send(first, JSON.stringify(content));
      const shown = await (await first.fetch('/_emulator/drivers')).text();
      const body = shown.replace('{"drivers":', '{"shouldDeleteMissing":true,"extDrivers":');
      expect(updateSchema.safeParse(JSON.parse(body)).success).toBe(true);
      expect((await send(second, body)).status).toBe(200);
      expect(await (await second.fetch('/_emulator/drivers')).text()).toBe(shown);
    }),
    runsOf(20, 100),
  );
});
