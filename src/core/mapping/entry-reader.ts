/** One entry of `drivers:` for the columns of one part. */
import { divideDecimal } from '../numbers/arithmetic.ts';
import type { Calendar } from '../time/calendar.ts';
import { describeBadDecimal, parseDecimal } from '../numbers/decimal.ts';
import type { CollapsedValue, Moment, Row } from '../model.ts';
import { NameCache } from './name-cache.ts';
import type { DriverName, LatestReading, RowReading } from './reading.ts';
import type { DriverEntry, Mapping } from '../settings.ts';
import { type Maps, type Template, renderName, renderText, templateColumns } from './template.ts';
import { quote, trimWhiteSpace } from '../text.ts';
import { type TimeReader, compileTimeReader } from '../time/time.ts';

/** The rules by which a moment belongs to a month. */
export interface MonthRules {
  /** IANA name of the zone whose months count. */
  readonly timezone: string;
  /** Its periods take the place of calendar months; `undefined`: calendar months count. */
  readonly calendar: Calendar | undefined;
}

export interface PendingReading extends RowReading {
  readonly name: DriverName;
  readonly moment: Moment;
}

/** What a row gives. Its readings count only where no entry gives a reason to reject the row. */
export interface RowTake {
  readonly pending: PendingReading[];
  readonly reasons: Set<string>;
}

/**
 * Rows that a database collapsed are numbered from here on. These numbers order readings of one time; people are not
 * shown them.
 */
export const collapsedFrom = 2 ** 40;

interface EntryContext {
  readonly mapping: Mapping;
  readonly index: number;
  readonly indexOf: (column: string) => number;
  readonly rules: MonthRules;
}

/** The texts of a row that one entry reads. */
interface Taken {
  readonly text: string;
  readonly time: string;
  readonly row: number;
  readonly count: number;
  readonly latest?: LatestReading;
}

export class EntryReader {
  readonly #entry: DriverEntry;
  readonly #index: number;
  readonly #maps: Maps;
  readonly #missing: readonly string[];
  readonly #indexes = new Map<string, number>();
  readonly #time: (fields: Row) => string;
  readonly #value: (fields: Row) => string;
  readonly #readTime: TimeReader;
  readonly #names: NameCache;

  constructor(entry: DriverEntry, { mapping, index, indexOf, rules }: EntryContext) {
    this.#entry = entry;
    this.#index = index;
    this.#maps = mapping.maps;
    this.#missing = mapping.missing;
    // Paths go from the general to the particular, and so does the tree of names: few branches, many leaves.
    const names = [...entry.path, ...(entry.id === undefined ? [] : [entry.id])];
    for (const template of [...names, entry.time.from, entry.value.from]) {
      for (const column of templateColumns(template)) this.#indexes.set(column, indexOf(column));
    }
    const keys = [...new Set(names.flatMap(templateColumns))].map(indexOf);
    this.#names = new NameCache(keys, (fields) => this.#resolve(fields));
    this.#time = this.#renderer(entry.time.from);
    this.#value = this.#renderer(entry.value.from);
    this.#readTime = compileTimeReader(entry.time.format, rules.timezone, rules.calendar);
  }

  /** Nothing is taken where the value is missing. */
  read(fields: Row, row: number, take: RowTake): void {
    const text = this.#value(fields);
    if (this.#missing.includes(trimWhiteSpace(text))) return;
    this.#take(fields, { text, time: this.#time(fields), row, count: 1 }, take);
  }

  readCollapsed(fields: Row, { value, time, count, place = 0, latest }: CollapsedValue, take: RowTake): void {
    const taken = { text: value, time, row: collapsedFrom + place, count };
    const moment = latest === undefined ? undefined : this.#readTime(latest.time);
    // A time that cannot be read cannot be the latest one.
    if (latest === undefined || typeof moment !== 'object') this.#take(fields, taken, take);
    else this.#take(fields, { ...taken, latest: { moment, row: collapsedFrom + latest.place } }, take);
  }

  #take(fields: Row, from: Taken, take: RowTake): void {
    const { text, time, row, count, latest } = from;
    const { pending, reasons } = take;
    const name = this.#names.of(fields);
    if (typeof name === 'string') reasons.add(name);
    const moment = this.#readTime(time);
    if (typeof moment === 'string') reasons.add(time.trim() === '' ? 'time is empty' : moment);
    const value = parseDecimal(text, this.#entry.value.format);
    if (value === undefined) reasons.add(describeBadDecimal(text, this.#entry.value.format));
    if (typeof name === 'string' || typeof moment === 'string' || value === undefined) return;
    const reading = { name, moment, value, text, time, row, entry: this.#index, count, latest };
    if (moment.months === 1) pending.push(reading);
    else this.#spread(reading, time, take);
  }

  /** A value of a quarter or a year becomes one of each of its months, or of one of them. */
  #spread(reading: PendingReading, time: string, { pending, reasons }: RowTake): void {
    const { moment, value } = reading;
    const { spread, value: of } = this.#entry;
    const inMonth = (at: number, share: string): PendingReading => ({
      ...reading,
      moment: { ...moment, month: moment.month + at, months: 1 },
      value: share,
    });
    switch (spread) {
      case undefined:
        reasons.add(`time ${quote(time)} is ${moment.months} months, and the entry does not say how to spread a value`);
        return;
      case 'first':
      case 'last':
        pending.push(inMonth(spread === 'first' ? 0 : moment.months - 1, value));
        return;
      case 'repeat':
        for (let at = 0; at < moment.months; at++) pending.push(inMonth(at, value));
        return;
      case 'divide': {
        const shares = divideDecimal(value, moment.months, of.format.round === undefined ? 'free' : 'fixed');
        for (const [at, share] of shares.entries()) pending.push(inMonth(at, share));
      }
    }
  }

  /** The name, or all reasons why the key gives no name. */
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

  /** Most templates are one bare column: then reading a field costs one index. */
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
