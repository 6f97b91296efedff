/** The registry: every `type` that a source of the config may have. */
import type { Kind } from './kind.ts';
import { clickhouse } from './clickhouse.ts';
import { command } from './command.ts';
import { csv } from './csv.ts';
import { duckdb } from './duckdb.ts';
import { fixed } from './fixed.ts';
import { http } from './http.ts';
import { json } from './json.ts';
import { jsonl } from './jsonl.ts';
import { mysql } from './mysql.ts';
import { parquet } from './parquet.ts';
import { postgres } from './postgres.ts';
import { routing } from './routing.ts';
import { sqlite } from './sqlite.ts';
import { tsv } from './tsv.ts';
import { xlsx } from './xlsx.ts';

export type { Kind } from './kind.ts';

/** By `type`. Nothing that a kind reads with is loaded before one of its parts is read. */
export const kinds: Readonly<Record<string, Kind>> = {
  csv,
  tsv,
  fixed,
  jsonl,
  ndjson: jsonl,
  json,
  xlsx,
  parquet,
  sqlite,
  postgres,
  mysql,
  duckdb,
  clickhouse,
  http,
  command,
  routing,
};
