/** One entry of `drivers:` for the columns of one part. */
import { orderOfPlace } from '../row-origin.ts';
import { divideDecimal } from '../numbers/arithmetic.ts';
import type { Calendar } from '../time/calendar.ts';
import { type DecimalFormat, describeBadDecimal, parseDecimal } from '../numbers/decimal.ts';
import { type FormattedReader, formattedReader } from '../numbers/formatted.ts';
import { type Mantissas, readMantissa } from '../numbers/mantissa.ts';
import type { CollapsedValue, Moment } from '../model.ts';
import type { BatchColumns } from './batch-columns.ts';
import type { ValueColumn } from './column-batch.ts';
import type { FieldPlace } from './columns.ts';
import { Keyed } from './keyed.ts';
import { type DriverNames, type LatestReading, type ReadTime, Readings } from './reading.ts';
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

/** A value that does not fit an integer, see `Readings`. */
const inText = -1;
/** A text that is no number of its format. */
const notRead = -2;

/** What rows give. The readings of a row count only where no entry gives a reason to reject it. */
export class RowTake {
  readonly readings = new Readings();
  readonly reasons = new Set<string>();
}

export interface EntryContext {
  readonly mapping: Mapping;
  readonly index: number;
  readonly rules: MonthRules;
  readonly batch: BatchColumns;
  /** Where names are numbered. */
  readonly names: DriverNames;
}

/** A time, or why it is none. */
interface TriedTime {
  readonly text: string;
  readonly moment: Moment | string;
}

/** What an entry reads in one of the long rows of a row, or in the row itself. */
interface Unit {
  /** The number of the name, or why there is none. */
  readonly names: Keyed<number | string>;
  readonly times: Keyed<TriedTime>;
  /** The column of the value, where the template is that column alone. */
  readonly valueColumn: number | undefined;
  readonly valueText: (at: number) => string;
  values: ValueColumn | undefined;
}

export class EntryReader {
  readonly #entry: DriverEntry;
  readonly #index: number;
  readonly #maps: Maps;
  readonly #missing: readonly string[];
  /** A canonical decimal of at most so many decimals is its own value; -1: none is. */
  readonly #plainScaleMax: number;
  /** Missing values that are canonical decimals. */
  readonly #missingValues: Mantissas;
  readonly #readFormatted: FormattedReader | undefined;
  readonly #readTime: TimeReader;
  readonly #batch: BatchColumns;
  readonly #driverNames: DriverNames;
  readonly #units: Unit[] = [];
  /** By what they depend on: long rows that differ only in their value share them. */
  readonly #names = new Map<string, Unit['names']>();
  readonly #times = new Map<string, Unit['times']>();

  /** @param longRows for each the places of the columns; a row that is not unpivoted is one */
  constructor(
    entry: DriverEntry,
    { mapping, index, rules, batch, names }: EntryContext,
    longRows: readonly ((column: string) => FieldPlace)[],
  ) {
    this.#entry = entry;
    this.#index = index;
    this.#maps = mapping.maps;
    this.#missing = mapping.missing;
    this.#plainScaleMax = plainScaleMax(entry.value.format);
    this.#missingValues = mantissasOf(mapping.missing);
    this.#readFormatted = formattedReader(entry.value.format);
    this.#readTime = compileTimeReader(entry.time.format, rules.timezone, rules.calendar);
    this.#batch = batch;
    this.#driverNames = names;
    for (const placeOf of longRows) this.#units.push(this.#unit(placeOf));
  }

  /** To be called before the rows of a batch are read. */
  begin(): void {
    for (const keyed of [...this.#names.values(), ...this.#times.values()]) keyed.begin(this.#batch);
    for (const unit of this.#units) {
      unit.values = unit.valueColumn === undefined ? undefined : this.#batch.values(unit.valueColumn);
    }
  }

  /** To be called, before `begin`, when names are numbered anew. */
  forgetNames(): void {
    for (const keyed of this.#names.values()) keyed.clear();
  }

  /** Reads a row of the batch, or one of its long rows. Nothing is taken where the value is missing. */
  read(at: number, longRow: number, row: number, take: RowTake): void {
    const unit = this.#units[longRow] as Unit;
    const { values } = unit;
    const { readings } = take;
    readings.reserve();
    const into = readings.count;
    const scale = values === undefined ? inText : (values.scales[at] as number);
    if (scale >= 0 && scale <= this.#plainScaleMax) {
      const mantissa = (values as ValueColumn).mantissas[at] as number;
      if (this.#missingValues.scales.length > 0 && this.#isMissing(mantissa, scale)) return;
      readings.mantissas[into] = mantissa;
      readings.scales[into] = scale;
      readings.values[into] = '';
      readings.texts[into] = '';
    } else {
      const text = values === undefined ? unit.valueText(at) : values.text(at);
      if (this.#missing.includes(trimWhiteSpace(text))) return;
      this.#readValue(text, readings);
    }
    const name = unit.names.of(at);
    const time = unit.times.of(at);
    if (typeof name === 'string' || typeof time.moment === 'string' || readings.scales[into] === notRead) {
      this.#reject(unit, at, take);
      return;
    }
    readings.named[into] = name;
    readings.times[into] = time as ReadTime;
    readings.rows[into] = row;
    readings.counts[into] = 1;
    if (readings.latest.length > into) readings.latest[into] = undefined;
    readings.entries[into] = this.#index;
    if (time.moment.months === 1) readings.count++;
    else this.#spread(time as ReadTime, take);
  }

  /** Reads a row that a database collapsed. */
  readCollapsed(at: number, { value, time, count, place = 0, latest }: CollapsedValue, take: RowTake): void {
    const name = (this.#units[0] as Unit).names.of(at);
    const moment = this.#readTime(time);
    const { readings, reasons } = take;
    readings.reserve();
    const into = readings.count;
    if (typeof name === 'string') reasons.add(name);
    if (typeof moment === 'string') reasons.add(timeReason(time, moment));
    this.#readValue(value, readings);
    if (readings.scales[into] === notRead) reasons.add(describeBadDecimal(value, this.#entry.value.format));
    if (typeof name === 'string' || typeof moment === 'string' || readings.scales[into] === notRead) return;
    const read = { text: time, moment };
    readings.named[into] = name;
    readings.times[into] = read;
    readings.rows[into] = orderOfPlace(place);
    readings.counts[into] = count;
    readings.latest[into] = latest && this.#latest(latest);
    readings.entries[into] = this.#index;
    if (moment.months === 1) readings.count++;
    else this.#spread(read, take);
  }

  /** A time that cannot be read cannot be the latest one. */
  #latest({ time, place }: NonNullable<CollapsedValue['latest']>): LatestReading | undefined {
    const moment = this.#readTime(time);
    return typeof moment === 'string' ? undefined : { moment, row: orderOfPlace(place) };
  }

  /** All that is wrong with the row, in the order of what was asked for. */
  #reject(unit: Unit, at: number, { reasons, readings }: RowTake): void {
    const name = unit.names.of(at);
    const { moment, text } = unit.times.of(at);
    if (typeof name === 'string') reasons.add(name);
    if (typeof moment === 'string') reasons.add(timeReason(text, moment));
    if (readings.scales[readings.count] === notRead) {
      reasons.add(describeBadDecimal(unit.valueText(at), this.#entry.value.format));
    }
  }

  #isMissing(mantissa: number, scale: number): boolean {
    const { mantissas, scales } = this.#missingValues;
    return mantissas.some((one, at) => one === mantissa && scales[at] === scale);
  }

  /** Sets the value of the next reading; a scale of `notRead`, where the text is no number of the format. */
  #readValue(text: string, readings: Readings): void {
    const into = readings.count;
    const spelling = this.#readFormatted?.(text, into, readings) ?? 'unread';
    if (spelling !== 'unread') {
      readings.values[into] = '';
      readings.texts[into] = spelling === 'canonical' ? '' : text;
      return;
    }
    const value = parseDecimal(text, this.#entry.value.format);
    if (value === undefined) readings.scales[readings.count] = notRead;
    else setValue(readings, value, text);
  }

  /** Makes readings of months from a value of a quarter or a year: one for each month, or for one of them. */
  #spread({ text: time, moment }: ReadTime, { readings, reasons }: RowTake): void {
    const { spread, value: of } = this.#entry;
    const from = readings.count;
    const value = readings.value(from);
    const text = readings.text(from);
    const add = (month: number, share: string): void => {
      readings.reserve();
      const into = readings.count;
      readings.named[into] = readings.named[from] as number;
      readings.times[into] = { text: time, moment: { ...moment, month: moment.month + month, months: 1 } };
      readings.rows[into] = readings.rows[from] as number;
      readings.counts[into] = readings.counts[from] as number;
      if (readings.latest.length > from) readings.latest[into] = readings.latest[from];
      readings.entries[into] = this.#index;
      setValue(readings, share, text);
      readings.count++;
    };
    switch (spread) {
      case undefined:
        reasons.add(`time ${quote(time)} is ${moment.months} months, and the entry does not say how to spread a value`);
        return;
      case 'first':
      case 'last':
        add(spread === 'first' ? 0 : moment.months - 1, value);
        return;
      case 'repeat':
        for (let at = 0; at < moment.months; at++) add(at, value);
        return;
      case 'divide': {
        const shares = divideDecimal(value, moment.months, of.format.round === undefined ? 'free' : 'fixed');
        for (const [at, share] of shares.entries()) add(at, share);
      }
    }
  }

  #unit(placeOf: (column: string) => FieldPlace): Unit {
    const { id, path, time, value } = this.#entry;
    const field = (at: number) => (column: string) => {
      const place = placeOf(column);
      return typeof place === 'number' ? this.#batch.text(place, at) : place.text;
    };
    // Paths go from the general to the particular, and so do the columns of a key.
    const names = [...path, ...(id === undefined ? [] : [id])];
    const [only] = value.from.pieces;
    const isColumn = value.from.pieces.length === 1 && typeof only === 'object' && only.filters.length === 0;
    const valuePlace = isColumn ? placeOf(only.column) : undefined;
    return {
      names: keyedOnce(this.#names, names, placeOf, (at) => this.#resolve(field(at))),
      times: keyedOnce(this.#times, [time.from], placeOf, (at) => {
        const text = renderText(time.from, field(at), this.#maps);
        return { text, moment: this.#readTime(text) };
      }),
      valueColumn: typeof valuePlace === 'number' ? valuePlace : undefined,
      valueText: (at) => renderText(value.from, field(at), this.#maps),
      values: undefined,
    };
  }

  /** The number of the name, or all reasons why the key gives no name. */
  #resolve(field: (column: string) => string): number | string {
    const reasons = new Set<string>();
    const render = (where: 'id' | 'path', template: Template): string => {
      const name = renderName(template, field, this.#maps);
      if (typeof name === 'string') return name;
      reasons.add(emptyReason(where, name.column, field(name.column)));
      return '';
    };
    const path = this.#entry.path.map((template) => render('path', template));
    const id = this.#entry.id === undefined ? path.join('/') : render('id', this.#entry.id);
    if (reasons.size > 0) return [...reasons].join('; ');
    return this.#driverNames.add({ id, path, rule: this.#entry.rule });
  }
}

/** Sets the value of the next reading. @param text as read */
function setValue(readings: Readings, value: string, text: string): void {
  const into = readings.count;
  readMantissa(value, into, readings);
  readings.values[into] = (readings.scales[into] as number) < 0 ? value : '';
  readings.texts[into] = text === value ? '' : text;
}

/** One for all long rows in which the templates come out of the same columns and texts. */
function keyedOnce<T>(
  known: Map<string, Keyed<T>>,
  templates: readonly Template[],
  placeOf: (column: string) => FieldPlace,
  resolve: (at: number) => T,
): Keyed<T> {
  const places = [...new Set(templates.flatMap(templateColumns))].map(placeOf);
  const key = JSON.stringify(places);
  const before = known.get(key);
  if (before !== undefined) return before;
  const columns = new Set(places.filter((place) => typeof place === 'number'));
  const keyed = new Keyed([...columns], resolve);
  known.set(key, keyed);
  return keyed;
}

/** A canonical decimal is its own value, unless it is scaled, negated or rounded, or has a point where that is no mark. */
function plainScaleMax({ decimal, scale, negate, round }: DecimalFormat): number {
  if (scale !== undefined || negate || round !== undefined) return -1;
  return decimal === '.' ? Infinity : 0;
}

function mantissasOf(texts: readonly string[]): Mantissas {
  const all = { mantissas: new Float64Array(texts.length), scales: new Int8Array(texts.length) };
  for (const [at, text] of texts.entries()) readMantissa(text, at, all);
  const fitting = texts.flatMap((_text, at) => (all.scales[at] === inText ? [] : [at]));
  return {
    mantissas: Float64Array.from(fitting, (at) => all.mantissas[at] as number),
    scales: Int8Array.from(fitting, (at) => all.scales[at] as number),
  };
}

function timeReason(text: string, reason: string): string {
  return text.trim() === '' ? 'time is empty' : reason;
}

function emptyReason(where: 'id' | 'path', column: string, text: string): string {
  if (text.trim() === '') return `${where}: column "${column}" is empty`;
  return `${where}: "${text.slice(0, 40)}" of column "${column}" comes out empty`;
}
