/** Which files the archive has: noted before they get their names and before they are removed. */
import type { SnapshotLog } from '../../core/ledger.ts';
import type { Chain } from './chain.ts';
import type { Statements } from './statements.ts';

export class SqliteSnapshots implements SnapshotLog {
  readonly #tables: Statements;
  readonly #chain: Chain;

  constructor(tables: Statements, chain: Chain) {
    this.#tables = tables;
    this.#chain = chain;
  }

  async written(digest: string, fileSha256: string): Promise<void> {
    this.#tables.write(() => {
      const sql = 'SELECT 1 FROM snapshot WHERE digest = ? AND file_sha256 = ? AND is_kept = 1';
      if (this.#tables.all(sql, digest, fileSha256).length > 0) return;
      this.#tables.run('INSERT OR REPLACE INTO snapshot VALUES (?, ?, 1)', digest, fileSha256);
      this.#chain.note('snapshot', digest);
    });
  }

  async keepOnly(digests: ReadonlySet<string>): Promise<void> {
    const kept = this.#tables.all<{ digest: string }>('SELECT digest FROM snapshot WHERE is_kept = 1 ORDER BY digest');
    const gone = kept.filter(({ digest }) => !digests.has(digest));
    if (gone.length === 0) return;
    this.#tables.write(() => {
      for (const { digest } of gone) {
        this.#tables.run('UPDATE snapshot SET is_kept = 0 WHERE digest = ?', digest);
        this.#chain.note('snapshot', digest);
      }
    });
  }

  async isKept(digest: string): Promise<boolean> {
    return this.#tables.all('SELECT 1 FROM snapshot WHERE digest = ? AND is_kept = 1', digest).length > 0;
  }
}
