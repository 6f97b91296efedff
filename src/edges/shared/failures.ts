/** What PostgreSQL says of a statement of the ledger, in our words. */
import { AgentError, type ErrorCode } from '../../core/errors.ts';

interface Words {
  readonly code: ErrorCode;
  readonly text: string;
  readonly hint: string;
}

const later = 'nothing is pushed until it answers; sources are read meanwhile';

const byClass: Readonly<Record<string, Words>> = {
  '08': { code: 'ledger.unreachable', text: 'cannot be reached: the connection was lost', hint: later },
  '53': { code: 'ledger.unreachable', text: 'has no room, memory or connection left', hint: `free some; ${later}` },
  '57': { code: 'ledger.unreachable', text: 'ends or starts', hint: later },
  '58': { code: 'ledger.unreachable', text: 'failed', hint: `see the log of the server; ${later}` },
  '55': { code: 'ledger.unreachable', text: 'cannot do this now', hint: later },
  XX: { code: 'ledger.unreachable', text: 'failed', hint: `see the log of the server; ${later}` },
  '28': {
    code: 'ledger.refused',
    text: 'lets nobody in',
    hint: 'are user and password in ledger.url right, and not expired?',
  },
  '40': { code: 'ledger.unreachable', text: 'gave up a transaction', hint: later },
  // An agent that stood still in the middle of a transaction hears of it with its next statement.
  '25': { code: 'ledger.unreachable', text: 'ended a transaction that took too long', hint: later },
  '54': {
    code: 'ledger.unreachable',
    text: 'has reached one of its limits',
    hint: `see the log of the server; ${later}`,
  },
  P0: {
    code: 'ledger.refused',
    text: 'has a trigger or a rule that does not let this be written',
    hint: 'remove it from the tables of the ledger: nothing else may change or refuse their rows',
  },
};

const gone: Words = {
  code: 'ledger.refused',
  text: 'has no tables of a ledger',
  hint: 'check "ledger" in the config; "driver-sync run" or "sync" makes them where there are none',
};

/** What to do about a server that can be read and not written. */
export const toPrimary = 'name the primary in ledger.url, or all hosts (HOST,HOST), or an address that leads to it';

const byState: Readonly<Record<string, Words>> = {
  '25006': {
    code: 'ledger.unreachable',
    text: 'is read-only: a standby, or set so',
    hint: toPrimary,
  },
  '42501': {
    code: 'ledger.refused',
    text: 'does not let this user write the ledger',
    hint: 'let it own the schema: CREATE SCHEMA driver_sync AUTHORIZATION …',
  },
  '42P01': gone,
  '3F000': gone,
  '53100': { code: 'state.full', text: 'cannot be written: its disk is full', hint: `free some space; ${later}` },
  '55P03': {
    code: 'ledger.unreachable',
    text: 'has a lock that another transaction holds too long',
    hint: 'see pg_stat_activity for who has the schema of the ledger locked',
  },
  '3D000': {
    code: 'ledger.refused',
    text: 'has no such database',
    hint: 'correct the name of the database in ledger.url',
  },
};

/** A failure of the server or of the way to it; a statement that is wrong is a bug, and stays one. */
export function translatedShared(error: unknown, { label }: { readonly label: string }): unknown {
  if (!(error instanceof Error)) return error;
  const state = 'severity' in error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const words = state === undefined ? byClass['08'] : (byState[state] ?? byClass[state.slice(0, 2)]);
  if (words === undefined) return error;
  return new AgentError(words.code, `the ledger at ${label} ${words.text} (${error.message})`, {
    cause: error,
    hint: words.hint,
  });
}

/** What a row says was never written so. */
export function damagedShared(cause: Error, { label }: { readonly label: string }): AgentError {
  const hint = 'restore the database from a backup, while no agent runs';
  return new AgentError('ledger.corrupt', `the ledger at ${label} is damaged (${cause.message})`, { cause, hint });
}

/** SQLSTATE of what the server said. */
export function sqlState(error: unknown): string | undefined {
  const cause = error instanceof AgentError ? error.cause : error;
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}
