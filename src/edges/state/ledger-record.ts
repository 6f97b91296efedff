/** All that is kept beside the logs: one row, which holds one record as JSON. */
import type { LedgerState } from '../../core/ledger.ts';
import { parseKept } from './sqlite.ts';
import type { Statements } from './statements.ts';

export class LedgerRecord {
  readonly #tables: Statements;

  constructor(tables: Statements) {
    this.#tables = tables;
  }

  get(): LedgerState {
    const [row] = this.#tables.all<{ record: string }>('SELECT record FROM state');
    return parseKept<LedgerState>(this.#tables.file, row!.record);
  }

  /** Changes what is given and leaves the rest; `undefined` forgets. Several processes may write, so it is one transaction. */
  set(changed: LedgerState): void {
    this.#tables.write(() => {
      this.#tables.run('UPDATE state SET record = ?', JSON.stringify({ ...this.get(), ...changed }));
    });
  }
}
