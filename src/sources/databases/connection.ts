/** A connection to a database, as a query is read over it. Each engine has one of its own. */
import type { Batch, ColumnNeed } from '../../core/mapping/column-batch.ts';
import type { Row } from '../../core/model.ts';

/** One column of a query's result. */
export interface QueryColumn {
  /** As the engine writes it, not trimmed. */
  readonly name: string;
  /**
   * The engine's own word for its type, for the engine's dialect. PostgreSQL: `numeric`, `numeric(14,2)`, `timestamptz`, and
   * the number of a type that is not built in. MySQL: `NEWDECIMAL(14,2)`, `TIMESTAMP`, `VAR_STRING(136)` in bytes, and `BINARY` where a
   * text type holds bytes. DuckDB: `DECIMAL(14,2)`.
   */
  readonly type: string;
  /** Whether its fields are numbers that may have decimals, whose texts have a point. Absent where each value has a type of its own. */
  readonly isNumber?: boolean;
  /** Its fields may be numbers or texts, and nothing tells which. */
  readonly isMixed?: boolean;
  /** What to write in the query where the column is used, since its text lacks digits that are stored. */
  readonly wholeCast?: string;
}

/** The columns of a statement and what is needed of each. */
export interface WantedColumns {
  /** Trimmed. */
  readonly columns: readonly string[];
  readonly needs: readonly ColumnNeed[];
}

/** One read-only, repeatable-read transaction on a connection of its own. */
export interface Connection {
  /**
   * The columns a statement would give. Runs nothing.
   * @throws AgentError `part.unreadable` where the statement does not give rows
   */
  describe(sql: string): Promise<readonly QueryColumn[]>;
  /**
   * The rows of a statement as texts ('' for NULL), in batches of about 1000; the engine runs no further ahead than one
   * batch. Ends its statement on return() and when the signal of `connect` aborts, with any error. Refuses them at their end where the
   * engine only warned that a cast of the query made another value.
   * @throws AgentError `part.unreadable`
   */
  rows(sql: string): AsyncGenerator<readonly Row[], void, void>;
  /**
   * The same rows as columns, in larger batches, at least one; returns their hash, which sees every text of every column. Absent
   * where rows arrive in this process.
   * @throws AgentError `part.unreadable` as `rows` and `RowHash.add`
   */
  batches?(sql: string, wanted: WantedColumns): AsyncGenerator<Batch, string, void>;
  /** The files that statements were read from until the last one gave its last row; `undefined` where no statement can name any. */
  files?(): readonly string[] | undefined;
  /** Ends the transaction and the connection, whatever state they are in. Never throws. */
  close(): Promise<void>;
}
