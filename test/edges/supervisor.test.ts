/** What systemd is told of a daemon, by a hand-held clock. The booted machine of test/machine/ shows that it listens. */
import { expect, test } from 'vitest';
import { type SendToSystemd, openSupervisor } from '../../src/edges/supervisor.ts';
import type { Supervisor } from '../../src/core/ports.ts';
import { handClock } from '../support/hand-clock.ts';
import { memoryLog } from '../support/memory-log.ts';

interface Watched {
  readonly supervisor: Supervisor;
  readonly clock: ReturnType<typeof handClock>;
  readonly log: ReturnType<typeof memoryLog>;
  /** What was said since the last call, one message a text. */
  readonly said: () => Promise<string[]>;
}

function watched(env: NodeJS.ProcessEnv = { WATCHDOG_USEC: '60000000' }, send?: SendToSystemd): Watched {
  const clock = handClock(new Date('2026-03-15T12:00:00Z'));
  const log = memoryLog();
  const messages: string[] = [];
  const supervisor = openSupervisor({
    env: { NOTIFY_SOCKET: '/run/systemd/notify', ...env },
    log,
    monotonicMs: () => clock.monotonicMs(),
    send: send ?? (async (assignments) => void messages.push(assignments.join(' '))),
  });
  if (supervisor === undefined) throw new Error('nobody watches');
  return {
    supervisor,
    clock,
    log,
    async said() {
      await clock.advance(0);
      return messages.splice(0).map((message) => message.replace(/MONOTONIC_USEC=\d+/, 'MONOTONIC_USEC=…'));
    },
  };
}

const seconds = 1000;

test('nobody is told where no supervisor is there', () => {
  const log = memoryLog();
  expect(openSupervisor({ env: {}, log, monotonicMs: () => 0 })).toBeUndefined();
});

test('the daemon is ready once its loop moves, and again after a reload', async () => {
  const { supervisor, said } = watched({});
  expect(await said()).toEqual([]);
  supervisor.beat(60 * seconds);
  supervisor.beat(60 * seconds);
  expect(await said()).toEqual(['READY=1']);
  supervisor.reloading();
  supervisor.beat(60 * seconds);
  expect(await said()).toEqual(['RELOADING=1 MONOTONIC_USEC=…', 'READY=1']);
});

test('the watchdog waits as long as the step that the loop is at may take', async () => {
  const { supervisor, clock, said } = watched();
  supervisor.beat(60 * seconds);
  expect(await said()).toEqual(['READY=1 WATCHDOG_USEC=60000000 WATCHDOG=1']);
  supervisor.beat(540 * seconds);
  supervisor.beat(540 * seconds);
  expect(await said()).toEqual(['WATCHDOG_USEC=540000000 WATCHDOG=1']);
  supervisor.beat(60 * seconds);
  expect(await said()).toEqual(['WATCHDOG_USEC=60000000 WATCHDOG=1']);
  await clock.advance(10 * seconds);
  supervisor.beat(60 * seconds);
  expect(await said()).toEqual([]);
  await clock.advance(10 * seconds);
  supervisor.beat(60 * seconds);
  expect(await said()).toEqual(['WATCHDOG_USEC=60000000 WATCHDOG=1']);
});

test('time alone feeds no watchdog', async () => {
  const { supervisor, clock, said } = watched();
  supervisor.beat(60 * seconds);
  await said();
  await clock.advance(3600 * seconds);
  expect(await said()).toEqual([]);
});

test('what ends says so, and nothing of a loop that is still moving comes after it', async () => {
  const { supervisor, said } = watched();
  supervisor.stopping();
  supervisor.beat(60 * seconds);
  expect(await said()).toEqual(['STOPPING=1']);
});

test('a status is one line, and said once', async () => {
  const { supervisor, said } = watched();
  supervisor.status('held: a\nREADY=1');
  supervisor.status('held: a\nREADY=1');
  supervisor.status('well');
  expect(await said()).toEqual(['STATUS=held: a READY=1', 'STATUS=well']);
});

test('the end of the daemon waits until systemd has heard of it, before anything that still waited', async () => {
  const taken: string[] = [];
  const first = Promise.withResolvers<void>();
  const { supervisor } = watched({}, async (assignments) => {
    if (taken.push(assignments.join(' ')) === 1) await first.promise;
  });
  supervisor.beat(60 * seconds);
  supervisor.status('20 drivers acknowledged');
  supervisor.stopping();
  const ended = supervisor[Symbol.asyncDispose]();
  first.resolve();
  await ended;
  expect(taken).toEqual(['READY=1', 'STOPPING=1']);
});

test('a message waits until the one before it was taken', async () => {
  const sent: string[] = [];
  const first = Promise.withResolvers<void>();
  const { supervisor, said } = watched({}, async (assignments) => {
    sent.push(assignments.join(' '));
    if (sent.length === 1) await first.promise;
  });
  supervisor.reloading();
  supervisor.beat(60 * seconds);
  await said();
  expect(sent).toHaveLength(1);
  first.resolve();
  await said();
  expect(sent).toEqual([expect.stringContaining('RELOADING=1'), 'READY=1']);
});

test('a systemd that cannot be told is said once in the log, and changes nothing', async () => {
  const { supervisor, log, said } = watched({}, () => Promise.reject(new Error('systemd-notify ended with 1')));
  supervisor.beat(60 * seconds);
  supervisor.status('well');
  await said();
  expect(log.lines).toEqual([
    {
      level: 'warn',
      message: 'systemd cannot be told how the daemon is',
      fields: { error: 'systemd-notify ended with 1' },
    },
  ]);
});

test('a machine without systemd-notify is said in the log', async () => {
  const log = memoryLog();
  const env = { NOTIFY_SOCKET: '/run/systemd/notify', PATH: '/nowhere' };
  openSupervisor({ env, log, monotonicMs: () => 0 })?.beat(60 * seconds);
  await expect
    .poll(() => log.lines)
    .toMatchObject([
      { level: 'warn', fields: { error: expect.stringMatching(/^systemd-notify cannot be started: .*ENOENT/) } },
    ]);
});
