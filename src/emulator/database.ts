/** Where the emulator keeps things: one SQLite database, in a directory or for the life of the process. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

const fileName = 'emulator.sqlite';

/** Raised with every change of a table. */
const version = 1;

/**
 * Opens the database of a state directory, which is created (0700) if need be.
 *
 * Without one it is a private temporary database: in memory as long as it is small, and what does not fit into the page
 * cache (16 MB) goes to a file without a name that ends with the process. `:memory:` would hold six million points twice
 * while they are replaced.
 *
 * @throws Error with the system's `code` where the directory cannot be used, or where a newer version wrote it.
 */
export function openDatabase(state: string | undefined): Database.Database {
  if (state === undefined) return new Database('');
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const file = join(state, fileName);
  const database = new Database(file);
  try {
    chmodSync(file, 0o600);
    const found = database.pragma('user_version', { simple: true }) as number;
    if (found > version) {
      throw new Error(
        `${file} has version ${found} and this emulator knows ${version}: use a newer one, or another --state`,
      );
    }
    database.pragma('journal_mode = WAL');
    // A whole snapshot is one transaction; its log need not stay that long afterwards.
    database.pragma('journal_size_limit = 16777216');
    database.pragma(`user_version = ${version}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
