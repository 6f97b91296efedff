/** One SQLite database, opened as soon as no writer has it locked. */
import type { Clock } from '../../core/ports.ts';
import { ChildSession } from './child-session.ts';
import type { Connection } from './connection.ts';

/** How long a writer may keep the database locked before the read has failed, in ms. */
const lockedMaxMs = 5_000;
const lockedRetryMs = 100;

/** A database and the time its locks are waited for by. */
export interface SqlitePlace {
  /** Absolute path of a file that is there. */
  readonly file: string;
  readonly clock: Clock;
}

/** Retries while a writer has the database locked: SQLite's own waiting knows no clock. */
export async function openSqlite({ file, clock }: SqlitePlace, signal: AbortSignal): Promise<Connection> {
  const session = new ChildSession<string>({ program: 'sqlite-child', place: file }, signal);
  const endMs = clock.monotonicMs() + lockedMaxMs;
  try {
    for (;;) {
      const failure = await session.open(file);
      if (failure === undefined) return session;
      if (!failure.code.startsWith('SQLITE_BUSY') || clock.monotonicMs() >= endMs) {
        throw session.error('part.unreadable', failure);
      }
      await clock.sleep(lockedRetryMs, signal);
    }
  } catch (error) {
    await session.close();
    throw error;
  }
}
