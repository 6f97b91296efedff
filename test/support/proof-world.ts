/** A world to break: two sources of small files, a service beside it, and a state directory that can be put back. */
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import type { PassEvent } from '../../src/app/dependencies.ts';
import { runPass } from '../../src/app/pass.ts';
import { openAgent } from '../../src/compose/agent.ts';
import { verifyIn } from '../../src/compose/state.ts';
import type { PassReport } from '../../src/core/report.ts';
import { openArchive, snapshotsIn } from '../../src/edges/state/archive.ts';
import type { Verification } from '../../src/edges/state/verify.ts';
import { replaceFile, settingsOf } from './crash-child.ts';
import { handClock } from './hand-clock.ts';
import { memoryLog } from './memory-log.ts';
import { csv } from './process.ts';
import { type Receiver, openReceiver, pointsOf } from './receiver.ts';

export interface ProofWorld {
  readonly folder: string;
  readonly config: string;
  readonly state: string;
  readonly service: Receiver;
  /** Writes the files of a version. */
  write(version: number): void;
  /** Copies the state directory; what it returns puts it back. */
  save(): () => void;
  /** One pass of a new agent in this process, as `sync` runs it. */
  sync(): Promise<PassReport & { readonly warnings: readonly string[] }>;
  /** What the service holds: the last request that it took. */
  holds(): Points | undefined;
}

type Points = Readonly<Record<string, Readonly<Record<string, string>>>>;

const months = ['2026-01', '2026-02', '2026-03'];

/** What the files of a version say, written down without the agent. A driver of `two.csv` is in every third version only. */
export function pointsOfVersion(version: number): Points {
  const same = (value: string): Record<string, string> => Object.fromEntries(months.map((month) => [month, value]));
  const many = Array.from({ length: 5 }, (_, index) => [`d${index}`, same(`${version}.${index}`)] as const);
  return Object.fromEntries([
    ...many,
    [`extra${version % 3}`, { '2026-01': `${version}.5` }],
    ['alpha', { '2026-01': '7', '2026-02': '7.10' }],
  ]);
}

interface Options {
  /** What the guard lets through. */
  readonly maxDeletes?: number;
  /** For a daemon: soon after a change it pushes. */
  readonly pushOnChange?: string;
}

export async function proofWorld({ maxDeletes = 1_000_000, pushOnChange }: Options = {}): Promise<ProofWorld> {
  const folder = mkdtempSync(path.join(tmpdir(), 'driver-sync-proof-'));
  const service = await openReceiver();
  onTestFinished(async () => {
    await service[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  const config = path.join(folder, 'driver-sync.yaml');
  const state = path.join(folder, '.driver-sync');
  const sources = { revenue: csv('revenue/*.csv'), steady: csv('steady.csv') };
  const destination = { url: service.url, timeout: '5s' };
  writeFileSync(
    config,
    stringify({ destination, guard: { maxDeletes }, sources, ...(pushOnChange && { pushOnChange }) }),
  );
  mkdirSync(path.join(folder, 'revenue'));
  return {
    folder,
    config,
    state,
    service,
    write: (version) => writeFiles(folder, pointsOfVersion(version)),
    save() {
      const copy = mkdtempSync(path.join(folder, 'saved-'));
      cpSync(state, copy, { recursive: true, preserveTimestamps: true });
      return () => {
        rmSync(state, { recursive: true, force: true });
        cpSync(copy, state, { recursive: true, preserveTimestamps: true });
        chmodSync(state, 0o700);
      };
    },
    async sync() {
      const log = memoryLog();
      const options = { command: 'sync', log, version: '0.1.0', env: {} } as const;
      await using agent = await openAgent(settingsOf(config), options);
      const pass = { push: 'ifNeeded', resume: true, retryForMs: 60_000 } as const;
      // What waits for a push that may still land waits for no real time.
      const clock = handClock(new Date());
      const observe = (event: PassEvent): void => void (event.kind === 'waiting' && clock.advance(event.ms));
      const deps = { ...agent.deps, clock, observe, random: () => 0 };
      const report = await runPass(deps, pass, new AbortController().signal);
      const warnings = log.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
      return { ...report, warnings };
    },
    holds() {
      const last = service.posts.at(-1);
      return last === undefined ? undefined : pointsOf(last);
    },
  };
}

function writeFiles(folder: string, points: Points): void {
  const rowsOf = (isWanted: (id: string) => boolean): string[] => [
    'id,time,value',
    ...Object.entries(points)
      .filter(([id]) => isWanted(id))
      .flatMap(([id, values]) => Object.entries(values).map(([month, value]) => `${id},${month},${value}`)),
  ];
  replaceFile(
    path.join(folder, 'revenue', 'one.csv'),
    rowsOf((id) => id.startsWith('d')),
  );
  replaceFile(
    path.join(folder, 'revenue', 'two.csv'),
    rowsOf((id) => id.startsWith('extra')),
  );
  replaceFile(
    path.join(folder, 'steady.csv'),
    rowsOf((id) => id === 'alpha'),
  );
}

/** The chain and what it says of the archive; every file of the archive gives the body of its digest. */
export async function lookAtState(one: ProofWorld): Promise<Verification & { readonly broken: readonly string[] }> {
  const found = await verifyIn(settingsOf(one.config));
  const folder = path.join(one.state, 'archive');
  const archive = openArchive(folder);
  const broken: string[] = [];
  for (const digest of snapshotsIn(folder)) {
    const hash = createHash('sha256');
    for await (const chunk of (await archive.open(digest))?.body().chunks() ?? []) hash.update(chunk);
    if (hash.digest('hex') !== digest) broken.push(digest);
  }
  return { ...found, broken };
}

/** What was moved aside because it was damaged. */
export function movedAside({ state }: ProofWorld): string[] {
  return readdirSync(state).filter((name) => name.includes('damaged'));
}
