/**
 * Every system call of the real process that touches its state directory fails once, and nothing is lost. Of a `CAMPAIGN=all`,
 * `PART=3/8` is the third of eight parts that take as long as each other.
 */
import { rmSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { executable } from '../support/built.ts';
import { isExhaustive } from '../support/campaign.ts';
import { type Fault, everyFault, namesIn, representatives, traceCommand } from '../support/faults.ts';
import { startProcess } from '../support/process.ts';
import { type ProofWorld, lookAtState, pointsOfVersion, proofWorld } from '../support/proof-world.ts';
import { pointsOf } from '../support/receiver.ts';
import { cannotTrace } from '../support/strace.ts';

interface Scene {
  readonly maxDeletes?: number;
  /** Brings a world to where the command is run; version 2 of the files is what the service has to hold in the end. */
  readonly prepare: (one: ProofWorld) => Promise<readonly string[]>;
}

const scenes: Readonly<Record<string, Scene>> = {
  'the first sync': {
    async prepare(one) {
      one.write(2);
      await one.sync();
      return ['sync'];
    },
  },
  'a sync': {
    async prepare(one) {
      one.write(1);
      await one.sync();
      one.write(2);
      return ['sync'];
    },
  },
  'an approval': {
    maxDeletes: 0,
    async prepare(one) {
      one.write(1);
      await one.sync();
      one.write(2);
      const held = (await one.sync()).sources.find(({ state }) => state === 'held');
      return ['approve', held?.digest ?? 'nothing is held'];
    },
  },
  'a rollback': {
    async prepare(one) {
      one.write(1);
      await one.sync();
      one.write(2);
      await one.sync();
      return ['rollback', '1'];
    },
  },
};

/** A world before the command, and the way back to it. */
async function begin({ prepare, maxDeletes }: Scene, isFirst: boolean) {
  const one = await proofWorld(maxDeletes === undefined ? {} : { maxDeletes });
  const args = await prepare(one);
  const back = isFirst ? () => rmSync(one.state, { recursive: true, force: true }) : one.save();
  // Snapshots have their names from what they hold: those that the command will write are known once it has run.
  if (!isFirst) await run(one, args);
  await one.sync();
  const names = namesIn(one);
  back();
  return { one, args, names, back };
}

async function run({ config, folder }: ProofWorld, args: readonly string[]): Promise<void> {
  const started = startProcess([executable, ...args, '--config', config], folder);
  const { code } = await started.exit;
  expect([code, started.stderr]).toEqual([0, expect.any(String)]);
}

/** Says what is wrong with how a command took a fault; nothing if all is well. */
async function wrongWith(
  { one, args, names, back }: Awaited<ReturnType<typeof begin>>,
  fault: Fault,
): Promise<string[]> {
  back();
  const before = one.service.posts.length;
  const done = await traceCommand(one, args, { names, fault });
  const wrong: string[] = [];
  const check = (isRight: boolean, words: string): void => void (isRight || wrong.push(words));
  // Another order of calls, in a process that was slower: there is no such call in it.
  const isHit = done.calls.some(({ isInjected }) => isInjected);
  check(isHit || done.exit === 0, 'it was not hit, and did not end well');
  // What is kept is damaged, as far as the command can see.
  const exits = fault.file === 'snapshot' ? [0, 65, 75, 78] : [0, 75, 78];
  check(exits.includes(done.exit ?? -1), `it ended with ${done.exit ?? done.signal}`);
  check(done.exit === 0 || /^driver-sync: .+\n {2}\S.+/m.test(done.said), 'it does not say what to do');
  check(done.exit === 0 || done.said.includes(one.state), 'it does not say where');
  if (done.exit !== 0 && args[0] !== 'sync') await run(one, args);
  const { exit, outcome, warnings } = await one.sync();
  check(exit === 0, `the next sync ends with ${exit}: ${outcome} ${warnings.join()}`);
  const isVersion = (points: unknown, version: number): boolean => isDeepStrictEqual(points, pointsOfVersion(version));
  check(isVersion(one.holds(), 2), `the service holds ${JSON.stringify(one.holds())}`);
  const others = one.service.posts.slice(before).map(pointsOf);
  for (const points of others.filter((sent) => !isVersion(sent, 1) && !isVersion(sent, 2)))
    check(false, `it sent ${JSON.stringify(points)}`);
  const { damaged, broken, snapshots } = await lookAtState(one);
  check(
    damaged === undefined && broken.length === 0 && snapshots > 0,
    `damaged: ${JSON.stringify({ damaged, broken })}`,
  );
  return wrong.map((words) => `${JSON.stringify(fault)}: ${words}\n${done.said}`);
}

const opening = 'openat error=EIO';
const [part = 1, parts = 1] = (process.env['PART'] ?? '1/1').split('/').map(Number);

function chosen(faults: readonly Fault[]): Fault[] {
  if (isExhaustive) return faults.filter((_, index) => index % parts === part % parts);
  const kinds = representatives(faults);
  // Each file that cannot be opened, and a sample of the rest.
  return kinds.filter(({ call, how }, index) => `${call} ${how}` === opening || index % 50 === 0);
}

// Without strace nothing here runs, but in CI it fails.
describe.skipIf(cannotTrace)('the state directory', () => {
  test.each(Object.keys(scenes))(
    '%s that meets a fault of the disk says so, and the next sync is right',
    async (name) => {
      const scene = scenes[name] as Scene;
      const isFirst = name === 'the first sync';
      const first = await begin(scene, isFirst);
      const { calls, exit } = await traceCommand(first.one, first.args, { names: first.names });
      expect(exit).toBe(0);
      const faults = chosen(everyFault(calls));
      const wrong: string[] = [];
      const lane = async (world: typeof first): Promise<void> => {
        for (let fault = faults.pop(); fault !== undefined; fault = faults.pop())
          wrong.push(...(await wrongWith(world, fault)));
      };
      await Promise.all([lane(first), lane(await begin(scene, isFirst))]);
      expect(wrong).toEqual([]);
    },
  );
});
