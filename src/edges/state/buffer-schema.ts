/** The buffer's tables and how they are brought up to date. Everything in it can be rebuilt from sources and archive. */
import type { Database } from 'better-sqlite3';
import { AgentError } from '../../core/errors.ts';
import { bundleFolds } from './bundle-migration.ts';

/** Statements, or what no statement can do. */
type Migration = string | ((db: Database, file: string) => void);

const migrations: readonly Migration[] = [
  `
  -- One read of one part. Its id is also the number that cells name their part by, so it is never used again.
  CREATE TABLE part_read (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('part', 'history', 'snapshot')),
    stamp TEXT NOT NULL,
    hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    revised_at_ms REAL NOT NULL,
    rows INTEGER NOT NULL,
    rejects INTEGER NOT NULL,
    ends_with_line_end INTEGER,
    ready INTEGER NOT NULL
  ) STRICT;

  -- Which part in which revision a cell's number means; kept while any cell may name it.
  CREATE TABLE origin (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    name TEXT NOT NULL,
    revised_at_ms REAL NOT NULL
  ) STRICT;

  -- Cells of a 'history' or 'snapshot' read name the parts they came from.
  CREATE TABLE part_read_origin (
    part_read INTEGER NOT NULL,
    origin INTEGER NOT NULL,
    PRIMARY KEY (part_read, origin)
  ) STRICT, WITHOUT ROWID;

  -- The drivers of a part, collapsed and packed. A part with very many points has several chunks of them.
  CREATE TABLE fold (
    source TEXT NOT NULL,
    driver TEXT NOT NULL,
    part_read INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    rule TEXT NOT NULL,
    path TEXT NOT NULL,
    other_path TEXT,
    earliest INTEGER NOT NULL,
    points BLOB NOT NULL,
    origins BLOB NOT NULL,
    -- CRC-32 of all that is pushed or shown: SQLite has no checksums, and a flipped digit must not be pushed.
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX fold_by_driver ON fold (source, driver, part_read, chunk);

  CREATE TABLE read (
    source TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('accepted', 'candidate', 'partial')),
    PRIMARY KEY (source, kind)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE read_part (
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    part_read INTEGER NOT NULL,
    carried INTEGER NOT NULL,
    PRIMARY KEY (source, kind, part_read)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE reject (
    source TEXT NOT NULL,
    part TEXT NOT NULL,
    row INTEGER NOT NULL,
    reason TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (source, part, row)
  ) STRICT, WITHOUT ROWID;

  -- Files of which only the newest counts: a touched one is as old as its content.
  CREATE TABLE seen (
    source TEXT NOT NULL,
    name TEXT NOT NULL,
    stamp TEXT NOT NULL,
    hash TEXT NOT NULL,
    revised_at_ms REAL NOT NULL,
    PRIMARY KEY (source, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE part_read RENAME COLUMN stamp TO version;
  ALTER TABLE seen RENAME COLUMN stamp TO version;
  ALTER TABLE read ADD COLUMN basis TEXT;
  ALTER TABLE read ADD COLUMN summary TEXT;
  ALTER TABLE read_part ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;
  -- A time ahead of the clock counts as the moment when it was first seen: at the latest now.
  UPDATE part_read SET revised_at_ms = min(revised_at_ms, unixepoch() * 1000.0);
  UPDATE origin SET revised_at_ms = min(revised_at_ms, unixepoch() * 1000.0);
  UPDATE seen SET revised_at_ms = min(revised_at_ms, unixepoch() * 1000.0);
  DELETE FROM meta WHERE key LIKE 'basis %' OR key LIKE 'inherited %' OR key LIKE 'summary:%';
  `,
  `
  -- What is known of the buffer as a whole.
  CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    -- Counts up whenever an accepted read changes.
    revision INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  INSERT INTO state SELECT 1,
    coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'revision'), 0),
    coalesce((SELECT json_object('id', value) FROM meta WHERE key = 'buffer'), '{}');
  UPDATE state SET record = json_set(record, '$.isBare', json('true')) WHERE EXISTS (SELECT 1 FROM meta WHERE key = 'bare');
  DROP TABLE meta;

  -- Tables beside a source that ended with a line end when the source was last read whole.
  CREATE TABLE line_end (
    source TEXT NOT NULL,
    file TEXT NOT NULL,
    PRIMARY KEY (source, file)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Which of the source's drivers: made the latest reading, and the readings that its points left out with the same time.
  ALTER TABLE fold ADD COLUMN entry INTEGER;
  ALTER TABLE fold ADD COLUMN ties BLOB;
  UPDATE read SET summary = NULL;
  `,
  `
  -- What is known of a part whose rows are not in the buffer; and whether it is a part of the read or only named by history.
  ALTER TABLE origin ADD COLUMN hash TEXT;
  ALTER TABLE origin ADD COLUMN ends_with_line_end INTEGER;
  ALTER TABLE part_read_origin ADD COLUMN is_part INTEGER NOT NULL DEFAULT 0;
  UPDATE part_read SET hash = '' WHERE hash LIKE 'gone:%';
  UPDATE origin SET (hash, ends_with_line_end) =
    (SELECT nullif(p.hash, ''), p.ends_with_line_end FROM part_read p WHERE p.id = origin.id);
  UPDATE part_read_origin SET is_part = 1 WHERE part_read IN (SELECT id FROM part_read WHERE kind = 'snapshot');
  `,
  `
  -- A table that never ended with a line end stands there too, with 0: this is how it is written.
  ALTER TABLE line_end ADD COLUMN ended INTEGER NOT NULL DEFAULT 1;
  `,
  `
  -- The number that cells name a part by: its own id, or the number of the read that it goes on from.
  ALTER TABLE part_read ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;
  UPDATE part_read SET origin = id;

  -- What a part is made of: the folds that were written for it, and those of the reads that it goes on from. fold.part_read is a run.
  CREATE TABLE part_run (
    part_read INTEGER NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (part_read, run)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX part_run_by_run ON part_run (run);
  INSERT INTO part_run SELECT id, id FROM part_read;

  -- What it takes to read only the rows that are appended to a part.
  CREATE TABLE growth (
    part_read INTEGER PRIMARY KEY,
    bytes INTEGER NOT NULL,
    blocks BLOB NOT NULL,
    format TEXT NOT NULL,
    passed INTEGER NOT NULL,
    rejects TEXT NOT NULL,
    proven INTEGER NOT NULL
  ) STRICT;
  `,
  `
  -- How many rows of a part were rejected, beside the first ones that are kept. What an older agent counted stands in part_read.
  CREATE TABLE reject_count (
    source TEXT NOT NULL,
    part TEXT NOT NULL,
    total INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    PRIMARY KEY (source, part)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO reject_count SELECT r.source, r.part, max(count(*), coalesce((SELECT p.rejects FROM part_read p
    WHERE p.source = r.source AND p.name = r.part AND p.kind = 'part' ORDER BY p.id DESC LIMIT 1), 0)), count(*)
    FROM reject r GROUP BY r.source, r.part;
  `,
  `
  -- The drivers of a part, collapsed and packed: neighbours in the order of ids in one row. See bundle.ts for what stands in a blob.
  CREATE TABLE bundle (
    source TEXT NOT NULL,
    part_read INTEGER NOT NULL,
    -- A part comes in several chunks, each in the order of ids, and later ones hold later rows.
    chunk INTEGER NOT NULL,
    -- The ids that it begins and ends with.
    first TEXT NOT NULL,
    last TEXT NOT NULL,
    drivers INTEGER NOT NULL,
    earliest INTEGER NOT NULL,
    rules TEXT NOT NULL,
    names TEXT NOT NULL,
    heads BLOB NOT NULL,
    names_checksum INTEGER NOT NULL,
    points BLOB NOT NULL,
    origins BLOB NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  -- A driver is looked up in it alone.
  CREATE UNIQUE INDEX bundle_by_first ON bundle (source, first, part_read, chunk, last);
  `,
  bundleFolds,
  'DROP TABLE fold',
  `
  -- A read is judged by the rejects of the one before, also where that is only known from a snapshot.
  ALTER TABLE origin ADD COLUMN rejects INTEGER;
  UPDATE origin SET rejects = (SELECT p.rejects FROM part_read p WHERE p.id = origin.id AND p.kind = 'part');
  `,
  `
  -- The files that a query read, as a JSON list.
  ALTER TABLE part_read ADD COLUMN files TEXT;
  `,
];

/**
 * Brings a database to the version of this agent. Only the holder of the lock may call it.
 * @throws AgentError `state.newer` where a newer agent made it.
 */
export function migrate(db: Database, file: string): void {
  migrateWith(db, file, migrations);
}

/** The same for any list of migrations: `user_version` counts those that were run. */
export function migrateWith(db: Database, file: string, steps: readonly Migration[]): void {
  const version = db.pragma('user_version', { simple: true }) as number;
  checkVersion(version, file, steps);
  if (version === steps.length) return;
  db.transaction(() => {
    for (const step of steps.slice(version)) {
      if (typeof step === 'string') db.exec(step);
      else step(db, file);
    }
    db.pragma(`user_version = ${steps.length}`);
  }).immediate();
}

/** @throws AgentError `state.newer` where a newer agent made it. */
export function checkVersion(version: number, file: string, steps: readonly Migration[] = migrations): void {
  if (version <= steps.length) return;
  throw new AgentError(
    'state.newer',
    `${file} was written by a newer driver-sync (version ${version}, this one knows ${steps.length})`,
    {
      hint: 'run the newer driver-sync, or name another state directory',
    },
  );
}

/**
 * For a database that is used as it is.
 * @throws AgentError `state.newer`, `state.older` where the holder of the lock has not brought it up to date yet
 */
export function checkCurrent(version: number, file: string, steps: readonly Migration[] = migrations): void {
  checkVersion(version, file, steps);
  if (version === steps.length) return;
  throw new AgentError(
    'state.older',
    `${file} was written by an older driver-sync (version ${version}, this one reads ${steps.length})`,
    {
      hint: 'start "driver-sync run" or "sync" of this version, which brings it up to date; stop the older agent first',
    },
  );
}
