/** A receiver that fails for long, by a hand-held clock that jumps: nothing is lost, and nothing is tried without end. */
import { expect, onTestFinished, test } from 'vitest';
import type { Dependencies } from '../../src/app/dependencies.ts';
import { Teller } from '../../src/app/telling/teller.ts';
import { tellingReport } from '../../src/app/telling/telling-report.ts';
import { type DaemonWorld, daemonWorld, hours, minutes, rows } from '../support/daemon-world.ts';
import { type Answer, openReceiver } from '../support/receiver.ts';

interface Outage {
  readonly w: DaemonWorld;
  readonly told: () => string[];
  /** So much time passes, and what is due then is tried, to its end. */
  readonly after: (ms: number) => Promise<void>;
  /** A sync, and what it found is told; later ones are told by the same agent. */
  readonly pass: () => Promise<void>;
  /** Another process goes on with what is on the disk. */
  readonly restart: () => Promise<void>;
}

/** A service that refuses once and then takes everything, and a hook that gives these answers. */
async function outage(...answers: readonly Answer[]): Promise<Outage> {
  const hook = await openReceiver();
  hook.answer(...answers);
  const w = await daemonWorld({ notify: [{ url: `${hook.url}/hooks/key` }] });
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(400);
  let teller: Teller | undefined;
  const deps = (): Dependencies => {
    if (opened === undefined) throw new Error('nothing is open');
    return opened;
  };
  let opened: Dependencies | undefined;
  let close = Promise.withResolvers<void>();
  const open = (): Promise<void> =>
    new Promise((resolve) => {
      void w.open(async (given) => {
        opened = { ...given, random: () => 0.999 };
        teller = new Teller(deps, 'loop');
        resolve();
        await close.promise;
        await teller[Symbol.asyncDispose]();
      });
    });
  const idle = async (): Promise<void> => teller?.finish(new AbortController().signal);
  onTestFinished(async () => {
    close.resolve();
    await w[Symbol.asyncDispose]();
    await hook[Symbol.asyncDispose]();
  });
  await w.sync({ retryForMs: 0 });
  await open();
  return {
    w,
    told: () => hook.posts.map(({ body }) => (JSON.parse(body) as { state: string }).state),
    async after(ms) {
      w.clock.jump(ms);
      await teller?.look();
      await idle();
    },
    async pass() {
      const { lastPass } = await deps().ledger.state();
      if (lastPass !== undefined) await teller?.passed(lastPass);
      await idle();
    },
    async restart() {
      close.resolve();
      close = Promise.withResolvers();
      await open();
    },
  };
}

const report = (w: DaemonWorld): Promise<ReturnType<typeof tellingReport>> =>
  w.open(async ({ ledger }) => tellingReport(await ledger.state()));

test('a hook that answers 500 for a day gets the start and the end after it, each once', async () => {
  const { w, told, after, pass } = await outage(...Array<Answer>(1000).fill(500));
  await pass();
  await w.sync();
  await pass();
  for (let quarters = 0; quarters < 24 * 4; quarters++) await after(15 * minutes);
  expect(await report(w)).toMatchObject({ failures: 97, waiting: 2, dropped: 0 });
  expect(new Set(told())).toEqual(new Set(['started']));
});

test('a hook that is back gets what waited, and status shows nothing of it any more', async () => {
  const { w, told, after, pass, restart } = await outage(500, 500);
  await pass();
  await restart();
  await w.sync();
  await pass();
  expect(await report(w)).toMatchObject({ failures: 1, waiting: 2, lastError: {} });
  await after(15 * minutes);
  await after(15 * minutes);
  expect(told()).toEqual(['started', 'started', 'started', 'ended']);
  expect(await report(w)).toEqual({ failures: 2, waiting: 0, dropped: 0 });
});

test('what could not be delivered for a week is given up for a new notice of what is wrong still, with a word in the log', async () => {
  const { w, after, pass } = await outage(...Array<Answer>(1000).fill(500));
  await pass();
  await after(7 * 24 * hours + minutes);
  await pass();
  expect(await report(w)).toMatchObject({ waiting: 1, dropped: 1 });
  expect(w.log.lines).toContainEqual({
    level: 'warn',
    message: 'notices that could not be delivered were given up',
    fields: { notices: 1 },
  });
});
