/** The registry: every `type` that a source of the config may have. */
import type { Kind } from './kind.ts';
import { csv } from './csv.ts';
import { sqlite } from './sqlite.ts';

export type { Kind } from './kind.ts';

/** By `type`. Nothing that a kind reads with is loaded before one of its parts is read. */
export const kinds: Readonly<Record<string, Kind>> = { csv, sqlite };
