/** Whatever the files hold, in whatever order: no more is deleted than may be, and the service holds one built snapshot. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runsOf } from '../support/campaign.ts';
import { type Points, type TestWorld, longSource, world } from '../support/world.ts';

const hour = 3_600_000;
const inMonths = ['2026-01', '2026-02', '2026-03'];
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/** What a file holds: for each driver the months it has, as bits, or a text that is no good. */
type Content = readonly number[] | 'empty' | 'broken' | 'cut';

type Step =
  | { readonly kind: 'write'; readonly file: string; readonly content: Content; readonly value: number }
  | { readonly kind: 'remove'; readonly file: string }
  | { readonly kind: 'wait'; readonly hours: number }
  | { readonly kind: 'lose' }
  | { readonly kind: 'configure'; readonly sources: readonly string[] }
  | { readonly kind: 'refuse' };

const fileNames = ['p/1.csv', 'p/2.csv', 'q/1.csv'];
// Most drivers keep most of their months, or nothing but the first read would ever be accepted.
const bits = fc.oneof(
  { weight: 6, arbitrary: fc.constant(7) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 7 }) },
);
const content: fc.Arbitrary<Content> = fc.oneof(
  { weight: 8, arbitrary: fc.array(bits, { minLength: 8, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom('empty', 'broken', 'cut') },
);
const file = fc.constantFrom(...fileNames);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('write'), file, content, value: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove'), file }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait'), hours: fc.constantFrom(1, 13, 25) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'lose' }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('configure'), sources: fc.constantFrom(['p'], ['q'], ['p', 'q']) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'refuse' }) },
);

test('without approval no more is deleted than may be, and the service holds exactly one snapshot', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 12 }), async (steps) => {
      const whole = names.map(() => 7);
      const files = Object.fromEntries(fileNames.map((name) => [name, textOf(name, whole, 1)]));
      await using w = await world({ config: configOf(['p', 'q']), files });
      expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
      const deletes = new Deletes();
      let isSettled = true;
      for (const one of steps) {
        const before = w.points();
        await take(w, one);
        const report = await w.sync();
        expect([0, 3, 4, 5]).toContain(report.exit);
        expect(deletes.tooMany(w.clock.now().getTime(), before, w.points())).toEqual([]);
        const { lastAcknowledged } = await w.status();
        expect(digestOf(w)).toBe(lastAcknowledged?.digest);
        for (const { name, state } of report.sources) {
          // What was accepted before a refused push comes with the next one.
          if (!isSettled || (state !== 'unread' && state !== 'held')) continue;
          expect(ofSource(w.points(), name)).toEqual(ofSource(before, name));
        }
        isSettled = report.outcome !== 'refused';
      }
    }),
    { ...runsOf(1, 15), endOnFailure: true },
  );
});

/** Deletes seen at the service, by source: what is beyond the allowed, in words. */
class Deletes {
  readonly #seen: { source: string; atMs: number; drivers: number; points: number }[] = [];

  tooMany(atMs: number, before: Points, after: Points): string[] {
    return ['p', 'q'].flatMap((source) => {
      const [was, is] = [ofSource(before, source), ofSource(after, source)];
      const drivers = Object.keys(was).filter((id) => !(id in is)).length;
      const points = pointNames(was).filter((name) => !pointNames(is).includes(name)).length;
      if (points === 0) return [];
      this.#seen.push({ source, atMs, drivers, points });
      const recent = this.#seen.filter((one) => one.source === source && one.atMs >= atMs - 24 * hour);
      const sum = (unit: 'drivers' | 'points') => recent.reduce((total, one) => total + one[unit], 0);
      // A read that deletes no driver is not held for those that went before.
      const tooManyDrivers = drivers > 0 && sum('drivers') > allowed(Object.keys(was).length);
      return [
        ...(tooManyDrivers ? [`${sum('drivers')} drivers of ${source}`] : []),
        ...(sum('points') > allowed(pointNames(was).length) ? [`${sum('points')} points of ${source}`] : []),
        ...(Object.keys(is).length === 0 ? [`all of ${source}`] : []),
      ];
    });
  }
}

/** A tenth, or five where those are at most half. */
function allowed(whole: number): number {
  return Math.max(Math.floor(whole / 10), Math.min(5, Math.floor(whole / 2)));
}

async function take(w: TestWorld, one: Step): Promise<void> {
  switch (one.kind) {
    case 'write':
      return w.write(one.file, textOf(one.file, one.content, one.value));
    case 'remove':
      // It may be gone already.
      return w.remove(one.file).catch(() => undefined);
    case 'wait':
      return w.clock.jump(one.hours * hour);
    case 'lose':
      return w.loseBuffer();
    case 'configure':
      return w.reconfigure(configOf(one.sources));
    case 'refuse':
      w.emulator.clearFaults();
      return w.emulator.faults({ status: 400 });
  }
}

function configOf(sources: readonly string[]) {
  return { sources: Object.fromEntries(sources.map((name) => [name, longSource(`${name}/*.csv`)])) };
}

function textOf(name: string, held: Content, value: number): string {
  const header = 'id,time,value\n';
  if (held === 'empty') return header;
  if (held === 'broken') return '';
  const has = held === 'cut' ? names.map(() => 7) : held;
  const prefix = name.replace('.csv', '');
  const rows = names.flatMap((id, driver) =>
    inMonths.flatMap((month, bit) => (((has[driver] ?? 0) >> bit) & 1 ? [`${prefix}/${id},${month},${value}\n`] : [])),
  );
  const text = header + rows.join('');
  return held === 'cut' ? text.slice(0, -1) : text;
}

function ofSource(points: Points, source: string): Points {
  return Object.fromEntries(Object.entries(points).filter(([id]) => id.startsWith(`${source}/`)));
}

function pointNames(points: Points): string[] {
  return Object.entries(points).flatMap(([id, values]) => Object.keys(values).map((month) => `${id} ${month}`));
}

/** The digest of the snapshot that would leave the service with what it holds. */
function digestOf(w: TestWorld): string {
  const body = JSON.stringify({ shouldDeleteMissing: true, extDrivers: w.drivers() });
  return createHash('sha256').update(body).digest('hex');
}
