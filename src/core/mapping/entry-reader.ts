/** One entry of `drivers:` for the columns of one part. */
import { orderOfPlace } from '../row-origin.ts';
import { divideDecimal } from '../numbers/arithmetic.ts';
import type { Calendar } from '../time/calendar.ts';
import { type DecimalFormat, describeBadDecimal, parseDecimal } from '../numbers/decimal.ts';
import { type FormattedReader, formattedReader } from '../numbers/formatted.ts';
import { digitsMax, readMantissa } from '../numbers/mantissa.ts';
import { canonical, elsewhere, negated, written } from '../numbers/spelling-bits.ts';
import type { CollapsedValue, DateSystem } from '../model.ts';
import type { BatchColumns } from './batch-columns.ts';
import type { ValueColumn } from './column-batch.ts';
import type { FieldPlace } from './columns.ts';
import type { MappingKernel, ReadRows } from './kernel/kernel.ts';
import { Keyed } from './keyed.ts';
import { MissingTexts } from './missing.ts';
import type { PlainUnit } from './plain-rows.ts';
import { type DriverNames, type LatestReading, type ReadTimes, Readings } from './reading.ts';
import { emptyReason, timeReason } from './reasons.ts';
import type { DriverEntry, Mapping } from '../settings.ts';
import { type Maps, type Template, loneColumn, renderName, renderText, templateColumns } from './template.ts';
import { quote } from '../text.ts';
import { type TimeReader, compileTimeReader } from '../time/time.ts';
import { type ValueTexts, valueTexts } from './value-texts.ts';

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
  readonly readings: Readings;
  readonly reasons = new Set<string>();
  /** Times that were made of one of several months: by the number of it, and by month. */
  readonly spread = new Map<string, number>();

  constructor(readings: Readings) {
    this.readings = readings;
  }
}

export interface EntryContext {
  readonly kernel: MappingKernel;
  readonly mapping: Mapping;
  readonly index: number;
  readonly rules: MonthRules;
  /** Of the part. */
  readonly dateSystem: DateSystem | undefined;
  readonly batch: BatchColumns;
  /** Where names and times are numbered. */
  readonly readings: Readings;
}

/** A text that is no time, and why. */
interface BadTime {
  readonly text: string;
  readonly reason: string;
}

/** What an entry reads in one of the long rows of a row, or in the row itself. */
interface Unit {
  /** The numbers of the names, or why there is none. */
  readonly names: Keyed<string>;
  readonly times: Keyed<BadTime>;
  /** The column of the value, where the template is that column alone. */
  readonly valueColumn: number | undefined;
  readonly texts: ValueTexts;
  values: ValueColumn;
}

/** For a value that is no column: each has to be made. */
const noValues: ValueColumn = { mantissas: new Float64Array(0), scales: new Int8Array(0), text: () => '' };

export class EntryReader {
  readonly #entry: DriverEntry;
  readonly #index: number;
  readonly #maps: Maps;
  readonly #missing: MissingTexts;
  /** A canonical decimal of at most so many decimals is the value, but for its sign; -1: none is. */
  readonly #plainScaleMax: number;
  /** The same of a number that is read as it is written. */
  readonly #writtenScaleMax: number;
  /** See `PlainUnit`. */
  readonly #negated: number;
  /** Of fields that are stored as numbers: marks are for texts. */
  readonly #numberFormat: DecimalFormat;
  readonly #isNoted: boolean;
  /** Whether a time of several months was read. */
  #hasSpans = false;
  readonly #readFormatted: FormattedReader | undefined;
  readonly #readTime: TimeReader;
  readonly #batch: BatchColumns;
  readonly #driverNames: DriverNames;
  readonly #readTimes: ReadTimes;
  readonly #units: Unit[] = [];
  /** By what they depend on: long rows that differ only in their value share them. */
  readonly #names = new Map<string, Keyed<string>>();
  readonly #times = new Map<string, Keyed<BadTime>>();

  /** @param longRows for each the places of the columns; a row that is not unpivoted is one */
  constructor(
    entry: DriverEntry,
    { kernel, mapping, index, rules, dateSystem, batch, readings }: EntryContext,
    longRows: readonly ((column: string) => FieldPlace)[],
  ) {
    this.#entry = entry;
    this.#index = index;
    this.#maps = mapping.maps;
    const { format, isStoredNoted = false } = entry.value;
    this.#isNoted = isStoredNoted;
    this.#writtenScaleMax = format.scale === undefined && format.round === undefined ? digitsMax : -1;
    this.#plainScaleMax = Math.min(this.#writtenScaleMax, format.decimal === '.' ? digitsMax : 0);
    this.#negated = format.negate ? written | negated : 0;
    this.#numberFormat = { ...format, decimal: '.', group: undefined, accounting: false };
    this.#missing = new MissingTexts(mapping.missing, format);
    this.#readFormatted = formattedReader(format);
    this.#readTime = compileTimeReader(entry.time.format, rules.timezone, rules.calendar, dateSystem);
    this.#batch = batch;
    this.#driverNames = readings.names;
    this.#readTimes = readings.times;
    for (const placeOf of longRows) this.#units.push(this.#unit(kernel, placeOf));
  }

  /** To be called before the rows of a batch are read. @param rows those that will be */
  begin(rows: ReadRows): void {
    for (const keyed of this.#names.values()) keyed.read(this.#batch, rows);
    for (const keyed of this.#times.values()) keyed.read(this.#batch, rows);
    for (const unit of this.#units) {
      unit.values = unit.valueColumn === undefined ? noValues : this.#batch.values(unit.valueColumn);
    }
  }

  /** To be called, before `begin`, when names are numbered anew. */
  forgetNames(): void {
    for (const keyed of this.#names.values()) keyed.clear();
  }

  /** To be called, before `begin`, when times are numbered anew. */
  forgetTimes(): void {
    for (const keyed of this.#times.values()) keyed.clear();
  }

  /** What a kernel has to know of the entry to read most rows of the batch; `undefined` where each row needs to be looked at. */
  plainUnit(longRow: number): PlainUnit | undefined {
    const { names, times, valueColumn, values } = this.#units[longRow] as Unit;
    const scaleMax = this.#scaleMax(values);
    if (valueColumn === undefined || scaleMax < 0 || this.#hasSpans || this.#missing.hasNumbers) return undefined;
    if (this.#isNoted) return undefined;
    return {
      names: names.address,
      times: times.address,
      ...this.#batch.valuesAddress(valueColumn),
      scaleMax,
      entry: this.#index,
      negated: this.#negated,
    };
  }

  /** Reads a row of the batch, or one of its long rows. Nothing is taken where the value is missing. */
  read(at: number, longRow: number, row: number, take: RowTake): void {
    const unit = this.#units[longRow] as Unit;
    const { values } = unit;
    const { readings } = take;
    readings.reserve(1);
    const into = readings.count;
    const scale = at < values.scales.length ? (values.scales[at] as number) : inText;
    if (scale >= 0 && scale <= this.#scaleMax(values)) {
      const mantissa = values.mantissas[at] as number;
      const missing = this.#missing;
      if (missing.hasNumbers && missing.mayHave(mantissa, scale) && missing.has(values.text(at))) return;
      const spelling = values.spelled === undefined ? canonical : (values.spelled[at] as number);
      const isNegated = this.#negated !== 0 && mantissa !== 0;
      readings.mantissas[into] = isNegated ? -mantissa : mantissa;
      readings.scales[into] = scale;
      readings.spelled[into] = isNegated ? spelling | this.#negated : spelling;
    } else {
      const text = values === noValues ? unit.texts.text(at) : values.text(at);
      if (this.#missing.has(text)) return;
      if (unit.texts.isNumber(at)) this.#setParsed(text, this.#numberFormat, readings);
      else this.#readValue(text, readings);
    }
    const name = unit.names.numbers[at] as number;
    const time = unit.times.numbers[at] as number;
    if (name < 0 || time < 0 || readings.scales[into] === notRead) {
      this.#reject(unit, at, take);
      return;
    }
    readings.named[into] = name;
    readings.timed[into] = time;
    readings.rows[into] = row;
    readings.entries[into] = this.#index;
    if (this.#isNoted) readings.stored[into] = unit.texts.hasNumber(at);
    if (!this.#hasSpans || this.#readTimes.of(time).moment.months === 1) readings.count++;
    else this.#spread(time, take);
  }

  /** Reads a row that a database collapsed. */
  readCollapsed(at: number, { value, time, count, place = 0, latest }: CollapsedValue, take: RowTake): void {
    const { names } = this.#units[0] as Unit;
    const name = names.numbers[at] as number;
    const moment = this.#readTime(time);
    const { readings, reasons } = take;
    readings.reserve(1);
    const into = readings.count;
    if (name < 0) reasons.add(names.badOf(at));
    if (typeof moment === 'string') reasons.add(timeReason(time, moment));
    this.#readValue(value, readings);
    if (readings.scales[into] === notRead) reasons.add(describeBadDecimal(value, this.#entry.value.format));
    if (name < 0 || typeof moment === 'string' || readings.scales[into] === notRead) return;
    readings.named[into] = name;
    readings.timed[into] = this.#readTimes.add({ text: time, moment });
    readings.rows[into] = orderOfPlace(place);
    readings.collapsed(count, latest && this.#latest(latest));
    readings.entries[into] = this.#index;
    // A database collapses no texts.
    if (this.#isNoted) readings.stored[into] = true;
    if (moment.months === 1) readings.count++;
    else this.#spread(readings.timed[into], take);
  }

  /** A time that cannot be read cannot be the latest one. */
  #latest({ time, place }: NonNullable<CollapsedValue['latest']>): LatestReading | undefined {
    const moment = this.#readTime(time);
    return typeof moment === 'string' ? undefined : { moment, row: orderOfPlace(place) };
  }

  /** All that is wrong with the row, in the order of what was asked for. */
  #reject(unit: Unit, at: number, { reasons, readings }: RowTake): void {
    if ((unit.names.numbers[at] as number) < 0) reasons.add(unit.names.badOf(at));
    if ((unit.times.numbers[at] as number) < 0) {
      const { text, reason } = unit.times.badOf(at);
      reasons.add(timeReason(text, reason));
    }
    if (readings.scales[readings.count] === notRead) {
      const text = unit.texts.text(at);
      reasons.add(describeBadDecimal(text, unit.texts.isNumber(at) ? this.#numberFormat : this.#entry.value.format));
    }
  }

  /** The scale to which what was read of a column is the value, but for its sign. */
  #scaleMax({ spelled, isNumber }: ValueColumn): number {
    return spelled === undefined && isNumber === undefined ? this.#plainScaleMax : this.#writtenScaleMax;
  }

  /** Sets the value of the next reading; a scale of `notRead`, where the text is no number of the format. */
  #readValue(text: string, readings: Readings): void {
    const into = readings.count;
    const spelling = this.#readFormatted?.(text, into, readings) ?? 'unread';
    if (spelling !== 'unread') {
      readings.spelled[into] = spelling === 'canonical' ? canonical : elsewhere;
      if (spelling !== 'canonical') readings.texts[into] = text;
      return;
    }
    this.#setParsed(text, this.#entry.value.format, readings);
  }

  #setParsed(text: string, format: DecimalFormat, readings: Readings): void {
    const value = parseDecimal(text, format);
    if (value === undefined) readings.scales[readings.count] = notRead;
    else setValue(readings, value, text);
  }

  /** Makes readings of months from a value of a quarter or a year: one for each month, or for one of them. */
  #spread(time: number, take: RowTake): void {
    const { spread, value: of } = this.#entry;
    const { readings, reasons } = take;
    const { text: timeText, moment } = this.#readTimes.of(time);
    const from = readings.count;
    const value = readings.value(from);
    const text = readings.text(from);
    const add = (month: number, share: string): void => {
      readings.reserve(1);
      const into = readings.count;
      readings.named[into] = readings.named[from] as number;
      readings.timed[into] = this.#monthOf(time, month, take);
      readings.rows[into] = readings.rows[from] as number;
      if (into > from && readings.counts[from] !== 1) {
        readings.collapsed(readings.counts[from] as number, readings.latest[from]);
      }
      readings.entries[into] = this.#index;
      if (this.#isNoted) readings.stored[into] = readings.stored[from] === true;
      setValue(readings, share, text);
      readings.count++;
    };
    switch (spread) {
      case undefined:
        reasons.add(
          `time ${quote(timeText)} is ${moment.months} months, and the entry does not say how to spread a value`,
        );
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

  /** The number of the time of one of the months of a time. */
  #monthOf(time: number, month: number, { spread }: RowTake): number {
    const key = `${time} ${month}`;
    let number = spread.get(key);
    if (number === undefined) {
      const { text, moment } = this.#readTimes.of(time);
      number = this.#readTimes.add({ text, moment: { ...moment, month: moment.month + month, months: 1 } });
      spread.set(key, number);
    }
    return number;
  }

  #unit(kernel: MappingKernel, placeOf: (column: string) => FieldPlace): Unit {
    const { id, path, time, value } = this.#entry;
    const field = (at: number) => (column: string) => {
      const place = placeOf(column);
      return typeof place === 'number' ? this.#batch.text(place, at) : place.text;
    };
    // Paths go from the general to the particular, and so do the columns of a key.
    const names = [...path, ...(id === undefined ? [] : [id])];
    const column = loneColumn(value.from);
    const valuePlace = column === undefined ? undefined : placeOf(column);
    return {
      names: keyedOnce(this.#names, names, placeOf, (columns) => {
        return new Keyed(kernel, columns, (at) => this.#resolve(field(at)));
      }),
      times: keyedOnce(this.#times, [time.from], placeOf, (columns) => {
        return new Keyed(kernel, columns, (at) => this.#resolveTime(renderText(time.from, field(at), this.#maps)));
      }),
      valueColumn: typeof valuePlace === 'number' ? valuePlace : undefined,
      texts: valueTexts(value, { batch: this.#batch, maps: this.#maps, placeOf }),
      values: noValues,
    };
  }

  #resolveTime(text: string): number | BadTime {
    const moment = this.#readTime(text);
    if (typeof moment === 'string') return { text, reason: moment };
    if (moment.months > 1) this.#hasSpans = true;
    return this.#readTimes.add({ text, moment });
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
  if ((readings.scales[into] as number) < 0) readings.values[into] = value;
  readings.spelled[into] = text === value ? canonical : elsewhere;
  if (text !== value) readings.texts[into] = text;
}

/** One for all long rows in which the templates come out of the same columns and texts. */
function keyedOnce<Bad>(
  known: Map<string, Keyed<Bad>>,
  templates: readonly Template[],
  placeOf: (column: string) => FieldPlace,
  make: (columns: readonly number[]) => Keyed<Bad>,
): Keyed<Bad> {
  const places = [...new Set(templates.flatMap(templateColumns))].map(placeOf);
  const key = JSON.stringify(places);
  const before = known.get(key);
  if (before !== undefined) return before;
  const columns = new Set(places.filter((place) => typeof place === 'number'));
  const keyed = make([...columns]);
  known.set(key, keyed);
  return keyed;
}
