/** Ledger and archive on SQLite and on PostgreSQL, for tests that hold for both. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { Archive, Ledger } from '../../src/core/ledger.ts';
import { sharedArchive } from '../../src/edges/shared/archive.ts';
import { SharedDatabase, type SharedPlace } from '../../src/edges/shared/database.ts';
import type { Term } from '../../src/core/election/rows.ts';
import { sharedLedger } from '../../src/edges/shared/ledger.ts';
import { ledgerSchema } from '../../src/edges/shared/schema.ts';
import { openArchive } from '../../src/edges/state/archive.ts';
import { openLedger } from '../../src/edges/state/ledger.ts';
import { addressKeys } from '../../src/sources/databases/address.ts';
import { postgresConnector } from '../../src/sources/databases/postgres-client.ts';
import type { TestServer } from './servers.ts';

export interface Stores extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly archive: Archive;
}

export function openSqlite(): Stores {
  const directory = mkdtempSync(path.join(tmpdir(), 'driver-sync-stores-'));
  const ledger = openLedger(path.join(directory, 'ledger.db'), 'migrate');
  return {
    ledger,
    archive: openArchive(path.join(directory, 'archive'), ledger.snapshots),
    async [Symbol.asyncDispose]() {
      await ledger.close();
      rmSync(directory, { recursive: true });
    },
  };
}

const address = z.object(addressKeys({ schemes: ['postgres'], port: 5432, hasManyHosts: true }));

export function placeOn(url: string, schema: string, caFile?: string): SharedPlace {
  const { url: parsed } = address.parse({ url });
  return {
    connect: postgresConnector(parsed, caFile),
    schema,
    label: parsed.label,
  };
}

let schemas = 0;

/** In a schema of its own. */
export async function openPostgres(server: TestServer): Promise<Stores & { readonly database: SharedDatabase }> {
  const directory = mkdtempSync(path.join(tmpdir(), 'driver-sync-stores-'));
  const database = new SharedDatabase(placeOn(server.url(), `ledger_${process.pid}_${++schemas}`));
  await ledgerSchema(database).ensure();
  const mine: Term = { holder: 'a', term: 1 };
  await database.run('UPDATE ~lead SET holder = $1, term = $2', mine.holder, mine.term);
  const ledger = sharedLedger(database, () => mine);
  return {
    database,
    ledger,
    archive: sharedArchive(path.join(directory, 'archive'), ledger.snapshots),
    async [Symbol.asyncDispose]() {
      await ledger.close();
      rmSync(directory, { recursive: true });
    },
  };
}
