/** Files that change before or while they are read: two contents are never mixed, and the pass goes on. */
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { runPass } from '../../src/app/pass.ts';
import type { PassReport } from '../../src/core/report.ts';
import type { PassEvent } from '../../src/app/dependencies.ts';
import { kinds } from '../../src/sources/index.ts';
import { arrange, file, reportOf, revenue } from '../support/pushed-world.ts';
import { type TestWorld, longFile, longSource } from '../support/world.ts';

/** A world with one source, whose data the service holds. Its clock is a day back, so no file has been quiet for any time. */
async function pushedAlone(keys: object = {}): Promise<TestWorld> {
  const made = await arrange({ sources: { revenue: longSource(file) } }, { [file]: longFile(revenue) });
  setBack(made);
  expect(await made.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  await made.reconfigure({ sources: { revenue: longSource(file, keys) } });
  return made;
}

function setBack({ clock }: TestWorld): void {
  const dayMs = 86_400_000;
  clock.jump(Date.now() - dayMs - clock.now().getTime());
}

interface Interference {
  readonly observe?: (event: PassEvent) => void;
  /** Whenever the pass waits for a file, before time goes on. */
  readonly whileWaiting?: () => void;
}

/** A pass with one source, in which time goes on only while it waits for the file. */
async function interfere(made: TestWorld, { observe, whileWaiting }: Interference): Promise<PassReport> {
  const pass = made.open(async (inner) => {
    const { clock } = made;
    const openSource: typeof inner.openSource = ({ type, kind, name, mapping }) =>
      kinds[type]!.open(kind, { name, baseDir: made.dir, clock, mapping, timezone: 'UTC' });
    const options = { push: 'ifNeeded', resume: true, retryForMs: 0 } as const;
    const signal = new AbortController().signal;
    return runPass({ ...inner, clock, openSource, observe: observe ?? inner.observe }, options, signal);
  });
  const over = new AbortController();
  const ended = pass.finally(() => over.abort());
  while (!over.signal.aborted) {
    await turn();
    // One sleeper is the timeout of the source; a second one waits for the file.
    if (made.clock.sleepers() < 2) continue;
    whileWaiting?.();
    await made.clock.advance(500);
  }
  return ended;
}

describe('a file that is replaced while it is read', () => {
  const months = Array.from(
    { length: 1200 },
    (_, index) => `${1900 + Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, '0')}`,
  );
  const drivers = 100;
  /** Long enough to be read in many pieces. */
  const bulk = (value: number): string => {
    const driver = (id: number): string => months.map((month) => `D${id},${month},${value}\n`).join('');
    return `id,time,value\n${Array.from({ length: drivers }, (_, id) => driver(id)).join('')}`;
  };

  test.each<[string, (target: string) => void]>([
    [
      'by another one under its name',
      (target) => {
        writeFileSync(`${target}.new`, bulk(2));
        renameSync(`${target}.new`, target);
      },
    ],
    ['in place', (target) => writeFileSync(target, bulk(2))],
    ['by one that is longer', (target) => appendFileSync(target, bulk(2).replaceAll('D', 'E').slice(14))],
  ])('%s is read again whole: never a mixed read', async (what, replace) => {
    const made = await arrange({ sources: { revenue: longSource(file) } }, { [file]: bulk(1) });
    setBack(made);
    let isReplaced = false;
    const report = await interfere(made, {
      observe(event) {
        if (event.kind !== 'part.reading' || isReplaced || (event.share ?? 1) > 0.5) return;
        isReplaced = true;
        replace(path.join(made.dir, file));
      },
    });
    expect(isReplaced).toBe(true);
    expect(report).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    const values = new Set(Object.values(made.points()).flatMap((points) => Object.values(points)));
    expect([...values]).toEqual(what === 'by one that is longer' ? ['1', '2'] : ['2']);
    expect(made.drivers()).toHaveLength(what === 'by one that is longer' ? 2 * drivers : drivers);
  });

  test('over and over is given up: not read, and what the service holds stays', async () => {
    const made = await pushedAlone();
    await made.write(file, longFile({ North: { '2026-01': 100 } }));
    const startMs = made.clock.monotonicMs();
    let times = 0;
    const report = await interfere(made, {
      observe({ kind }) {
        if (kind === 'part.reading')
          writeFileSync(path.join(made.dir, file), longFile({ North: { '2026-01': ++times } }));
      },
    });
    expect(times).toBeGreaterThan(1);
    expect(made.clock.monotonicMs() - startMs).toBeLessThan(70_000);
    expect(report).toMatchObject({ outcome: 'unchanged', exit: 3 });
    expect(reportOf(report)).toMatchObject({ state: 'unread', reason: expect.stringMatching(/revenue\.csv.*changed/) });
    expect(made.points()).toEqual(revenue);
  });
});

test('a file that is never the same is called changing, also where its source has a short timeout', async () => {
  const made = await pushedAlone({ timeout: '10s' });
  await made.write(file, longFile({ North: { '2026-01': 100 } }));
  let times = 0;
  const report = await interfere(made, {
    observe({ kind }) {
      if (kind === 'part.reading')
        writeFileSync(path.join(made.dir, file), longFile({ North: { '2026-01': ++times } }));
    },
  });
  expect(reportOf(report)).toMatchObject({ state: 'unread', reason: expect.stringMatching(/revenue\.csv.*changed/) });
});

describe('a file that is still being written', () => {
  test('is waited for until it was quiet for settle', async () => {
    const made = await pushedAlone({ settle: '2s' });
    await made.write(file, longFile(revenue));
    let appended = 0;
    const report = await interfere(made, {
      whileWaiting() {
        if (appended < 3) appendFileSync(path.join(made.dir, file), `West,2026-0${++appended},${appended}\n`);
      },
    });
    expect(report).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(made.points()['West']).toEqual({ '2026-01': '1', '2026-02': '2', '2026-03': '3' });
  });

  test('all the time is not read, and after a minute the pass goes on without it', async () => {
    const made = await pushedAlone({ settle: '2s' });
    await made.write(file, longFile(revenue));
    const startMs = made.clock.monotonicMs();
    const report = await interfere(made, {
      whileWaiting: () => appendFileSync(path.join(made.dir, file), 'West,2026-01,1\n'),
    });
    expect(made.clock.monotonicMs() - startMs).toBeLessThan(70_000);
    expect(report).toMatchObject({ outcome: 'unchanged', exit: 3 });
    expect(reportOf(report)).toMatchObject({
      state: 'unread',
      reason: expect.stringMatching(/revenue\.csv.*hold still/),
    });
    expect(made.points()).toEqual(revenue);
  });
});

test('a read past its timeout has failed, and says which source and how long', async () => {
  const made = await pushedAlone({ settle: '30s', timeout: '5s' });
  await made.write(file, longFile({ ...revenue, North: { '2026-01': 100 } }));
  const report = await interfere(made, {});
  expect(report).toMatchObject({ outcome: 'unchanged', exit: 3 });
  expect(reportOf(report)).toMatchObject({ state: 'unread', reason: expect.stringMatching(/"revenue".*\b5 ?s/) });
  expect(made.points()).toEqual(revenue);
});
