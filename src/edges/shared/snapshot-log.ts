/** Which snapshots the archive has, and the pieces of their files, on PostgreSQL. */
import type { SnapshotLog } from '../../core/ledger.ts';
import { note } from './chain.ts';
import type { SharedDatabase } from './database.ts';
import type { Fence } from './fence.ts';

/** Beside a statement's other limits, so much of a file is in memory at once. */
export const pieceBytes = 1 << 20;

export class SharedSnapshots implements SnapshotLog {
  readonly #database: SharedDatabase;
  readonly #fence: Fence;

  constructor(database: SharedDatabase, fence: Fence) {
    this.#database = database;
    this.#fence = fence;
  }

  /** Said once all pieces are there. */
  written(digest: string, fileSha256: string): Promise<void> {
    return this.#fence.write(async (statements) => {
      const sql = 'SELECT 1 FROM ~snapshot WHERE digest = $1 AND file_sha256 = $2 AND is_kept = 1';
      if ((await statements.all(sql, digest, fileSha256)).length > 0) return;
      const upsert = `INSERT INTO ~snapshot VALUES ($1, $2, 1)
        ON CONFLICT (digest) DO UPDATE SET file_sha256 = excluded.file_sha256, is_kept = 1`;
      await statements.run(upsert, digest, fileSha256);
      await note(statements, { table: 'snapshot', key: digest });
    });
  }

  async keepOnly(digests: ReadonlySet<string>): Promise<void> {
    const sql = 'SELECT digest FROM ~snapshot WHERE is_kept = 1 ORDER BY digest';
    const gone = (await this.#database.all<{ digest: string }>(sql)).filter(({ digest }) => !digests.has(digest));
    const unused = `FROM ~piece p WHERE NOT EXISTS
      (SELECT 1 FROM ~snapshot s WHERE s.file_sha256 = p.file_sha256 AND s.is_kept = 1)`;
    const hasUnused = (await this.#database.all(`SELECT 1 ${unused} LIMIT 1`)).length > 0;
    if (gone.length === 0 && !hasUnused) return;
    await this.#fence.write(async (statements) => {
      for (const { digest } of gone) {
        await statements.run('UPDATE ~snapshot SET is_kept = 0 WHERE digest = $1', digest);
        await note(statements, { table: 'snapshot', key: digest });
      }
      await statements.run(`DELETE ${unused}`);
    });
  }

  async isKept(digest: string): Promise<boolean> {
    return (await this.fileOf(digest)) !== undefined;
  }

  /** sha256 (hex) of the file of a snapshot that is kept. */
  async fileOf(digest: string): Promise<string | undefined> {
    const sql = 'SELECT file_sha256 AS file FROM ~snapshot WHERE digest = $1 AND is_kept = 1';
    return (await this.#database.all<{ file: string }>(sql, digest))[0]?.file;
  }

  /** The digests of those that are kept and have pieces. */
  async kept(): Promise<readonly string[]> {
    const sql = `SELECT digest FROM ~snapshot s WHERE is_kept = 1
      AND EXISTS (SELECT 1 FROM ~piece p WHERE p.file_sha256 = s.file_sha256) ORDER BY digest`;
    return (await this.#database.all<{ digest: string }>(sql)).map(({ digest }) => digest);
  }

  async storedBytes(digest: string): Promise<number> {
    const sql = `SELECT coalesce(sum(octet_length(p.bytes)), 0)::bigint AS bytes
      FROM ~snapshot s JOIN ~piece p ON p.file_sha256 = s.file_sha256 WHERE s.digest = $1 AND s.is_kept = 1`;
    return (await this.#database.all<{ bytes: number }>(sql, digest))[0]?.bytes ?? 0;
  }

  addPiece(fileSha256: string, n: number, bytes: Uint8Array): Promise<void> {
    const sql = 'INSERT INTO ~piece VALUES ($1, $2, $3) ON CONFLICT DO NOTHING';
    return this.#fence.write(async (statements) => void (await statements.run(sql, fileSha256, n, bytes)));
  }

  async *pieces(fileSha256: string): AsyncGenerator<Uint8Array> {
    const sql = 'SELECT bytes FROM ~piece WHERE file_sha256 = $1 AND n = $2';
    for (let n = 0; ; n++) {
      const [row] = await this.#database.all<{ bytes: Uint8Array }>(sql, fileSha256, n);
      if (row === undefined) return;
      yield row.bytes;
    }
  }
}
