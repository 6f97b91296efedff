/** `type: sqlite`: one query of a database file. */
import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { AgentError } from '../core/errors.ts';
import type { MappingProblem } from '../core/mapping/columns.ts';
import type { Connection } from './databases/connection.ts';
import { isMovingQuery } from './databases/moving-query.ts';
import { type Revision, queryKeys, querySource } from './databases/query.ts';
import { type SqlitePlace, openSqlite } from './databases/sqlite-session.ts';
import { accessError, codeOf, missingHint, untilAborted } from './files/access.ts';
import type { Glob } from './files/glob.ts';
import { refuseForbiddenDatabase } from './files/links.ts';
import { notAFile, revisedAtMsOf, versionOf } from './files/stable-file.ts';
import { watchGlobs } from './files/watch.ts';
import { defineKind } from './kind.ts';
import { filePath } from './path-key.ts';

const schema = z.strictObject({
  file: filePath.describe(
    'The database, relative to the config file. It is opened read-only; its write-ahead log is read with it.',
  ),
  ...queryKeys,
  query: queryKeys.query.describe(
    'One statement that only reads. Its rows count in the order it gives them: say ORDER BY where several have one driver and time. NULL is the empty text, INTEGER keeps every digit, a REAL is the shortest text of that binary number, a BLOB is an error.',
  ),
  pushdown: queryKeys.pushdown.describe('Not with SQLite, which has no types of dates and exact numbers.'),
});

const noPushdown: MappingProblem = {
  path: ['pushdown'],
  message: 'SQLite has no types of dates and exact numbers, so that it cannot collapse rows as the agent would',
  hint: 'leave it out, or group the rows in the query',
};

export const sqlite = defineKind(
  schema,
  (settings, context) => {
    const file = path.resolve(context.baseDir, settings.file);
    const engine = {
      place: file,
      // The file says nothing of rows that the time or chance decides.
      ...(!isMovingQuery(settings.query) && {
        version: (signal: AbortSignal) => untilAborted(statDatabase(file), signal),
      }),
      connect: async (signal: AbortSignal) => {
        await untilAborted(refuseForbiddenDatabase(file, context.forbidden ?? []), signal);
        return await openDatabase({ file, clock: context.clock }, signal);
      },
    };
    return {
      ...querySource(engine, settings, context),
      watch: (changed) => watchGlobs([fileGlob(file), fileGlob(walOf(file))], changed),
    };
  },
  { problems: ({ pushdown }) => (pushdown ? [noPushdown] : []) },
);

/** The version covers the write-ahead log, where commits may stay for a long time before the database itself changes. */
async function statDatabase(file: string): Promise<Revision> {
  const stats = await statFile(file);
  if (stats === undefined) {
    throw new AgentError('source.unreadable', `the database ${file} does not exist`, {
      hint: missingHint(file),
    });
  }
  if (!stats.isFile()) throw notAFile(file, stats);
  const log = await statFile(walOf(file));
  // A reader may leave an empty log behind, which counts as no log.
  const hasLog = log !== undefined && log.size > 0n;
  return {
    version: `${versionOf(stats)}+${hasLog ? versionOf(log) : 'none'}`,
    revisedAtMs: Math.max(revisedAtMsOf(stats), hasLog ? revisedAtMsOf(log) : 0),
  };
}

async function statFile(file: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(file, { bigint: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw accessError('source.unreadable', file, error);
  }
}

async function openDatabase(place: SqlitePlace, signal: AbortSignal): Promise<Connection> {
  // Opening something other than a file, such as a pipe, might never end.
  await untilAborted(statDatabase(place.file), signal);
  return await openSqlite(place, signal);
}

function walOf(file: string): string {
  return `${file}-wal`;
}

function fileGlob(file: string): Glob {
  return { text: file, directory: path.dirname(file), segments: [path.basename(file)] };
}
