/** Reads: which parts make what a source has accepted, and its candidate. Both share parts, so that accepting moves names. */
import type { Month, Rule } from '../../core/model.ts';
import type { RunSummary } from '../../core/series/compare.ts';
import { type OriginFacts, type PackedDriver, unpackDriver } from '../../core/series/packing.ts';
import type { ChosenPart, MixedRules, ReadKind, ReadPart, ReadStore, SharedDriver } from '../../core/buffer.ts';
import { type FoldRow, type OriginRow, type PartReadRow, foldColumns, readOrigin, readPart } from './buffer-rows.ts';
import type { Folds } from './folds.ts';
import { parseKept } from './sqlite.ts';
import type { Statements } from './statements.ts';

/** The runs of the read of a source and a kind. */
const runsOfRead = `SELECT run FROM read_part rp JOIN part_run USING (part_read) WHERE rp.source = ? AND rp.kind = ?`;

/** A read of as many folds is not kept from its judgement to the snapshot: it would hardly fit, and is given up on the way. */
const keptFoldsMax = 30_000;

export class SqliteReads implements ReadStore {
  readonly #tables: Statements;
  readonly #folds: Folds;

  constructor(tables: Statements, folds: Folds) {
    this.#tables = tables;
    this.#folds = folds;
  }

  acceptedSources(): readonly string[] {
    const sql = `SELECT source FROM read WHERE kind = 'accepted' ORDER BY source`;
    return this.#tables.all<{ source: string }>(sql).map((row) => row.source);
  }

  parts(source: string, kind: ReadKind): readonly ReadPart[] | undefined {
    const [read] = this.#tables.all('SELECT 1 FROM read WHERE source = ? AND kind = ?', source, kind);
    if (read === undefined) return undefined;
    const sql = `SELECT p.*, rp.carried, rp.settled FROM read_part rp JOIN part_read p ON p.id = rp.part_read
      WHERE rp.source = ? AND rp.kind = ? ORDER BY p.name, p.id`;
    return this.#tables.all<PartReadRow>(sql, source, kind).map(readPart);
  }

  set(source: string, kind: ReadKind, parts: readonly ChosenPart[], basis?: string): void {
    this.#tables.write(() => {
      this.#tables.run(
        'INSERT OR REPLACE INTO read (source, kind, basis) VALUES (?, ?, ?)',
        source,
        kind,
        basis ?? null,
      );
      this.#tables.run('DELETE FROM read_part WHERE source = ? AND kind = ?', source, kind);
      const insert = 'INSERT INTO read_part (source, kind, part_read, carried, settled) VALUES (?, ?, ?, ?, ?)';
      for (const { id, carried, settled } of parts) {
        this.#tables.run(insert, source, kind, id, Number(carried), Number(settled));
      }
      if (kind === 'accepted') this.#countUp();
    });
  }

  basis(source: string, kind: ReadKind): string | undefined {
    const sql = 'SELECT basis FROM read WHERE source = ? AND kind = ?';
    return this.#tables.all<{ basis: string | null }>(sql, source, kind)[0]?.basis ?? undefined;
  }

  drop(source: string, kind: ReadKind): void {
    this.#tables.write(() => {
      this.#tables.run('DELETE FROM read WHERE source = ? AND kind = ?', source, kind);
      this.#tables.run('DELETE FROM read_part WHERE source = ? AND kind = ?', source, kind);
      if (kind === 'accepted') this.#countUp();
    });
  }

  accept(source: string, settled: readonly string[]): void {
    this.#tables.write(() => {
      const parts = this.parts(source, 'candidate');
      if (parts === undefined) return;
      const summary = this.summary(source, 'candidate');
      const isSettled = (part: ReadPart): boolean => part.settled || (part.carried && settled.includes(part.name));
      this.set(
        source,
        'accepted',
        parts.map((part) => ({ ...part, settled: isSettled(part) })),
      );
      if (summary !== undefined) this.keepSummary(source, 'accepted', summary);
      this.drop(source, 'candidate');
      this.#nameAccepted(source);
    });
  }

  /** What cells name by the number of a part that has grown is from now on the part as it was accepted. */
  #nameAccepted(source: string): void {
    const sql = `UPDATE origin SET (revised_at_ms, hash, ends_with_line_end) = (p.revised_at_ms, nullif(p.hash, ''), p.ends_with_line_end)
      FROM part_read p JOIN read_part rp ON rp.part_read = p.id
      WHERE rp.source = ? AND rp.kind = 'accepted' AND p.kind = 'part' AND p.origin = origin.id AND p.id <> p.origin`;
    this.#tables.run(sql, source);
    this.#folds.forgetOrigins();
  }

  summary(source: string, kind: ReadKind): RunSummary | undefined {
    const sql = 'SELECT summary FROM read WHERE source = ? AND kind = ?';
    const text = this.#tables.all<{ summary: string | null }>(sql, source, kind)[0]?.summary;
    return typeof text === 'string' ? parseKept<RunSummary>(this.#tables.file, text) : undefined;
  }

  keepSummary(source: string, kind: ReadKind, summary: RunSummary): void {
    const sql = 'UPDATE read SET summary = ? WHERE source = ? AND kind = ?';
    this.#tables.run(sql, JSON.stringify(summary), source, kind);
  }

  *drivers(source: string, kind: ReadKind): Generator<PackedDriver> {
    const sql = `SELECT ${foldColumns} FROM fold f WHERE f.source = ? AND f.part_read IN (${runsOfRead})
      ORDER BY f.driver, f.part_read, f.chunk`;
    const { kept } = this.#folds;
    const parts = this.parts(source, kind) ?? [];
    // A candidate that was judged is the accepted read from then on.
    const read = JSON.stringify([source, ...parts.map(({ id }) => id)]);
    const known = kept.get(read);
    if (known !== undefined) {
      if (kind === 'accepted') kept.forget(read);
      yield* known;
      return;
    }
    const keeping = kind === 'candidate' && this.#isSmall(source, kind) ? kept.begin(read) : undefined;
    const rows = this.#folds.rows(sql, source, source, kind);
    yield* this.#folds.merged(rows, this.#folds.orderIn(parts), keeping?.take);
    keeping?.end();
  }

  #isSmall(source: string, kind: ReadKind): boolean {
    const sql = `SELECT count(*) AS folds FROM (SELECT 1 FROM fold WHERE source = ? AND part_read IN (${runsOfRead}) LIMIT ?)`;
    return this.#tables.all<{ folds: number }>(sql, source, source, kind, keptFoldsMax)[0]!.folds < keptFoldsMax;
  }

  driver(source: string, id: string): PackedDriver | undefined {
    const sql = `SELECT ${foldColumns} FROM fold f WHERE f.source = ? AND f.driver = ? AND f.part_read IN (${runsOfRead})
      ORDER BY f.part_read, f.chunk`;
    const rows = [...this.#folds.rows(sql, source, id, source, 'accepted')];
    if (rows.length === 0) return undefined;
    return this.#folds.merge(rows, this.#folds.orderIn(this.parts(source, 'accepted') ?? []));
  }

  mixedRules(source: string, kind: ReadKind): MixedRules | undefined {
    const runs = `SELECT r.run, p.name FROM read_part rp JOIN part_run r USING (part_read) JOIN part_read p ON p.id = rp.part_read
      WHERE rp.source = :source AND rp.kind = :kind`;
    const sql = `WITH runs AS (${runs}) SELECT runs.name, ${foldColumns} FROM fold f JOIN runs ON runs.run = f.part_read
      WHERE f.source = :source AND f.driver IN (
        SELECT driver FROM fold WHERE source = :source AND part_read IN (SELECT run FROM runs)
        GROUP BY driver HAVING count(DISTINCT rule) > 1) ORDER BY f.driver`;
    const months = new Map<Month, { readonly driver: string; readonly part: string; readonly rule: Rule }>();
    for (const [part, ...row] of this.#folds.rows<[part: string, ...FoldRow]>(sql, { source, kind })) {
      const [driver, rule] = row;
      for (const { month } of unpackDriver(this.#folds.packed(row)).cells) {
        const other = months.get(month);
        if (other?.driver === driver && other.rule !== rule) return { driver, month, folds: [other, { part, rule }] };
        months.set(month, { driver, part, rule });
      }
    }
    return undefined;
  }

  *sharedDrivers(reads: readonly { source: string; kind: ReadKind }[]): Generator<SharedDriver> {
    const sql = `SELECT f.driver, json_group_array(DISTINCT f.source) AS sources FROM fold f JOIN part_run r ON r.run = f.part_read
      JOIN read_part rp ON rp.source = f.source AND rp.part_read = r.part_read
      JOIN json_each(?) wanted ON wanted.value ->> 0 = rp.source AND wanted.value ->> 1 = rp.kind
      GROUP BY f.driver HAVING count(DISTINCT f.source) > 1 ORDER BY f.driver`;
    const wanted = JSON.stringify(reads.map(({ source, kind }) => [source, kind]));
    for (const row of this.#tables.all<{ driver: string; sources: string }>(sql, wanted)) {
      yield { driver: row.driver, sources: JSON.parse(row.sources) as string[] };
    }
  }

  removeDrivers(source: string, ids: Iterable<string>): void {
    this.#tables.write(() => {
      for (const id of ids) this.#tables.run('DELETE FROM fold WHERE source = ? AND driver = ?', source, id);
      this.#folds.kept.clear();
      this.#tables.run('UPDATE read SET summary = NULL WHERE source = ?', source);
      // What is read behind such a part would not have them back.
      this.#tables.run('DELETE FROM growth WHERE part_read IN (SELECT id FROM part_read WHERE source = ?)', source);
      this.#countUp();
    });
  }

  origins(): readonly OriginFacts[] {
    const sql = `SELECT origin.*, max(named.is_part) AS is_part FROM origin JOIN (
        SELECT p.origin AS id, 1 AS is_part FROM read_part rp JOIN part_read p ON p.id = rp.part_read
          WHERE rp.kind = 'accepted' UNION
        SELECT o.origin, o.is_part FROM part_read_origin o JOIN read_part rp USING (part_read) WHERE rp.kind = 'accepted'
      ) named USING (id) GROUP BY origin.id`;
    return this.#tables.all<OriginRow>(sql).map(readOrigin);
  }

  revision(): number {
    return this.#tables.all<{ revision: number }>('SELECT revision FROM state')[0]!.revision;
  }

  #countUp(): void {
    this.#tables.run('UPDATE state SET revision = revision + 1');
  }
}
