/** One source of the config, as `SourceSettings`. */
import { createHash } from 'node:crypto';
import type { LookupFiles, Mapping, SourceSettings, Test, Unpivot } from '../core/settings.ts';
import { unpivotNames, valueGroup } from '../core/mapping/unpivot.ts';
import { type Kind, kinds } from '../sources/index.ts';
import { readDrivers } from './driver.ts';
import { refuseMissing, refuseType } from './issues.ts';
import { describeWritten, textOf } from './leaf.ts';
import { nearest } from './nearest.ts';
import { type Place, isMapping, keysAt, spotOf, within, writtenAt } from './place.ts';
import { type Fields, type Whole, readFields, readValue, withTexts } from './read.ts';
import { kindShape } from './schema.ts';
import { mapFileShape, sourceShape } from './source-schema.ts';

/**
 * Reads one source and reports all that is wrong with it. What comes back is whole only where nothing was reported;
 * `undefined` where its type is not known.
 */
export function readSource(place: Place, timezone: string): SourceSettings | undefined {
  const written = writtenAt(place);
  if (written !== undefined && !isMapping(written)) refuseType(place, 'a mapping', written);
  if (!isMapping(written)) return undefined;
  const type = readType(place);
  // Of an unknown kind, whatever some kind knows may be right.
  const types = type === undefined ? Object.keys(kinds) : [type];
  const kindKeys = [...new Set(types.flatMap((name) => Object.keys(kindShape(name))))];
  const fields = readFields(place, sourceShape, ['type', 'drivers', ...kindKeys]) as Whole<typeof sourceShape>;
  const kind = type === undefined ? undefined : readKind(place, type, kindKeys);
  const mapping = readMapping(place, fields, type === undefined ? undefined : kinds[type]?.drivers);
  if (type === undefined) return undefined;
  const lookups = readLookups(place, fields);
  const problems = kind === undefined ? [] : (kinds[type]?.problems?.(kind.value, mapping, lookups) ?? []);
  for (const { path, message, hint } of problems) place.report({ path: [...place.path, ...path], message, hint });
  return {
    name: String(place.path.at(-1)),
    type,
    kind: kind?.value,
    poll: fields.poll,
    timeoutMs: fields.timeout,
    removed: fields.removed,
    history: fields.history,
    mayBeEmpty: fields.mayBeEmpty,
    mapping,
    lookups,
    tests: fields.tests,
    digest: createHash('sha256')
      .update(canonicalJson({ source: written, timezone }))
      .digest('hex'),
  };
}

function readType(place: Place): string | undefined {
  const at = within(place, 'type');
  const names = Object.keys(kinds);
  if (!keysAt(place).includes('type')) {
    refuseMissing(at, names[0]);
    return undefined;
  }
  const written = writtenAt(at);
  if (typeof written === 'string' && Object.hasOwn(kinds, written)) return written;
  if (written === undefined || spotOf(at)?.unset === true) return undefined;
  const near = nearest(textOf(written) ?? '', names);
  at.report({
    path: at.path,
    message: 'unknown type of source',
    detail: ` ${describeWritten(written)}`,
    hint:
      near === undefined ? `there are ${names.join(', ')}` : `did you mean "${near}"? there are ${names.join(', ')}`,
  });
  return undefined;
}

function readKind(place: Place, type: string, keys: readonly string[]): { value: unknown } | undefined {
  const schema = kinds[type]?.schema;
  const written = writtenAt(place);
  if (schema === undefined || !isMapping(written)) return undefined;
  const own = Object.fromEntries(keys.filter((key) => key in written).map((key) => [key, written[key]]));
  return readValue(place, schema, withTexts(schema, own));
}

function readMapping(place: Place, fields: Fields<typeof sourceShape>, defaults: Kind['drivers']): Mapping {
  const { where = {}, missing = [], fillDown = [], maps = {}, fiscalYear } = fields;
  return {
    where: Object.entries<Test>(where).map(([column, test]) => ({ column: column.trim(), test })),
    missing: missing.map((text) => text.trim()),
    fillDown: fillDown.map((column) => column.trim()),
    unpivot: readUnpivot(within(place, 'unpivot'), fields.unpivot),
    maps: Object.fromEntries(Object.entries(maps).filter(([, map]) => !Object.hasOwn(map, 'file'))),
    drivers: readDrivers(place, { fiscalYear, hasCalendar: keysAt(place).includes('calendar'), defaults }),
  };
}

function readUnpivot(place: Place, fields: Fields<typeof sourceShape>['unpivot']): Unpivot | undefined {
  if (fields === undefined) return undefined;
  const { columns } = fields;
  const name = fields.name?.trim();
  const value = fields.value.map((text) => text.trim());
  const groups = columns.groupNames;
  const at = (key: string): Place => within(place, key);
  const isSeveral = value.length > 1;
  if (isSeveral && !groups.includes(valueGroup)) {
    const hint = `such as "^(?<${valueGroup}>${value.join('|')}) (?<month>.+)$"`;
    const message = `several value columns, and no group "${valueGroup}" that says which one a header is of`;
    at('columns').report({ path: at('columns').path, message, hint });
  } else if (name === undefined && groups.length === 0) {
    const message = 'nothing would hold the header of an unpivoted column';
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

/** A map with the key `file` stands in that file, whatever its other keys: a slip must not make a table of it. */
function readLookups(place: Place, { maps = {}, calendar }: Fields<typeof sourceShape>): LookupFiles {
  const files = Object.entries(maps).flatMap(([name, map]) => {
    if (!Object.hasOwn(map, 'file')) return [];
    const fields = readFields(within(place, 'maps', name), mapFileShape) as Whole<typeof mapFileShape>;
    const { file, delimiter, encoding, settle, from, to } = fields;
    return [[name, { file, delimiter, encoding, settle, from, to }] as const];
  });
  return {
    maps: Object.fromEntries(files),
    calendar: calendar && { ...calendar, delimiter: calendar.delimiter },
  };
}

/** Equal values give equal texts, whatever the order of their keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
