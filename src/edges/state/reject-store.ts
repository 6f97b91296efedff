/** Rejects of the newest read of each part, on SQLite. */
import type { Reject } from '../../core/model.ts';
import type { RejectCount, RejectStore } from '../../core/buffer.ts';
import type { Statements } from './statements.ts';

export class SqliteRejects implements RejectStore {
  readonly #tables: Statements;

  constructor(tables: Statements) {
    this.#tables = tables;
  }

  keep(source: string, part: string, rejects: readonly Reject[], total: number): void {
    this.#tables.write(() => {
      this.#tables.run('DELETE FROM reject WHERE source = ? AND part = ?', source, part);
      this.#tables.run('DELETE FROM reject_count WHERE source = ? AND part = ?', source, part);
      if (rejects.length === 0) return;
      this.#tables.run('INSERT INTO reject_count VALUES (?, ?, ?, ?)', source, part, total, rejects.length);
      for (const { row, reason, text } of rejects) {
        this.#tables.run('INSERT INTO reject VALUES (?, ?, ?, ?, ?)', source, part, row, reason, text);
      }
    });
  }

  keepOnly(source: string, parts: readonly string[]): void {
    const others = 'WHERE source = ? AND part NOT IN (SELECT value FROM json_each(?))';
    this.#tables.write(() => {
      this.#tables.run(`DELETE FROM reject ${others}`, source, JSON.stringify(parts));
      this.#tables.run(`DELETE FROM reject_count ${others}`, source, JSON.stringify(parts));
    });
  }

  copy(part: string, from: string, to: string): void {
    const copied = 'FROM reject WHERE source = ? AND part = ?';
    this.#tables.write(() => {
      this.keep(to, part, [], 0);
      this.#tables.run(`INSERT INTO reject SELECT ?, part, "row", reason, "text" ${copied}`, to, from, part);
      this.#tables.run(
        'INSERT INTO reject_count SELECT ?, part, total, kept FROM reject_count WHERE source = ? AND part = ?',
        to,
        from,
        part,
      );
    });
  }

  all(source?: string): Iterable<Reject & { source: string; part: string }> {
    const sql = 'SELECT * FROM reject WHERE :source IS NULL OR source = :source ORDER BY source, part, row';
    return this.#tables.all(sql, { source: source ?? null });
  }

  counts(source?: string): readonly RejectCount[] {
    const sql = 'SELECT * FROM reject_count WHERE :source IS NULL OR source = :source ORDER BY source, part';
    return [...this.#tables.all<RejectCount>(sql, { source: source ?? null })];
  }
}
