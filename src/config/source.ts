/** One source of the config, as `SourceSettings`. */
import { createHash } from 'node:crypto';
import type { DriverEntry, Mapping, SourceSettings, Test } from '../core/settings.ts';
import { type Template, parseTemplate, templateMaps } from '../core/template.ts';
import type { TimeFormat } from '../core/time-format.ts';
import { timeFormatProblem } from '../core/time.ts';
import { kinds } from '../sources/index.ts';
import type { Written } from './document.ts';
import { refuseMissing, refuseType } from './issues.ts';
import { describeWritten, textOf } from './leaf.ts';
import { nearest } from './nearest.ts';
import { type Place, isMapping, keysAt, spotOf, spotsIn, within, writtenAt } from './place.ts';
import { type Fields, type Shape, readFields, readValue, withTexts } from './read.ts';
import { kindShape } from './schema.ts';
import { driverShape, sourceShape, timeShape, valueShape } from './source-schema.ts';
import { sameMark, template } from './units.ts';

/** What the settings need of a source beyond its defaults; all of it is there where nothing was reported. */
type Whole<S extends Shape> = Required<Fields<S>>;

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
  const kindKeys = (type === undefined ? Object.keys(kinds) : [type]).flatMap((name) => Object.keys(kindShape(name)));
  const fields = readFields(place, sourceShape, ['type', 'drivers', ...kindKeys]) as Whole<typeof sourceShape>;
  const kind = type === undefined ? undefined : readKind(place, type, kindKeys);
  const mapping = readMapping(place, fields);
  if (type === undefined) return undefined;
  return {
    name: String(place.path.at(-1)),
    type,
    kind: kind?.value,
    pollMs: fields.poll,
    timeoutMs: fields.timeout,
    removed: fields.removed,
    history: fields.history,
    mayBeEmpty: fields.mayBeEmpty,
    mapping,
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

function readMapping(place: Place, fields: Fields<typeof sourceShape>): Mapping {
  const { where = {}, missing = [], unpivot } = fields;
  if (unpivot !== undefined && unpivot.name.trim() === unpivot.value.trim()) {
    const at = within(place, 'unpivot', 'value');
    at.report({ path: at.path, message: 'the same column as name', hint: 'give the two new columns different names' });
  }
  return {
    where: Object.entries<Test>(where).map(([column, test]) => ({ column: column.trim(), test })),
    missing: missing.map((text) => text.trim()),
    unpivot: unpivot && { columns: unpivot.columns, name: unpivot.name.trim(), value: unpivot.value.trim() },
    maps: fields.maps ?? {},
    drivers: readDrivers(place),
  };
}

function readDrivers(place: Place): readonly DriverEntry[] {
  const at = within(place, 'drivers');
  const written = writtenAt(at);
  if (!keysAt(place).includes('drivers')) refuseMissing(at);
  else if (Array.isArray(written) && written.length === 0) at.report({ path: at.path, message: 'the list is empty' });
  else if (written !== undefined && !Array.isArray(written)) refuseType(at, 'a list', written);
  if (!Array.isArray(written)) return [];
  const entries = written.flatMap((_, index) => readDriver(within(at, index)) ?? []);
  reportUnknownMaps(place, at, written);
  return entries;
}

function readDriver(place: Place): DriverEntry | undefined {
  const fields = readFields(place, driverShape, ['time', 'value']) as Whole<typeof driverShape>;
  if (!isMapping(writtenAt(place))) return undefined;
  return {
    id: fields.id,
    path: fields.path,
    time: readTime(within(place, 'time')),
    value: readNumber(within(place, 'value')),
    rule: fields.collapse,
  };
}

/** Stands where a template was refused, which has been reported. */
const nothing: Template = { text: '', pieces: [] };

/** A template, or a mapping of its parts. */
function readForm<S extends Shape>(place: Place, shape: S): Fields<S> {
  const written = writtenAt(place);
  if (isMapping(written)) return readFields(place, shape);
  if (spotOf(place) === undefined)
    refuseMissing(place, `{${String(place.path.at(-1)) === 'time' ? 'date' : 'amount'}}`);
  const from = readValue(place, template, written);
  return readDefaults(shape, from?.value);
}

function readDefaults<S extends Shape>(shape: S, from: Template | undefined): Fields<S> {
  const defaults = Object.entries(shape).flatMap(([key, schema]) => {
    const result = schema.safeParse(undefined);
    return result.success ? [[key, result.data] as const] : [];
  });
  return { ...Object.fromEntries(defaults), ...(from === undefined ? {} : { from }) } as Fields<S>;
}

function readTime(place: Place): { readonly from: Template; readonly format: TimeFormat } {
  const { from = nothing, format = ['iso'], locale, timezone } = readForm(place, timeShape);
  const time = { formats: format, locale: locale ?? 'en', timezone };
  const at = within(place, 'format');
  // Where the locale could not be read, neither can what depends on it.
  const isJudged =
    locale !== undefined && spotOf(at) !== undefined && !spotsIn(at.document.spots, at.path).some(({ unset }) => unset);
  const problem = isJudged ? timeFormatProblem(time) : undefined;
  if (problem !== undefined) {
    at.report({ path: at.path, message: 'not a format that tells months', detail: `: ${problem}` });
  }
  return { from, format: time };
}

function readNumber(place: Place): DriverEntry['value'] {
  const { from = nothing, decimal, group, accounting, scale, negate } = readForm(place, valueShape);
  if (decimal !== undefined && group !== undefined && sameMark(decimal, group.mark)) {
    const at = within(place, 'group');
    const hint =
      spotOf(within(place, 'decimal')) === undefined ? { hint: 'say which mark is the decimal one: decimal: ","' } : {};
    at.report({ path: at.path, message: 'the group mark is the decimal mark too', ...hint });
  }
  const format = { decimal: decimal ?? '.', group, accounting: accounting ?? false, scale, negate: negate ?? false };
  return { from, format };
}

/** A filter that names a map that is not there would make every text empty, and every row a reject. */
function reportUnknownMaps(source: Place, place: Place, written: Written): void {
  if (typeof written === 'string') {
    const parsed = parseTemplate(written);
    const names = keysAt(within(source, 'maps'));
    const maps = 'template' in parsed ? templateMaps(parsed.template) : [];
    for (const map of maps) {
      if (names.includes(map) || spotOf(place)?.unset === true) continue;
      const near = nearest(map, names);
      const known = names.length === 0 ? 'this source has no maps' : `there are ${names.join(', ')}`;
      const hint = near === undefined ? known : `did you mean "${near}"?`;
      place.report({ path: place.path, message: 'unknown map', detail: ` ${JSON.stringify(map)}`, hint });
    }
  } else if (typeof written === 'object' && written !== null) {
    for (const [step, inner] of Object.entries(written)) {
      reportUnknownMaps(source, within(place, Array.isArray(written) ? Number(step) : step), inner);
    }
  }
}

/** Equal values give equal texts, whatever the order of their keys. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
