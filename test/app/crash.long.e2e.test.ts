/** Pulls the plug of the agent, everywhere, and looks at what the service and the state directory are left with. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openAgent } from '../../src/compose/agent.ts';
import { openState } from '../../src/compose/state.ts';
import { runPass } from '../../src/app/pass.ts';
import type { PassReport } from '../../src/core/report.ts';
import type { PassEvent } from '../../src/app/dependencies.ts';
import { openArchive } from '../../src/edges/state/archive.ts';
import {
  type ChildPlan,
  type Kill,
  replaceFile,
  settingsOf,
  steadyLines,
  writeVersion,
} from '../support/crash-child.ts';
import { type Manner, type Moment, type Service, openService } from '../support/crash-service.ts';
import { build, builtFolder } from '../support/built.ts';
import { isCampaign } from '../support/campaign.ts';
import { never } from '../support/destination-world.ts';
import { memoryLog } from '../support/memory-log.ts';
import { dice, propertySeed } from '../support/seeds.ts';

const home = mkdtempSync(path.join(tmpdir(), 'driver-sync-crash-'));
// Beside the agent, where packages are found.
const programs = path.join(builtFolder, 'crash');
const program = path.join(programs, 'crash-child.js');
beforeAll(() => build(programs, { 'crash-child': path.join(import.meta.dirname, '../support/crash-child.ts') }));
afterAll(() => {
  for (const folder of [home, programs]) rmSync(folder, { recursive: true, force: true });
});

/** A service that is silent for so long is given up. Every wait for a late landing takes as long. */
const timeoutMs = 1000;

interface World {
  readonly folder: string;
  readonly config: string;
  readonly service: Service;
  readonly drivers: number;
  /** Files of the archive that were found whole; each is written once. */
  readonly whole: Set<string>;
}

interface WorldOptions {
  readonly drivers?: number;
  readonly maxDeletes?: string;
}

async function world({ drivers = 5, maxDeletes = '1000000' }: WorldOptions = {}): Promise<World> {
  const folder = mkdtempSync(path.join(home, 'world-'));
  const service = await openService();
  const config = path.join(folder, 'driver-sync.yaml');
  const source = (name: string, files: string): string => `
  ${name}:
    type: csv
    files: [${files}]
    settle: 0s
    drivers: [{ id: "${name}/{name}", path: [All, "{name}"], time: "{month}", value: "{amount}" }]`;
  writeFileSync(
    config,
    `destination: { url: "${service.url}", timeout: ${timeoutMs}ms }
guard: { maxDeletes: ${maxDeletes} }
sources:${source('revenue', 'revenue/*.csv')}${source('steady', 'steady.csv')}
`,
  );
  mkdirSync(path.join(folder, 'revenue'));
  replaceFile(path.join(folder, 'steady.csv'), steadyLines);
  return { folder, config, service, drivers, whole: new Set() };
}

/** The body that a version of the files is to become, written down without the agent. */
function bodyOf(version: number, drivers: number): string {
  const times = ['1768478400', '1771156800', '1773576000'];
  const points = (values: readonly string[]): string =>
    values.map((value, month) => `{"time":"${times[month]}","value":"${value}"}`).join(',');
  const driver = (source: string, name: string, values: readonly string[]): string =>
    `{"id":"${source}/${name}","path":["All","${name}"],"timeSeries":[${points(values)}]}`;
  const many = Array.from({ length: drivers }, (_, index) => {
    const value = `${version}.${index}`;
    return driver('revenue', `d${String(index).padStart(4, '0')}`, [value, value, value]);
  });
  const all = [
    ...many,
    driver('revenue', `extra${version % 3}`, [`${version}.5`]),
    driver('steady', 'alpha', ['7', '7.10']),
    driver('steady', 'beta', ['-0.5']),
  ];
  return `{"shouldDeleteMissing":true,"extDrivers":[${all.join(',')}]}`;
}

function versionOf(body: string): number {
  return Number(/"value":"(\d+)\./.exec(body)?.[1]);
}

/** Every body is whole, and none comes after a newer one. */
function expectSound({ service, drivers }: World): void {
  const versions = service.applied.map(versionOf);
  expect(versions).toEqual(versions.toSorted((a, b) => a - b));
  for (const [at, body] of service.applied.entries()) expect(body).toBe(bodyOf(versions[at] as number, drivers));
}

/** The databases are whole, and every snapshot in the archive gives the bytes of its digest. */
async function expectIntact({ folder, whole }: World): Promise<void> {
  const state = path.join(folder, '.driver-sync');
  for (const name of ['buffer.db', 'ledger.db']) {
    const file = path.join(state, name);
    if (!existsSync(file)) continue;
    const database = new Database(file, { readonly: true });
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    database.close();
  }
  const folderOfArchive = path.join(state, 'archive');
  const archive = openArchive(folderOfArchive);
  for (const name of existsSync(folderOfArchive) ? readdirSync(folderOfArchive) : []) {
    const [digest, suffix] = name.split('.');
    if (digest === undefined || suffix === undefined || whole.has(digest)) continue;
    const hash = createHash('sha256');
    for await (const chunk of (await archive.open(digest))?.body().chunks() ?? []) hash.update(chunk);
    expect(hash.digest('hex')).toBe(digest);
    whole.add(digest);
  }
}

/** Runs an agent over this version and those after it, until it dies. */
async function runUntilKilled(
  { folder, config, service, drivers }: World,
  kill: Kill | { readonly when: Moment },
  version: number,
): Promise<void> {
  const versions = { folder, from: version, drivers };
  const plan: ChildPlan = { config, kill: 'when' in kill ? 'never' : kill, work: { versions } };
  const child = startChild(plan);
  if ('when' in kill) service.at = (moment) => void (moment === kill.when && child.kill('SIGKILL'));
  expect(await endOf(child)).toEqual(itsDeath);
  service.at = () => undefined;
}

function startChild(plan: ChildPlan): ChildProcess {
  const child = spawn(process.execPath, [program, JSON.stringify(plan)], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

interface End {
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly said: string;
}

const itsEnd: End = { exit: 0, signal: null, said: '' };
const itsDeath: End = { exit: null, signal: 'SIGKILL', said: '' };

async function endOf(child: ChildProcess): Promise<End> {
  let said = '';
  child.stderr?.on('data', (chunk) => (said += String(chunk)));
  const [exit, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { exit, signal, said };
}

/** One pass of a new agent, in this process, as `sync` runs it; the daemon does not go on from a rollback by itself. */
async function sync(
  { config }: World,
  { resume = true, waiting = (): void => undefined } = {},
): Promise<PassReport & { readonly waits: string[] }> {
  const waits: string[] = [];
  const observe = (event: PassEvent): void => {
    if (event.kind !== 'waiting') return;
    waits.push(event.why);
    waiting();
  };
  const options = { command: 'sync', log: memoryLog(), version: '0.1.0', env: {}, observe } as const;
  await using agent = await openAgent(settingsOf(config), options);
  const pass = { push: 'ifNeeded', resume, retryForMs: 60_000 } as const;
  return { ...(await runPass({ ...agent.deps, random: () => 0 }, pass, never)), waits };
}

function write({ folder, drivers }: World, version: number): void {
  writeVersion({ folder, from: version, drivers }, version);
}

function held({ service }: World): string | undefined {
  return service.applied.at(-1);
}

/** A world whose service has version 1. */
async function servedWorld(options: WorldOptions = {}): Promise<World> {
  const served = await world(options);
  write(served, 1);
  expect(await sync(served)).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  return served;
}

/** The version of the files as they lie there; the agent may have been killed between the two of them. */
function newestOf({ folder }: World): number {
  const [, row = ''] = readFileSync(path.join(folder, 'revenue', 'one.csv'), 'utf8').split('\n');
  return Number(row.split(',')[2]?.split('.')[0]);
}

interface FaultPoint {
  readonly kill: Kill | { readonly when: Moment };
  /** What the service may hold right after. */
  readonly left: readonly number[];
  /** What the next sync makes of the same files. */
  readonly next?: PassReport['outcome'];
}

/** Pulls the plug in a world whose service has version 1, while version 2 is on its way. */
async function killed({ kill, left }: FaultPoint): Promise<World> {
  // A body of several chunks has a middle.
  const one = await servedWorld({ drivers: 'event' in kill && kill.event === 'push.sending' ? 2000 : 5 });
  if ('when' in kill && kill.when === 'received') one.service.manner = () => 'refuse to talk';
  await runUntilKilled(one, kill, 2);
  one.service.manner = () => 'answer';
  await expectIntact(one);
  expectSound(one);
  expect(left).toContain(versionOf(held(one) ?? ''));
  return one;
}

/** The state and what the service holds are as they are now once the result is called. The files are left alone. */
function remember({ folder, service, whole }: World): () => void {
  const state = path.join(folder, '.driver-sync');
  const copy = path.join(home, `state-of-${path.basename(folder)}`);
  cpSync(state, copy, { recursive: true, preserveTimestamps: true });
  const applied = [...service.applied];
  return () => {
    rmSync(state, { recursive: true });
    renameSync(copy, state);
    service.applied.splice(0, Infinity, ...applied);
    whole.clear();
  };
}

const faultPoints: readonly (readonly [name: string, FaultPoint])[] = [
  ['before a part is swapped', { kill: { event: 'part.folded', nth: 1 }, left: [1] }],
  ['between the swaps of two parts', { kill: { event: 'part.swapped', nth: 1 }, left: [1] }],
  ['after all parts are swapped', { kill: { event: 'part.swapped', nth: 2 }, left: [1] }],
  ['after the reads are judged', { kill: { event: 'read.judged', nth: 1 }, left: [1] }],
  ['after the body is written', { kill: { event: 'snapshot.written', nth: 1 }, left: [1] }],
  ['after the push is begun', { kill: { event: 'push.begun', nth: 1 }, left: [1] }],
  ['in the middle of the body', { kill: { event: 'push.sending', nth: 1 }, left: [1] }],
  ['after the request has arrived, before it is applied', { kill: { when: 'received' }, left: [1] }],
  ['after the request is applied, before the answer', { kill: { when: 'applied' }, left: [2] }],
  ['after the answer has come, before it is recorded', { kill: { event: 'push.answered', nth: 1 }, left: [2] }],
  ['while the answer is recorded', { kill: { sql: 'UPDATE push SET ended_at_ms', nth: 1 }, left: [2] }],
  ['after it is recorded', { kill: { event: 'push.recorded', nth: 1 }, left: [2], next: 'unchanged' }],
];

test('killed after the service took version 2, with the files of version 1 back: version 1 is sent again', async () => {
  const one = await killed({ kill: { when: 'applied' }, left: [2] });
  write(one, 1);
  expect(await sync(one)).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  expect(held(one)).toBe(bodyOf(1, one.drivers));
});

test.each(faultPoints)('killed %s, the next sync brings the newest snapshot', async (_name, point) => {
  const { next = 'acknowledged' } = point;
  const one = await killed(point);
  const goBack = remember(one);

  expect(await sync(one)).toMatchObject({ outcome: next, exit: 0 });
  expect(held(one)).toBe(bodyOf(2, one.drivers));
  expectSound(one);

  goBack();
  write(one, 3);
  expect(await sync(one)).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  expect(held(one)).toBe(bodyOf(3, one.drivers));
  expectSound(one);
  await expectIntact(one);
});

test('after a crash the same bytes follow at once, and others only when the lost ones cannot land any more', async () => {
  const point = { kill: { when: 'received' }, left: [1] } as const;
  const [same, changed] = await Promise.all([killed(point), killed(point)]);

  // However slow this machine is, the service is not given up.
  writeFileSync(same.config, readFileSync(same.config, 'utf8').replace(`${timeoutMs}ms`, '1h'));
  expect((await sync(same)).waits).toEqual([]);

  write(changed, 3);
  // The service has had version 2 all the time.
  const land = (): void => void changed.service.applied.push(bodyOf(2, changed.drivers));
  expect((await sync(changed, { waiting: land })).waits).toEqual([expect.stringContaining('may still land')]);
  expect(changed.service.applied.map(versionOf)).toEqual([1, 2, 3]);
});

/** The first read that is written down is the candidate, the second one its being accepted. */
const accepting: Kill = { sql: 'OR REPLACE INTO read ', nth: 2 };

const deletePoints: readonly (readonly [name: string, Kill])[] = [
  ['before accepted deletes are counted', { sql: 'INTO deletion', nth: 1 }],
  ['before they are accepted', accepting],
  ['after both', { event: 'push.recorded', nth: 1 }],
];

test.each(deletePoints)('killed %s, the guard counts them once', async (_name, kill) => {
  const one = await servedWorld({ drivers: 40, maxDeletes: '10%' });
  const fewer = { ...one, drivers: 38 };
  await runUntilKilled(fewer, kill, 2);

  expect(await sync(fewer)).toMatchObject({ exit: 0 });
  expect(held(fewer)).toBe(bodyOf(2, 38));
  write({ ...one, drivers: 36 }, 3);
  expect(await sync(one)).toMatchObject({ exit: 4 });
  expect(held(one)).toBe(bodyOf(2, 38));
});

test('killed before an approved read is accepted, the approval stands', async () => {
  const one = await servedWorld({ drivers: 40, maxDeletes: '10%' });
  const half = { ...one, drivers: 20 };
  write(half, 2);
  const digest = (await sync(one)).sources.find(({ state }) => state === 'held')?.digest ?? '';
  {
    await using state = await openState(settingsOf(one.config), memoryLog());
    await state.deps.ledger.holds.approve(digest, 'revenue', Date.now());
  }
  // The candidate stands as it was held: the first read that is written down is the accepted one.
  await runUntilKilled(half, { ...accepting, nth: 1 }, 2);
  expect(held(one)).toBe(bodyOf(1, 40));
  expect([(await sync(one)).exit, held(one)]).toEqual([0, bodyOf(2, 20)]);
});

const rollbackPoints: readonly (readonly [name: string, Kill | undefined])[] = [
  ['that ends', undefined],
  ['killed after it is recorded', { event: 'push.recorded', nth: 1 }],
  ['killed before its data is taken over', { sql: 'INTO part_read', nth: 1 }],
  ['killed between two sources that take it over', { sql: 'INTO read_part', nth: 1 }],
];

test.each(rollbackPoints)('a rollback %s is one, across restarts', async (_name, kill) => {
  const one = await servedWorld();
  write(one, 2);
  await sync(one);
  const child = startChild({ config: one.config, kill: kill ?? 'never', work: { rollbackTo: 1 } });
  expect(await endOf(child)).toEqual(kill === undefined ? itsEnd : itsDeath);
  await expectIntact(one);
  expect(held(one)).toBe(bodyOf(1, one.drivers));

  // Nothing else is pushed, across restarts too, and later reads are judged against what the service holds.
  expect(await sync(one, { resume: false })).toMatchObject({ outcome: 'blocked' });
  expect(held(one)).toBe(bodyOf(1, one.drivers));
  const { outcome, sources } = await sync(one);
  expect({ outcome, changes: sources[0]?.changes.drivers }).toEqual({
    outcome: 'acknowledged',
    changes: { create: 1, update: one.drivers, delete: 1 },
  });
  expect(held(one)).toBe(bodyOf(2, one.drivers));
});

/** More than a first pass touches, which is more than any later one does. */
const touchesMax = 250;

/** The plug is pulled again and again in one world, its service is whimsical, and a share comes and goes. */
async function liveThrough({ kills, seed }: { kills: number; seed: number }): Promise<void> {
  const random = dice(seed);
  const one = await world();
  const { service } = one;
  write(one, 1);
  const manners: readonly Manner[] = ['apply in silence', 'refuse to talk', 'busy'];
  for (let kill = 0; kill < kills; kill++) {
    service.manner = () => (random() < 0.7 ? 'answer' : (manners[Math.floor(random() * manners.length)] as Manner));
    const moment = (['received', 'applied', 'answered'] as const)[Math.floor(random() * 12)];
    const touch = 1 + Math.floor(random() * touchesMax);
    await runUntilKilled(one, moment === undefined ? { touch } : { when: moment }, newestOf(one) + 1);
    await expectIntact(one);
    expectSound(one);

    service.manner = () => 'answer';
    const newest = newestOf(one) + (random() < 0.5 ? 1 : 0);
    write(one, newest);
    const isShareThere = existsSync(path.join(one.folder, 'steady.csv'));
    expect(await sync(one), `kill ${kill} of seed ${seed}`).toMatchObject({ exit: isShareThere ? 0 : 3 });
    expect(held(one), `kill ${kill} of seed ${seed}`).toBe(bodyOf(newest, one.drivers));
    expectSound(one);
  }
}

/** Each is a world of its own. */
const lives = isCampaign ? 20 : 1;
const killsOfLife = isCampaign ? 10 : 5;

test(`killed ${lives * killsOfLife} times at any moment, every next sync brings the newest snapshot`, async () => {
  const seeds = Array.from({ length: lives }, (_, nth) => propertySeed * lives + nth);
  const lane = async (): Promise<void> => {
    for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop())
      await liveThrough({ kills: killsOfLife, seed });
  };
  const ends = await Promise.allSettled([lane(), lane(), lane()]);
  expect(ends.filter(({ status }) => status === 'rejected')).toEqual([]);
});
