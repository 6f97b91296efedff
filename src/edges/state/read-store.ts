/** Reads: which parts make what a source has accepted, and its candidate. Both share parts, so that accepting moves names. */
import type { Month, Rule } from '../../core/model.ts';
import type { RunSummary } from '../../core/series/compare.ts';
import { type OriginFacts, type PackedDriver, monthsIn } from '../../core/series/packing.ts';
import type { ChosenPart, MixedRules, ReadKind, ReadPart, ReadStore, SharedDriver } from '../../core/buffer.ts';
import { type OriginRow, type PartReadRow, readOrigin, readPart } from './buffer-rows.ts';
import { type BundleCursor, bundleColumns, byDriver } from './bundle-order.ts';
import type { Folds } from './folds.ts';
import { sharedIds } from './shared-drivers.ts';
import { parseKept } from './sqlite.ts';
import type { Statements } from './statements.ts';

/** The runs of the read of a source and a kind. */
const runsOfRead = `SELECT run FROM read_part rp JOIN part_run USING (part_read) WHERE rp.source = ? AND rp.kind = ?`;

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

  readSources(): readonly string[] {
    const rows = this.#tables.all<{ source: string }>('SELECT DISTINCT source FROM read ORDER BY source');
    return rows.map((row) => row.source);
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

  keepBasis(source: string, kind: ReadKind, basis: string): void {
    this.#tables.run('UPDATE read SET basis = ? WHERE source = ? AND kind = ?', basis, source, kind);
  }

  drop(source: string, kind: ReadKind): void {
    this.#tables.write(() => {
      this.#tables.run('DELETE FROM read WHERE source = ? AND kind = ?', source, kind);
      this.#tables.run('DELETE FROM read_part WHERE source = ? AND kind = ?', source, kind);
      if (kind === 'accepted') this.#countUp();
    });
  }

  accept(settled: ReadonlyMap<string, readonly string[]>): void {
    this.#tables.write(() => {
      for (const [source, names] of settled) this.#accept(source, names);
    });
  }

  #accept(source: string, settled: readonly string[]): void {
    const parts = this.parts(source, 'candidate');
    if (parts === undefined) return;
    const summary = this.summary(source, 'candidate');
    const isSettled = (part: ReadPart): boolean => part.settled || (part.carried && settled.includes(part.name));
    this.set(
      source,
      'accepted',
      parts.map((part) => ({ ...part, settled: isSettled(part) })),
      this.basis(source, 'candidate'),
    );
    if (summary !== undefined) this.keepSummary(source, 'accepted', summary);
    this.drop(source, 'candidate');
    this.#nameAccepted(source);
  }

  /** What cells name by the number of a part that has grown is from now on the part as it was accepted. */
  #nameAccepted(source: string): void {
    const sql = `UPDATE origin SET (revised_at_ms, hash, ends_with_line_end, rejects)
        = (p.revised_at_ms, nullif(p.hash, ''), p.ends_with_line_end, p.rejects)
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
    const sql = `SELECT ${bundleColumns} FROM bundle b WHERE b.source = ? AND b.part_read IN (${runsOfRead}) ORDER BY b.first`;
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

  *driversOf(source: string, parts: readonly ReadPart[]): Generator<PackedDriver> {
    const runs = 'SELECT run FROM part_run WHERE part_read IN (SELECT value FROM json_each(?))';
    const sql = `SELECT ${bundleColumns} FROM bundle b WHERE b.source = ? AND b.part_read IN (${runs}) ORDER BY b.first`;
    const rows = this.#folds.rows(sql, source, JSON.stringify(parts.map(({ id }) => id)));
    yield* this.#folds.merged(rows, this.#folds.orderIn(parts));
  }

  #isSmall(source: string, kind: ReadKind): boolean {
    const sql = `SELECT total(length(points) + length(origins)) AS bytes, total(drivers) AS drivers
      FROM bundle WHERE source = ? AND part_read IN (${runsOfRead})`;
    const [size] = this.#tables.all<{ bytes: number; drivers: number }>(sql, source, source, kind);
    return this.#folds.kept.hasRoom(size!);
  }

  driver(source: string, id: string): PackedDriver | undefined {
    const sql = `SELECT ${bundleColumns} FROM bundle b WHERE b.source = ? AND b.first <= ? AND b.last >= ?
      AND b.part_read IN (${runsOfRead}) ORDER BY b.first`;
    const bundles = this.#folds.rows(sql, source, id, id, source, 'accepted');
    const order = this.#folds.orderIn(this.parts(source, 'accepted') ?? []);
    for (const driver of this.#folds.merged(bundles, order)) if (driver.id === id) return driver;
    return undefined;
  }

  mixedRules(source: string, kind: ReadKind): MixedRules | undefined {
    const runs = `SELECT r.run, p.name FROM read_part rp JOIN part_run r USING (part_read) JOIN part_read p ON p.id = rp.part_read
      WHERE rp.source = :source AND rp.kind = :kind`;
    const distinct = `SELECT DISTINCT rules FROM bundle WHERE source = ? AND part_read IN (${runsOfRead})`;
    const found = this.#tables.all<{ rules: string }>(distinct, source, source, kind);
    if (new Set(found.flatMap(({ rules }) => rules.split(' '))).size < 2) return undefined;
    const named = this.#tables.all<{ run: number; name: string }>(runs, { source, kind });
    const names = new Map(named.map(({ run, name }) => [run, name]));
    const sql = `SELECT ${bundleColumns} FROM bundle b WHERE b.source = ? AND b.part_read IN (${runsOfRead}) ORDER BY b.first`;
    const folds = this.#folds.inOrder(this.#folds.rows(sql, source, source, kind));
    const foldOf = (fold: BundleCursor): RuledMonths => ({
      part: names.get(fold.run) as string,
      rule: fold.rule,
      months: monthsIn(fold.driver().points),
    });
    for (const { id: driver, folds: all } of byDriver(folds, foldOf)) {
      const mixed = twoRules(all);
      if (mixed !== undefined) return { driver, ...mixed };
    }
    return undefined;
  }

  *sharedDrivers(reads: readonly { source: string; kind: ReadKind }[]): Generator<SharedDriver> {
    const lists = reads.map(({ source, kind }) => this.#folds.named(source, runsOfRead, source, source, kind));
    for (const { id, owners } of sharedIds(lists)) yield { driver: id, sources: owners };
  }

  removeDrivers(source: string, ids: Iterable<string>): void {
    this.#tables.write(() => {
      this.#folds.remove(source, ids);
      this.#tables.run('UPDATE read SET summary = NULL WHERE source = ?', source);
      // Once the source is back in the config, such a part is not what its file holds.
      this.#tables.run("UPDATE part_read SET fingerprint = '' WHERE source = ?", source);
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

/** A fold of a driver. */
interface RuledMonths {
  readonly part: string;
  readonly rule: Rule;
  readonly months: readonly Month[];
}

/** A month that two folds of one driver have by different rules. */
function twoRules(folds: readonly RuledMonths[]): Omit<MixedRules, 'driver'> | undefined {
  if (folds.every(({ rule }) => rule === folds[0]?.rule)) return undefined;
  const before = new Map<Month, RuledMonths>();
  for (const fold of folds) {
    for (const month of fold.months) {
      const other = before.get(month);
      if (other !== undefined && other.rule !== fold.rule)
        return { month, folds: [other, fold].map(({ part, rule }) => ({ part, rule })) };
      before.set(month, fold);
    }
  }
  return undefined;
}
