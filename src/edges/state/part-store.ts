/** Parts as they were read, collapsed and packed per driver, and what is known of their files. */
import type { Month } from '../../core/model.ts';
import { type FoldedDriver, type OriginFacts, type PartOrigin, unpackDriver } from '../../core/series/packing.ts';
import type { PartRead, PartStore, PartWriter, PartsOfSource, SeenFile, SharedPoint } from '../../core/buffer.ts';
import { type OriginRow, readOrigin, runsOf } from './buffer-rows.ts';
import { bundleColumns } from './bundle-order.ts';
import type { Folds } from './folds.ts';
import { dropPart, insertOrigin, openPartWriter } from './part-writer.ts';
import { type PartsByRun, firstShared, sharedIds } from './shared-drivers.ts';
import type { Statements } from './statements.ts';

/** The tables that say when the content of a part was revised. */
const dated = ['part_read', 'origin', 'seen'] as const;

export class SqliteParts implements PartStore {
  readonly #tables: Statements;
  readonly #folds: Folds;

  constructor(tables: Statements, folds: Folds) {
    this.#tables = tables;
    this.#folds = folds;
  }

  begin(
    source: string,
    part: { name: string; kind: PartRead['kind'] },
    fingerprint: string,
    base?: PartRead,
  ): PartWriter {
    return openPartWriter(this.#tables, source, { ...part, fingerprint }, base);
  }

  setVersion(id: number, version: string): void {
    this.#tables.run('UPDATE part_read SET version = ? WHERE id = ?', version, id);
  }

  setFiles(id: number, files: readonly string[]): void {
    this.#tables.run('UPDATE part_read SET files = ? WHERE id = ?', JSON.stringify(files), id);
  }

  rename(source: string, names: ReadonlyMap<string, string>): void {
    this.#tables.write(() => {
      for (const [old, now] of names) {
        this.#tables.run('UPDATE part_read SET name = ? WHERE source = ? AND name = ?', now, source, old);
        this.#tables.run('UPDATE origin SET name = ? WHERE source = ? AND name = ?', now, source, old);
        this.#tables.run('UPDATE OR REPLACE seen SET name = ? WHERE source = ? AND name = ?', now, source, old);
        this.#tables.run('UPDATE OR REPLACE reject SET part = ? WHERE source = ? AND part = ?', now, source, old);
        this.#tables.run('UPDATE OR REPLACE reject_count SET part = ? WHERE source = ? AND part = ?', now, source, old);
      }
    });
    this.#folds.forgetOrigins();
    this.#folds.kept.clear();
  }

  *drivers(part: PartRead): Generator<FoldedDriver> {
    for (const packed of this.#folds.merged(this.#folds.ofPart(part), this.#folds.orderIn([part]))) {
      yield unpackDriver(packed);
    }
  }

  earliestMonth(ids: readonly number[]): Month | undefined {
    const sql = `SELECT min(earliest) AS month FROM bundle WHERE part_read IN (${runsOf('?')})`;
    return this.#tables.all<{ month: number | null }>(sql, JSON.stringify(ids))[0]?.month ?? undefined;
  }

  *sharedDrivers(one: PartsOfSource, other: PartsOfSource): Generator<string> {
    const named = ({ source, parts }: PartsOfSource, owner: string): Iterable<{ id: string; owner: string }> =>
      this.#folds.named(owner, runsOf('?'), source, JSON.stringify(parts));
    for (const { id } of sharedIds([named(one, 'one'), named(other, 'other')])) yield id;
  }

  sharedPoints(source: string, parts: readonly number[], others: readonly number[]): readonly SharedPoint[] {
    const sql = `SELECT ${bundleColumns} FROM bundle b WHERE b.source = ? AND b.part_read IN (${runsOf('?')}) ORDER BY b.first`;
    const bundles = this.#folds.rows(sql, source, JSON.stringify([...parts, ...others]));
    return firstShared(this.#folds.inOrder(bundles), this.#byRun(parts), this.#byRun(others));
  }

  #byRun(parts: readonly number[]): PartsByRun {
    const sql =
      'SELECT run, part_read AS part FROM part_run WHERE part_read IN (SELECT value FROM json_each(?)) ORDER BY part_read';
    const rows = this.#tables.all<{ run: number; part: number }>(sql, JSON.stringify(parts));
    return new Map([...Map.groupBy(rows, ({ run }) => run)].map(([run, of]) => [run, of.map(({ part }) => part)]));
  }

  origin(id: number): PartOrigin {
    return this.#folds.origin(id);
  }

  addRestoredOrigin(origin: OriginFacts): number {
    return this.#tables.write(() => {
      const { source, name, revisedAtMs, hash = null, endsWithLineEnd, rejects = null } = origin;
      // In the buffer that made the snapshot it has the same number.
      const same = `SELECT id FROM origin WHERE source = ? AND name = ? AND revised_at_ms = ? AND hash IS ?
        ORDER BY id = ? DESC, id DESC`;
      const known = this.#tables.all<{ id: number }>(same, source, name, revisedAtMs, hash, origin.id)[0];
      if (known !== undefined) return known.id;
      // Numbers come from one place, so that a part read later never gets this one.
      const { id } = this.begin(source, { name, kind: 'snapshot' }, '');
      for (const sql of ['DELETE FROM part_read WHERE id = ?', 'DELETE FROM part_run WHERE part_read = ?'])
        this.#tables.run(sql, id);
      const lineEnd = endsWithLineEnd === undefined ? null : Number(endsWithLineEnd);
      this.#tables.run(insertOrigin, id, source, name, revisedAtMs, hash, lineEnd, rejects);
      return id;
    });
  }

  originsOf(id: number): readonly OriginFacts[] {
    const sql = `SELECT o.*, p.is_part FROM part_read_origin p JOIN origin o ON o.id = p.origin
      WHERE p.part_read = ? AND p.is_part = 1`;
    return this.#tables.all<OriginRow>(sql, id).map(readOrigin);
  }

  seen(source: string): ReadonlyMap<string, SeenFile> {
    const sql = 'SELECT name, version, hash, revised_at_ms AS revisedAtMs FROM seen WHERE source = ?';
    const rows = this.#tables.all<SeenFile & { name: string }>(sql, source);
    return new Map(rows.map(({ name, ...file }) => [name, file]));
  }

  setSeen(source: string, files: ReadonlyMap<string, SeenFile>): void {
    this.#tables.write(() => {
      this.#tables.run('DELETE FROM seen WHERE source = ?', source);
      for (const [name, { version, hash, revisedAtMs }] of files) {
        this.#tables.run('INSERT INTO seen VALUES (?, ?, ?, ?, ?)', source, name, version, hash, revisedAtMs);
      }
    });
  }

  timesAfter(timeMs: number): readonly number[] {
    const all = dated.map((table) => `SELECT revised_at_ms AS time FROM ${table}`).join(' UNION ALL ');
    const sql = `SELECT DISTINCT time FROM (${all}) WHERE time > ? ORDER BY time`;
    const rows = this.#tables.all<{ time: number }>(sql, timeMs);
    return rows.map(({ time }) => time);
  }

  redate(times: ReadonlyMap<number, number>): void {
    this.#tables.write(() => {
      // In order, since a new time is never a later old one.
      for (const [before, now] of times)
        for (const table of dated)
          this.#tables.run(`UPDATE ${table} SET revised_at_ms = ? WHERE revised_at_ms = ?`, now, before);
    });
    this.#folds.forgetOrigins();
    this.#folds.kept.clear();
  }

  prune(): void {
    this.#tables.write(() => {
      const unused = 'SELECT id, source FROM part_read WHERE id NOT IN (SELECT part_read FROM read_part)';
      for (const { id, source } of this.#tables.all<{ id: number; source: string }>(unused))
        dropPart(this.#tables, id, source);
      this.#tables.run(`DELETE FROM origin WHERE id NOT IN (SELECT origin FROM part_read)
        AND id NOT IN (SELECT origin FROM part_read_origin)`);
    });
  }

  hadLineEnd(source: string, file: string): boolean | undefined {
    const sql = 'SELECT ended FROM line_end WHERE source = ? AND file = ?';
    const [row] = this.#tables.all<{ ended: number }>(sql, source, file);
    return row && row.ended === 1;
  }

  noteLineEnd(source: string, file: string, ended: boolean): void {
    const sql = 'INSERT OR REPLACE INTO line_end (source, file, ended) VALUES (?, ?, ?)';
    this.#tables.run(sql, source, file, Number(ended));
  }
}
