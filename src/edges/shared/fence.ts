/**
 * Who may write what. All writes lock the one row of `lead`, so they come one after the other. What the leader alone may
 * write names its term, in the transaction that writes it: after another agent took over there is no such row.
 */
import { AgentError } from '../../core/errors.ts';
import type { Term } from '../../core/election/rows.ts';
import type { SharedDatabase, Statements } from './database.ts';

/** Another agent leads, or none does. */
export function ledByOther(label: string, cause?: unknown): AgentError {
  return new AgentError('ledger.led', `another agent leads the ledger at ${label}`, {
    cause,
    hint: '"driver-sync status" says which one; this one goes on reading and takes over when that one is gone',
  });
}

/** Its own row of the lead may stand in what was restored: that alone does not mean that it goes on. */
export function lostRecords(label: string): AgentError {
  return new AgentError('ledger.led', `the ledger at ${label} may have lost records: the lead begins anew`);
}

export class Fence {
  readonly #database: SharedDatabase;
  readonly #term: () => Term | undefined;

  /** @param term `undefined` where this process does not lead */
  constructor(database: SharedDatabase, term: () => Term | undefined) {
    this.#database = database;
    this.#term = term;
  }

  /** What any agent or command may write: what somebody asks for. */
  ask<T>(run: (statements: Statements) => Promise<T>): Promise<T> {
    return this.#database.transaction(async (statements) => {
      await statements.all('SELECT 1 FROM ~lead FOR UPDATE');
      return run(statements);
    });
  }

  /** What the leader alone may write. @throws AgentError `ledger.led` */
  async write<T>(run: (statements: Statements) => Promise<T>): Promise<T> {
    const mine = this.#term();
    if (mine === undefined) throw ledByOther(this.#database.label);
    return this.#database.transaction(async (statements) => {
      const sql = 'SELECT 1 FROM ~lead WHERE holder = $1 AND term = $2 FOR UPDATE';
      const held = await statements.all(sql, mine.holder, mine.term);
      if (held.length === 0) throw ledByOther(this.#database.label);
      return run(statements);
    });
  }
}
