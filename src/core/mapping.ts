/** Rows to readings: where, unpivot, templates, moments and values, compiled once for the columns of a part. */
import { describeBadDecimal, parseDecimal } from './decimal.ts';
import { AgentError } from './errors.ts';
import type { Moment, Row } from './model.ts';
import { NameCache } from './name-cache.ts';
import type { DriverName, ReadingSink, RowReading } from './reading.ts';
import type { Condition, DriverEntry, Mapping, Test } from './settings.ts';
import { trimWhiteSpace } from './text.ts';
import { type Maps, type Template, renderName, renderText, templateColumns } from './template.ts';
import { type TimeReader, compileTimeReader } from './time.ts';

/** What became of a row: `undefined` where its readings were handed over, `filtered` by `where`, or the reasons of its reject. */
export type RowResult = undefined | 'filtered' | { readonly reject: string };

interface PendingReading extends RowReading {
  readonly name: DriverName;
  readonly moment: Moment;
}

export class RowMapper {
  readonly #width: number;
  readonly #conditions: readonly { readonly index: number; readonly test: Test }[];
  readonly #entries: readonly EntryReader[];
  readonly #unpivoted: readonly number[] | undefined;
  readonly #columns: readonly string[];
  // Both are empty between rows: a set and a list for each row would be a third of its garbage.
  readonly #pending: PendingReading[] = [];
  readonly #reasons = new Set<string>();

  /** @throws AgentError `part.unreadable` where the mapping needs a column that is not there. */
  constructor(mapping: Mapping, columns: readonly string[], timezone: string) {
    this.#columns = columns;
    this.#width = columns.length;
    const [problem] = columnProblems(mapping, columns);
    if (problem !== undefined) throw new AgentError('part.unreadable', problem.message, { hint: problem.hint });
    const { names, unpivoted } = unpivotColumns(mapping, columns);
    this.#unpivoted = unpivoted;
    const indexOf = (column: string): number => names.indexOf(column);
    this.#conditions = mapping.where.map(({ column, test }: Condition) => ({ index: indexOf(column), test }));
    this.#entries = mapping.drivers.map(
      (entry, index) => new EntryReader(entry, { mapping, index, indexOf, timezone }),
    );
  }

  /** Hands over all readings of a row, or none of them. `row` is counted from 1. */
  read(fields: Row, row: number, sink: ReadingSink): RowResult {
    if (fields.length !== this.#width) {
      return { reject: `${fields.length} ${fields.length === 1 ? 'field' : 'fields'}, expected ${this.#width}` };
    }
    const pending = this.#pending;
    pending.length = 0;
    const isHandedOn = this.#unpivoted === undefined ? this.#readWide(fields, row) : this.#readLong(fields, row);
    if (this.#reasons.size > 0) {
      const reject = [...this.#reasons].join('; ');
      this.#reasons.clear();
      return { reject };
    }
    if (!isHandedOn) return 'filtered';
    for (let index = 0; index < pending.length; index++) {
      const reading = pending[index] as PendingReading;
      sink.add(reading.name, reading.moment, reading);
    }
    return undefined;
  }

  #readWide(fields: Row, row: number): boolean {
    if (!this.#passes(fields)) return false;
    for (const entry of this.#entries) {
      const reading = entry.read(fields, row, this.#reasons);
      if (reading !== undefined) this.#pending.push(reading);
    }
    return true;
  }

  /** Each unpivoted column gives one long row: the row's fields, then the column's name and its field. */
  #readLong(fields: Row, row: number): boolean {
    const long = [...fields, '', ''];
    let passed = false;
    const found: string[] = [];
    for (const index of this.#unpivoted as readonly number[]) {
      long[this.#width] = this.#columns[index] as string;
      long[this.#width + 1] = fields[index] as string;
      if (this.#readWide(long, row)) passed = true;
      if (this.#reasons.size === 0) continue;
      for (const reason of this.#reasons) found.push(`column "${this.#columns[index]}": ${reason}`);
      this.#reasons.clear();
    }
    for (const reason of found) this.#reasons.add(reason);
    return passed;
  }

  #passes(fields: Row): boolean {
    for (const { index, test } of this.#conditions) {
      if (!isMatch(test, fields[index] as string)) return false;
    }
    return true;
  }
}

function isMatch(test: Test, text: string): boolean {
  switch (test.kind) {
    case 'oneOf':
      return test.texts.includes(text);
    case 'matches':
      return test.pattern.test(text);
    case 'not':
      return !isMatch(test.test, text);
  }
}

/** What a mapping asks for and a place cannot give: a column that a part lacks, a rule that a database cannot collapse by. */
export interface MappingProblem {
  /** Where the source's config asks for it, such as `['drivers', 0, 'time']`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint: string;
}

/** Everything about a mapping that does not fit a part's columns. */
export function columnProblems(mapping: Mapping, columns: readonly string[]): readonly MappingProblem[] {
  const { names, unpivoted } = unpivotColumns(mapping, columns);
  if (mapping.unpivot !== undefined && unpivoted?.length === 0) {
    const message = `no column matches unpivot.columns ${mapping.unpivot.columns.source}`;
    return [{ path: ['unpivot', 'columns'], message, hint: `the columns are ${listColumns(columns)}` }];
  }
  const problems: MappingProblem[] = [];
  const need = (path: MappingProblem['path'], needed: readonly string[]): void => {
    for (const column of new Set(needed)) {
      if (names.includes(column)) continue;
      problems.push({ path, message: `there is no column "${column}"`, hint: columnHint(names) });
    }
  };
  for (const name of [mapping.unpivot?.name, mapping.unpivot?.value]) {
    if (name === undefined || names.indexOf(name) >= columns.length) continue;
    const message = `unpivot makes a column "${name}" and the part has one of that name`;
    problems.push({ path: ['unpivot'], message, hint: 'choose another name under unpivot' });
  }
  for (const { column } of mapping.where) need(['where', column], [column]);
  for (const [index, entry] of mapping.drivers.entries()) {
    if (entry.id !== undefined) need(['drivers', index, 'id'], templateColumns(entry.id));
    for (const [element, template] of entry.path.entries()) {
      need(['drivers', index, 'path', element], templateColumns(template));
    }
    need(['drivers', index, 'time'], templateColumns(entry.time.from));
    need(['drivers', index, 'value'], templateColumns(entry.value.from));
  }
  return problems;
}

/** The names that templates may use, by index into a (long) row. Columns that were unpivoted have none. */
function unpivotColumns(
  { unpivot }: Mapping,
  columns: readonly string[],
): { names: readonly string[]; unpivoted: readonly number[] | undefined } {
  if (unpivot === undefined) return { names: columns, unpivoted: undefined };
  const unpivoted = columns.flatMap((column, index) => (unpivot.columns.test(column) ? [index] : []));
  const gone = new Set(unpivoted);
  const kept = columns.map((column, index) => (gone.has(index) ? '' : column));
  return { names: [...kept, unpivot.name, unpivot.value], unpivoted };
}

/** What to do about a column that is not there. */
function columnHint(names: readonly string[]): string {
  const [only] = names;
  const mark = names.length === 1 ? /[;\t|,]/.exec(only ?? '')?.[0] : undefined;
  if (mark === undefined) return `the columns are ${listColumns(names)}`;
  return `the header is one column, ${only}: should "delimiter" be ${JSON.stringify(mark)}?`;
}

function listColumns(names: readonly string[]): string {
  const named = names.filter((name) => name !== '');
  const shown = named.slice(0, 30).join(', ');
  return named.length > 30 ? `${shown} and ${named.length - 30} more` : shown;
}

interface EntryContext {
  readonly mapping: Mapping;
  readonly index: number;
  readonly indexOf: (column: string) => number;
  readonly timezone: string;
}

/** One entry of `drivers:` for the columns of one part. */
class EntryReader {
  readonly #entry: DriverEntry;
  readonly #index: number;
  readonly #maps: Maps;
  readonly #missing: readonly string[];
  readonly #indexes = new Map<string, number>();
  readonly #time: (fields: Row) => string;
  readonly #value: (fields: Row) => string;
  readonly #readTime: TimeReader;
  readonly #names: NameCache;

  constructor(entry: DriverEntry, context: EntryContext) {
    this.#entry = entry;
    this.#index = context.index;
    this.#maps = context.mapping.maps;
    this.#missing = context.mapping.missing;
    // Paths go from the general to the particular, and so does the tree of names: few branches, many leaves.
    const names = [...entry.path, ...(entry.id === undefined ? [] : [entry.id])];
    for (const template of [...names, entry.time.from, entry.value.from]) {
      for (const column of templateColumns(template)) this.#indexes.set(column, context.indexOf(column));
    }
    const keys = [...new Set(names.flatMap(templateColumns))].map(context.indexOf);
    this.#names = new NameCache(keys, (fields) => this.#resolve(fields));
    this.#time = this.#renderer(entry.time.from);
    this.#value = this.#renderer(entry.value.from);
    this.#readTime = compileTimeReader(entry.time.format, context.timezone);
  }

  /** `undefined` for no reading: the value is missing, or there are reasons to reject the row. */
  read(fields: Row, row: number, reasons: Set<string>): PendingReading | undefined {
    const text = this.#value(fields);
    if (this.#missing.includes(trimWhiteSpace(text))) return undefined;
    const name = this.#names.of(fields);
    if (typeof name === 'string') reasons.add(name);
    const time = this.#time(fields);
    const moment = this.#readTime(time);
    if (typeof moment === 'string') reasons.add(time.trim() === '' ? 'time is empty' : moment);
    const value = parseDecimal(text, this.#entry.value.format);
    if (value === undefined) reasons.add(describeBadDecimal(text, this.#entry.value.format));
    if (typeof name === 'string' || typeof moment === 'string' || value === undefined) return undefined;
    return { name, moment, value, text, row, entry: this.#index };
  }

  /** The name, or all reasons why the key makes none. */
  #resolve(fields: Row): DriverName | string {
    const field = this.#field(fields);
    const reasons = new Set<string>();
    const render = (where: 'id' | 'path', template: Template): string => {
      const name = renderName(template, field, this.#maps);
      if (typeof name === 'string') return name;
      reasons.add(emptyReason(where, name.column, field(name.column)));
      return '';
    };
    const path = this.#entry.path.map((template) => render('path', template));
    const id = this.#entry.id === undefined ? path.join('/') : render('id', this.#entry.id);
    return reasons.size > 0 ? [...reasons].join('; ') : { id, path, rule: this.#entry.rule };
  }

  #field(fields: Row): (column: string) => string {
    return (column) => fields[this.#indexes.get(column) as number] as string;
  }

  /** Most templates are one bare column: those cost an index. */
  #renderer(template: Template): (fields: Row) => string {
    const [only] = template.pieces;
    if (template.pieces.length === 1 && typeof only === 'object' && only.filters.length === 0) {
      const index = this.#indexes.get(only.column) as number;
      return (fields) => fields[index] as string;
    }
    return (fields) => renderText(template, this.#field(fields), this.#maps);
  }
}

function emptyReason(where: 'id' | 'path', column: string, text: string): string {
  if (text.trim() === '') return `${where}: column "${column}" is empty`;
  return `${where}: "${text.slice(0, 40)}" of column "${column}" comes out empty`;
}
