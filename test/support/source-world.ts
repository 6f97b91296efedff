import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Content, Part, Row } from '../../src/core/model.ts';
import type { Clock, Source } from '../../src/core/ports.ts';
import type { Mapping } from '../../src/core/settings.ts';
import { kinds } from '../../src/sources/index.ts';
import type { SourceContext } from '../../src/sources/kind.ts';
import { rowsOf } from './mapping.ts';

/** A signal that nobody aborts. */
export const calm: AbortSignal = new AbortController().signal;

/** A directory that goes with its test. */
export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), 'source-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Writes files below `dir`; a name with slashes makes its directories. */
export async function writeFiles(dir: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(dir, name)), { recursive: true });
    await writeFile(path.join(dir, name), content);
  }
}

/** Makes a socket, which goes with its test. The path of one has 107 bytes, and that of its folder may be longer. */
export async function makeSocket(file: string): Promise<void> {
  const folder = openSync(path.dirname(file), 'r');
  const server = createServer().listen(`/proc/self/fd/${folder}/${path.basename(file)}`);
  onTestFinished(() => {
    server.close();
    closeSync(folder);
  });
  await once(server, 'listening');
}

/** For kinds that leave collapsing to the agent. */
export const noMapping: Mapping = { where: [], missing: [''], fillDown: [], unpivot: undefined, maps: {}, drivers: [] };

/** Opens a source of a kind as the config does, so that its keys are checked too. */
export function openSource(type: string, keys: object, dir: string, clock: Clock = laterClock()): Source {
  return openSourceIn({ baseDir: dir, clock }, type, keys);
}

/** The same with more of a context. */
export function openSourceIn(context: Partial<SourceContext>, type: string, keys: object): Source {
  const kind = kinds[type]!;
  return kind.open(kind.schema.parse(keys), {
    name: 'revenue',
    baseDir: '/',
    clock: laterClock(),
    mapping: noMapping,
    timezone: 'UTC',
    ...context,
  });
}

export interface SleepClock extends Clock {
  /** All that was slept, in ms. */
  readonly sleptMs: number[];
}

/** A clock that is `aheadMs` after now; sleeping moves it, and `during` happens meanwhile. */
export function laterClock(aheadMs = 3_600_000, during: () => Promise<void> = async () => undefined): SleepClock {
  const start = Date.now() + aheadMs;
  let elapsedMs = 0;
  const sleptMs: number[] = [];
  return {
    sleptMs,
    now: () => new Date(start + elapsedMs),
    monotonicMs: () => elapsedMs,
    async sleep(ms, signal) {
      sleptMs.push(ms);
      await during();
      signal.throwIfAborted();
      elapsedMs += ms;
    },
  };
}

export interface WholePart {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly batches: number;
  readonly content: Content;
}

/** The one part of a database, for tests of its rows alone: a look at the place first would start one more process. */
export const queryPart: Part = { name: 'query', version: '', revisedAtMs: 0 };

/** All of one part. `onBatch` happens after each batch. */
export async function readWhole(
  source: Source,
  part?: Part,
  onBatch: () => Promise<void> = async () => undefined,
): Promise<WholePart> {
  const from = part ?? (await source.parts(calm))[0]!;
  const reading = source.rows(from, calm);
  const rows: Row[] = [];
  let columns: readonly string[] = [];
  for (let batches = 0; ; batches += 1) {
    const next = await reading.next();
    if (next.done === true) return { columns, rows, batches, content: next.value };
    columns = next.value.columns;
    rows.push(...rowsOf(next.value));
    await onBatch();
  }
}

/** The source of one file, whose name is of `type` or is said. */
export async function fileOf(
  type: string,
  content: string | Uint8Array,
  { name = `revenue.${type}`, ...keys }: { readonly name?: string; readonly [key: string]: unknown } = {},
): Promise<Source> {
  const dir = await tempDir();
  await writeFiles(dir, { [name]: content });
  return openSource(type, { files: [name], ...keys }, dir);
}

/** The source of one CSV file of this content. */
export async function csvOf(content: string | Uint8Array, keys: object = {}): Promise<Source> {
  return await fileOf('csv', content, { ...keys });
}

/** The rows of one CSV file of this content. */
export async function csvRows(content: string | Uint8Array, keys: object = {}): Promise<readonly Row[]> {
  return (await readWhole(await csvOf(content, keys))).rows;
}

/** How a part fails whose message is this. */
export function unreadable(message: string): object {
  return { code: 'part.unreadable', message };
}

export function unreadableLike(message: RegExp): object {
  return { code: 'part.unreadable', message: expect.stringMatching(message) as string };
}
