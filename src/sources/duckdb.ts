/** `type: duckdb`: one query of a DuckDB database, or of the files that a query names itself. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { CollapseRequest } from './databases/collapse-plan.ts';
import { collapseQuery } from './databases/collapse-query.ts';
import { duckdbDialect } from './databases/duckdb-dialect.ts';
import { openDuckDb } from './databases/duckdb-session.ts';
import { guessedTypeNotes } from './databases/guessed-types.ts';
import { queryKeys, queryProblems, querySource } from './databases/query.ts';
import { untilAborted } from './files/access.ts';
import { refuseForbiddenDatabase } from './files/links.ts';
import { defineKind } from './kind.ts';
import { filePath } from './path-key.ts';

const schema = z.strictObject({
  file: filePath
    .optional()
    .describe(
      'A database of DuckDB, relative to the config file and opened read-only. Default: none, for queries of files: FROM read_parquet("books/*.parquet").',
    ),
  ...queryKeys,
  query: queryKeys.query.describe(
    'One statement that only reads: of the tables of `file`, or of files such as read_csv("exports/*.csv", all_varchar = true) and read_parquet("books/*.parquet"), relative to the config file. Its rows count in the order it gives them: say ORDER BY where several have one driver and time. NULL is the empty text; numbers keep every digit; lists and structs are JSON.',
  ),
  memoryMax: z
    .string()
    .regex(/^[1-9]\d*(?:\.\d+)? ?[KMGT]i?B$/, 'expected a size such as 512MB or 2GB')
    .default('256MB')
    .describe(
      'What the query may take of memory; more than that is put on disk for as long as it runs. Rows on their way do not count: where they take over 1 GB beside it, the read fails.',
    ),
});

/** Those that cannot be found from the folder of the config file, for whatever reason. */
async function goneOf(folder: string, files: readonly string[]): Promise<readonly string[]> {
  const isThere = await Promise.all(
    files.map((file) =>
      stat(path.resolve(folder, file)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return files.filter((_file, at) => isThere[at] !== true);
}

export const duckdb = defineKind(
  schema,
  (settings, context) => {
    const file = settings.file === undefined ? undefined : path.resolve(context.baseDir, settings.file);
    const { baseDir, forbidden = [] } = context;
    const engine = {
      collapse: (request: CollapseRequest) => collapseQuery(duckdbDialect, request),
      place: file ?? 'duckdb',
      connect: async (signal: AbortSignal) => {
        if (file !== undefined) await untilAborted(refuseForbiddenDatabase(file, forbidden), signal);
        return await openDuckDb({ file, forbidden, baseDir, memoryMax: settings.memoryMax }, signal);
      },
    };
    const source = querySource(engine, settings, context);
    return {
      ...source,
      warnings: () => [...guessedTypeNotes(settings.query), ...(source.warnings?.() ?? [])],
      goneFiles: async (files, signal) => await untilAborted(goneOf(baseDir, files), signal),
    };
  },
  { problems: queryProblems },
);
