/** Text files without a line end at their end, which may be half a file: a number that is cut looks like a number. */
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { PassEvent } from '../../src/app/dependencies.ts';
import { runPass } from '../../src/app/pass.ts';
import type { PassReport } from '../../src/core/report.ts';
import { kinds } from '../../src/sources/index.ts';
import { arrange, reportOf } from '../support/pushed-world.ts';
import { type TestWorld, longSource } from '../support/world.ts';

const whole = 'id,time,value\nA,2026-01,1\n';
const cut = 'id,time,value\nB,2026-01,1234';

/** A world whose clock shows the time that the file system has. */
async function timely(keys: object, files: Readonly<Record<string, string>>): Promise<TestWorld> {
  const made = await arrange({ sources: { sales: longSource('in/*.csv', keys) } }, files);
  made.clock.jump(Date.now() - made.clock.now().getTime());
  return made;
}

interface Passed {
  readonly report: PassReport;
  readonly waits: readonly Extract<PassEvent, { kind: 'waiting' }>[];
}

/** One pass, in which time goes on only while it waits. */
async function pass(made: TestWorld, whileWaiting?: (times: number) => void): Promise<Passed> {
  const { clock, dir } = made;
  const waits: Extract<PassEvent, { kind: 'waiting' }>[] = [];
  const report = await made.open((inner) => {
    const openSource: typeof inner.openSource = ({ type, kind, name, mapping }) =>
      kinds[type]!.open(kind, { name, baseDir: dir, clock, mapping, timezone: 'UTC' });
    const observe = (event: PassEvent): void => {
      if (event.kind !== 'waiting') return;
      waits.push(event);
      void turn().then(() => {
        whileWaiting?.(waits.length);
        return clock.advance(event.ms);
      });
    };
    const options = { push: 'ifNeeded', resume: true, retryForMs: 0 } as const;
    return runPass({ ...inner, clock, openSource, observe }, options, new AbortController().signal);
  });
  return { report, waits };
}

describe('a new file without a line end', () => {
  test('is not read where another file of its source ends with one', async () => {
    const made = await timely({}, { 'in/a.csv': whole, 'in/b.csv': cut });
    for (const report of [await made.sync(), await made.sync()]) {
      expect(reportOf(report, 'sales')).toMatchObject({
        state: 'unread',
        reason: 'in/b.csv: it ends without a line end, and in/a.csv of the same source has one',
        hint: expect.stringContaining('lineEnd: any'),
      });
    }
    expect(made.drivers()).toEqual([]);
    await made.write('in/b.csv', `${cut}5.67\n`);
    expect(await made.sync()).toMatchObject({ exit: 0 });
    expect(made.points()['B']).toEqual({ '2026-01': '12345.67' });
  });

  test('that comes later is not read either: the accepted file says how files of its source end', async () => {
    const made = await timely({}, { 'in/a.csv': whole });
    await made.sync();
    await made.write('in/b.csv', cut);
    expect(await made.sync()).toMatchObject({ exit: 3, sources: [{ state: 'unread' }] });
    await made.remove('in/a.csv');
    expect(await made.sync()).toMatchObject({ exit: 3, sources: [{ state: 'unread' }] });
    expect(made.points()).toEqual({ A: { '2026-01': '1' } });
  });

  test('is not read where only the newest counts and an older one ends with one', async () => {
    const made = await timely({ parts: 'newest' }, { 'in/a.csv': whole, 'in/b.csv': cut });
    expect(reportOf(await made.sync(), 'sales')).toMatchObject({
      state: 'unread',
      reason: expect.stringContaining('in/a.csv of the same source has one'),
    });
  });

  test('has to be quiet for a minute where nothing is known, and the pass waits and says so', async () => {
    const made = await timely({}, { 'in/b.csv': cut });
    const { report, waits } = await pass(made);
    expect(report).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(waits).toEqual([
      { kind: 'waiting', ms: expect.any(Number), why: expect.stringContaining('in/b.csv ends without a line end') },
    ]);
    expect(Number.isInteger(waits[0]?.ms)).toBe(true);
    expect(waits[0]?.ms).toBeGreaterThan(50_000);
    expect(waits[0]?.ms).toBeLessThanOrEqual(60_000);
    expect(made.points()).toEqual({ B: { '2026-01': '1234' } });
  });

  test('is read as it is after the wait: the number that was cut is whole then', async () => {
    const made = await timely({}, { 'in/b.csv': cut });
    const { report, waits } = await pass(made, () => appendFileSync(path.join(made.dir, 'in/b.csv'), '5.67\n'));
    expect(report).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(waits).toHaveLength(1);
    expect(made.points()).toEqual({ B: { '2026-01': '12345.67' } });
  });

  test('that goes on growing without one is given up: not read', async () => {
    const made = await timely({}, { 'in/b.csv': cut });
    // Its times are ahead of the clock then and say nothing: it has to be seen standing still.
    made.clock.jump(-86_400_000);
    const { report, waits } = await pass(made, () => appendFileSync(path.join(made.dir, 'in/b.csv'), '0'));
    expect(report).toMatchObject({ exit: 4, outcome: 'blocked' });
    expect(reportOf(report, 'sales')).toMatchObject({ state: 'unread', reason: expect.stringContaining('in/b.csv') });
    expect(waits.length).toBeGreaterThan(1);
    expect(waits.length).toBeLessThanOrEqual(12);
  });

  test('waits ten times as long as settle', async () => {
    const made = await timely({ settle: '9s' }, { 'in/b.csv': cut });
    made.clock.jump(10_000);
    const { report, waits } = await pass(made);
    expect(report).toMatchObject({ exit: 0 });
    const [first] = waits;
    expect(first?.ms).toBeGreaterThan(70_000);
    expect(first?.ms).toBeLessThanOrEqual(80_000);
  });

  test('that has been quiet for a minute is read at once', async () => {
    const made = await timely({}, { 'in/b.csv': cut });
    made.clock.jump(61_000);
    const { report, waits } = await pass(made);
    expect(report).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(waits).toEqual([]);
  });

  test('is whole with lineEnd: any, also beside files that end with one', async () => {
    const made = await timely({ lineEnd: 'any' }, { 'in/a.csv': whole, 'in/b.csv': cut });
    expect(await made.sync()).toMatchObject({ exit: 0 });
    expect(made.points()).toEqual({ A: { '2026-01': '1' }, B: { '2026-01': '1234' } });
  });

  test('is read at once where it was accepted without one: so it is written', async () => {
    const made = await timely({}, { 'in/b.csv': cut });
    await pass(made);
    await made.write('in/b.csv', `${cut}\nB,2026-02,2`);
    const { report, waits } = await pass(made);
    expect(report).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(waits).toEqual([]);
  });
});

test('a file that lost its line end and got it back is as it was accepted', async () => {
  const made = await timely({}, { 'in/a.csv': whole });
  await made.sync();
  await made.write('in/a.csv', whole.slice(0, -1));
  expect(reportOf(await made.sync(), 'sales')).toMatchObject({
    state: 'unread',
    reason: 'in/a.csv: it ends without a line end, and its accepted read had one',
  });
  await made.write('in/a.csv', whole);
  expect(await made.sync()).toMatchObject({ exit: 0, outcome: 'unchanged', sources: [{ state: 'unchanged' }] });
});
