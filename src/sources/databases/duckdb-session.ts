/** One DuckDB database, or none: a query of files. */
import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AgentError } from '../../core/errors.ts';
import { accessError, codeOf, missingHint, untilAborted } from '../files/access.ts';
import { ChildSession } from './child-session.ts';
import type { DuckDbPlace } from './duckdb-child.ts';
import { missingDriver } from './failure.ts';
import type { Connection } from './connection.ts';

export interface DuckDbSettings {
  /** Absolute path; `undefined`: a database in memory. */
  readonly file: string | undefined;
  /** Absolute paths of files and directories that no query may read. */
  readonly forbidden: readonly string[];
  /** The folder that paths in the query are relative to. */
  readonly baseDir: string;
  /** As DuckDB writes sizes, such as 512MB. */
  readonly memoryMax: string;
}

/** Beside `memoryMax`: Node, DuckDB itself, and rows under way, which it does not count. In bytes. */
const uncountedBytesMax = 1_000_000_000;

export async function openDuckDb(settings: DuckDbSettings, signal: AbortSignal): Promise<Connection> {
  const { file, forbidden, memoryMax } = settings;
  await untilAborted(checkFile(file), signal);
  const session = new ChildSession<DuckDbPlace>({ program: 'duckdb-child', place: file ?? 'duckdb' }, signal);
  // Not beside the database or in the working directory, which is where it would be by default.
  const spill = path.join(tmpdir(), `driver-sync-${randomUUID()}`);
  const close = async (): Promise<void> => {
    await session.close();
    await rm(spill, { recursive: true, force: true });
  };
  try {
    const failure = await session.open({
      file: file ?? ':memory:',
      folder: settings.baseDir,
      options: optionsOf(settings, spill),
      forbidden,
      rssMax: bytesOf(memoryMax) + uncountedBytesMax,
    });
    if (failure?.code === 'ERR_MODULE_NOT_FOUND') {
      throw missingDriver('@duckdb/node-api', 'duckdb', Object.assign(new Error(failure.message), failure));
    }
    if (failure !== undefined) throw session.error('source.unreadable', failure);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    describe: (sql) => session.describe(sql),
    rows: (sql) => session.rows(sql),
    files: () => session.files(),
    close,
  };
}

async function checkFile(file: string | undefined): Promise<void> {
  if (file === undefined) return;
  let stats;
  try {
    stats = await stat(file);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw accessError('source.unreadable', file, error);
    throw new AgentError('source.unreadable', `the database ${file} does not exist`, {
      cause: error,
      hint: missingHint(file),
    });
  }
  if (stats.isFile()) return;
  throw new AgentError('source.unreadable', `${file} is not a file`, { hint: 'name a database of DuckDB' });
}

/** The query may read any file that the agent may, except its own; it may write none, and fetches no extension. */
function optionsOf({ file, memoryMax }: DuckDbSettings, spill: string): Record<string, string> {
  return {
    ...(file !== undefined && { access_mode: 'READ_ONLY' }),
    threads: '2',
    memory_limit: memoryMax.replace(' ', ''),
    temp_directory: spill,
    autoinstall_known_extensions: 'false',
    allow_community_extensions: 'false',
  };
}

const powers: Readonly<Record<string, number>> = { K: 1, M: 2, G: 3, T: 4 };

/** The bytes of a size such as 512MB or 2GiB. */
function bytesOf(size: string): number {
  const [, number = '', unit = '', binary] = /^([\d.]+) ?([KMGT])(i?)B$/.exec(size) ?? [];
  return Number(number) * (binary === 'i' ? 1024 : 1000) ** (powers[unit] ?? 0);
}
