/** One source of the config, as `SourceSettings`. */
import { createHash } from 'node:crypto';
import type {
  LookupFiles,
  Mapping,
  MappingDigests,
  SourceSettings,
  SourceTest,
  Test,
  Unpivot,
} from '../core/settings.ts';
import { unpivotNames, valueGroup } from '../core/mapping/unpivot.ts';
import { type Kind, kinds } from '../sources/index.ts';
import { readDrivers } from './drivers.ts';
import { reportMissing, reportType, reportUnknownKey } from './fields.ts';
import { describeWritten } from './scalars.ts';
import { nearest } from '../core/nearest.ts';
import { quote, trimWhiteSpace } from '../core/text.ts';
import type { Written, WrittenMap } from './document.ts';
import { type Cursor, isMapping, keysAt, spotOf, within, writtenAt } from './cursor.ts';
import { type Fields, type Whole, readFields, readValue, withTexts } from './fields.ts';
import { kindShape } from './json-schema.ts';
import { mapFileShape, sourceShape } from './source-keys.ts';

/**
 * Reads one source and reports everything that is wrong with it. The result is complete only where nothing was reported;
 * `undefined` for an unknown type.
 */
export function readSource(cursor: Cursor, timezone: string): SourceSettings | undefined {
  const written = writtenAt(cursor);
  if (written !== undefined && !isMapping(written)) reportType(cursor, 'a mapping', written);
  if (!isMapping(written)) return undefined;
  const type = readType(cursor);
  // Without a known type, a key of any kind may be right.
  const types = type === undefined ? Object.keys(kinds) : [type];
  const kindKeys = [...new Set(types.flatMap((name) => Object.keys(kindShape(name))))];
  const fields = readFields(cursor, sourceShape, ['type', 'drivers', ...kindKeys]) as Whole<typeof sourceShape>;
  const kind = type === undefined ? undefined : readKind(cursor, type, kindKeys);
  const mapping = readMapping(cursor, fields, type === undefined ? undefined : kinds[type]?.drivers);
  if (type === undefined) return undefined;
  const lookups = readLookups(cursor, fields);
  const problems = kind === undefined ? [] : (kinds[type]?.problems?.(kind.value, mapping, lookups) ?? []);
  for (const { path, message, hint } of problems) cursor.report({ path: [...cursor.path, ...path], message, hint });
  return {
    name: String(cursor.path.at(-1)),
    type,
    kind: kind?.value,
    files: filesOf(within(cursor, 'files')),
    poll: fields.poll,
    timeoutMs: fields.timeout,
    removed: fields.removed,
    history: fields.history,
    mayBeEmpty: fields.mayBeEmpty,
    // A field with a problem is missing, whatever its type says.
    values: (fields.guard as typeof fields.guard | undefined)?.values,
    actuals: fields.actuals,
    mapping,
    lookups,
    tests: readTests(within(cursor, 'tests'), fields.tests),
    readBy: digestMapping(written, timezone),
    digest: digestOf({ source: written, timezone }),
  };
}

function readTests(cursor: Cursor, tests: Fields<typeof sourceShape>['tests'] = []): readonly SourceTest[] {
  return tests.map((test, at) => {
    const columns = test.rows.flatMap((_row, row) => keysAt(within(cursor, at, 'rows', row)));
    return { ...test, columns: [...new Set(columns)] };
  });
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** By keys as they are written: what an agent makes of them may look otherwise in its next version. */
function digestMapping(written: WrittenMap, timezone: string): MappingDigests {
  const { where, missing, fillDown, unpivot, fiscalYear, calendar, drivers } = written;
  const entries = Array.isArray(drivers) ? (drivers as readonly Written[]) : [];
  const rules: Written[] = [];
  const paths: Written[] = [];
  const readings = entries.map((entry) => {
    if (!isMapping(entry)) return entry;
    const { collapse = 'last', path, ...others } = entry;
    rules.push(collapse);
    if (others['id'] === undefined) return { path, ...others };
    paths.push(path);
    return others;
  });
  const rows = { where, missing, fillDown, unpivot, fiscalYear, hasCalendar: calendar !== undefined };
  return {
    readings: digestOf({ ...rows, timezone, drivers: readings }),
    rules: digestOf(rules),
    paths: digestOf(paths),
  };
}

/** As they are written: what a variable holds differs between machines. */
function filesOf(cursor: Cursor): readonly string[] | undefined {
  const written = writtenAt(cursor);
  if (!Array.isArray(written)) return undefined;
  // What is no text is a problem of its own.
  return written.map((text: Written, at) => {
    return spotOf(within(cursor, at))?.raw ?? (typeof text === 'object' ? '' : String(text));
  });
}

/** What people call a kind who have not seen the list. */
const otherNames: Readonly<Record<string, string>> = {
  excel: 'xlsx',
  xls: 'xlsx',
  xlsm: 'xlsx',
  workbook: 'xlsx',
  spreadsheet: 'xlsx',
  sheet: 'xlsx',
  mariadb: 'mysql',
  postgresql: 'postgres',
  pg: 'postgres',
  pgsql: 'postgres',
  sqlite3: 'sqlite',
  txt: 'csv',
  text: 'csv',
  delimited: 'csv',
  file: 'csv',
  tab: 'tsv',
  jsonlines: 'jsonl',
  ldjson: 'jsonl',
  pq: 'parquet',
  api: 'http',
  https: 'http',
  rest: 'http',
  url: 'http',
  web: 'http',
};

function readType(cursor: Cursor): string | undefined {
  const at = within(cursor, 'type');
  const names = Object.keys(kinds);
  if (!keysAt(cursor).includes('type')) {
    reportMissing(at, names[0]);
    return undefined;
  }
  const written = writtenAt(at);
  if (typeof written === 'string' && Object.hasOwn(kinds, written)) return written;
  if (written === undefined || spotOf(at)?.unset === true) return undefined;
  if (typeof written === 'object') {
    reportType(at, 'a type of source', written);
    return undefined;
  }
  const said = String(written).toLowerCase();
  const near = otherNames[said] ?? nearest(said, names);
  at.report({
    path: at.path,
    message: 'unknown type of source',
    detail: ` ${describeWritten(written)}`,
    hint:
      near === undefined ? `there are ${names.join(', ')}` : `did you mean "${near}"? there are ${names.join(', ')}`,
  });
  return undefined;
}

function readKind(cursor: Cursor, type: string, keys: readonly string[]): { value: unknown } | undefined {
  const kind = kinds[type];
  const written = writtenAt(cursor);
  if (kind === undefined || !isMapping(written)) return undefined;
  const { schema } = kind;
  const there = keys.filter((key) => key in written);
  for (const key of there) {
    const home = kind.homeOfForeign?.(key, written);
    if (home !== undefined) reportUnknownKey(cursor, key, keys, home);
  }
  const own = Object.fromEntries(there.map((key) => [key, written[key]]));
  return readValue(cursor, schema, withTexts(schema, own));
}

function readMapping(cursor: Cursor, fields: Fields<typeof sourceShape>, defaults: Kind['drivers']): Mapping {
  const { where = {}, missing = [], fillDown = [], maps = {}, fiscalYear } = fields;
  return {
    where: Object.entries<Test>(where).map(([column, test]) => ({ column: column.trim(), test })),
    missing: missing.map((text) => text.trim()),
    fillDown: fillDown.map((column) => column.trim()),
    unpivot: readUnpivot(within(cursor, 'unpivot'), fields.unpivot),
    maps: Object.fromEntries(
      Object.entries(maps).flatMap(([name, map]) =>
        Object.hasOwn(map, 'file') ? [] : [[name, readMap(within(cursor, 'maps', name), map)]],
      ),
    ),
    drivers: readDrivers(cursor, { fiscalYear, hasCalendar: keysAt(cursor).includes('calendar'), defaults }),
  };
}

/** A table with its keys as they are looked up. */
function readMap({ path, report }: Cursor, map: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const read = new Map<string, { readonly written: string; readonly text: string }>();
  for (const [written, text] of Object.entries(map)) {
    const key = trimWhiteSpace(written);
    const before = read.get(key);
    if (before === undefined) read.set(key, { written, text });
    else if (before.text !== text) {
      const message = `the keys ${quote(before.written)} and ${quote(written)} are one, with two replacements`;
      const hint = 'white space around a key does not count; keep one of the two';
      report({ path: [...path, written], on: 'key', message, hint });
    }
  }
  return Object.fromEntries([...read].map(([key, { text }]) => [key, text]));
}

function readUnpivot(cursor: Cursor, fields: Fields<typeof sourceShape>['unpivot']): Unpivot | undefined {
  if (fields === undefined) return undefined;
  const { columns } = fields;
  const name = fields.name?.trim();
  const value = fields.value.map((text) => text.trim());
  const groups = columns.groupNames;
  const at = (key: string): Cursor => within(cursor, key);
  const isSeveral = value.length > 1;
  if (isSeveral && !groups.includes(valueGroup)) {
    const hint = `such as "^(?<${valueGroup}>${value.join('|')}) (?<month>.+)$"`;
    const message = `several value columns, and no group "${valueGroup}" that says which one a header is of`;
    at('columns').report({ path: at('columns').path, message, hint });
  } else if (name === undefined && groups.length === 0) {
    const message = 'no column would hold the headers';
    const hint = 'say name: month, or name a group of the pattern: (?<month>…)';
    at('columns').report({ path: at('columns').path, message, hint });
  }
  const names = unpivotNames({ columns, name, value });
  const twice = names.find((column, index) => names.indexOf(column) !== index);
  if (twice !== undefined) {
    const message = twice === name ? 'the same column as name' : `two new columns called "${twice}"`;
    at('value').report({ path: at('value').path, message, hint: 'give the new columns different names' });
  }
  return { columns, name, value };
}

/** A map with the key `file` is read from that file, whatever other keys it has: a mistyped key must not make it a table. */
function readLookups(cursor: Cursor, { maps = {}, calendar }: Fields<typeof sourceShape>): LookupFiles {
  const files = Object.entries(maps).flatMap(([name, map]) => {
    if (!Object.hasOwn(map, 'file')) return [];
    const fields = readFields(within(cursor, 'maps', name), mapFileShape) as Whole<typeof mapFileShape>;
    const { file, delimiter, encoding, settle, from, to } = fields;
    return [[name, { file, delimiter, encoding, settle, from, to }] as const];
  });
  return {
    maps: Object.fromEntries(files),
    calendar: calendar && { ...calendar, delimiter: calendar.delimiter },
  };
}

/** JSON with sorted keys: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
