/** Slips in how a config reads values: nothing is wrong with any row, and the numbers are. */
import type { MonthRules } from '../../core/mapping/entry-reader.ts';
import type { Template } from '../../core/mapping/template.ts';
import { currenciesIn } from '../../core/numbers/decimal.ts';
import type { DriverEntry, Mapping } from '../../core/settings.ts';
import { exchangedFormat } from '../../core/time/day-month.ts';
import { formatMonth } from '../../core/time/month.ts';
import { type TimeReader, compileTimeReader, formatNames } from '../../core/time/time.ts';

/** The texts of a reading, as read. */
interface ReadTexts {
  readonly text: string;
  readonly time: string;
  /** Of the driver. */
  readonly id: string;
  /** Whether the value is of a stored number. */
  readonly isStored: boolean;
}

/** What looks like a slip of one entry. */
export interface SlipFinder {
  note(reading: ReadTexts): void;
  warnings(): readonly string[];
}

export function slipFinders(entry: DriverEntry, months: MonthRules): readonly SlipFinder[] {
  return [
    new MarkFinder(entry),
    new RoundedFinder(entry.value.from.text),
    ...currencyFinders(entry),
    ...exchangeFinders(entry, months),
    ...rivalFinders(entry, months),
    ...fiscalFinders(entry, months),
  ];
}

/** A mapping whose readings say what slips are found by. */
export function notingStored(mapping: Mapping): Mapping {
  const drivers = mapping.drivers.map((entry) => ({ ...entry, value: { ...entry.value, isStoredNoted: true } }));
  return { ...mapping, drivers };
}

/** Finds a column of numbers whose every mark is followed by three digits: it may group, and not divide. */
class MarkFinder implements SlipFinder {
  readonly #entry: DriverEntry;
  #marked = 0;
  #grouped = 0;
  #example = '';

  constructor(entry: DriverEntry) {
    this.#entry = entry;
  }

  note({ text, isStored }: ReadTexts): void {
    // Marks are for texts.
    if (isStored) return;
    const { decimal, group } = this.#entry.value.format;
    const at = group === undefined ? text.indexOf(decimal) : -1;
    if (at < 0) return;
    this.#marked++;
    if (!/^\D*\d{1,3}$/.test(text.slice(0, at)) || !/^\d{3}\D*$/.test(text.slice(at + 1))) return;
    this.#grouped++;
    this.#example = text.trim();
  }

  warnings(): readonly string[] {
    const { value } = this.#entry;
    const { decimal } = value.format;
    if (this.#marked < 2 || this.#grouped < this.#marked) return [];
    return [
      `every "${decimal}" in ${value.from.text} is followed by three digits, as in ${this.#example}: if it groups thousands, declare group: "${decimal}" and another decimal mark`,
    ];
  }
}

/** What a spreadsheet saves of a number with 12 digits or more in a cell of no format: six digits and an exponent. */
const rounded = /(?:^|[^\d.,])\d[.,]\d{5}[Ee]\+(?:1[1-9]|[2-9]\d)(?!\d)/;

/** Finds numbers that a spreadsheet has rounded, as it showed them: also in ids, where several of them become one. */
class RoundedFinder implements SlipFinder {
  readonly #column: string;
  #count = 0;
  #example = '';
  #id: string | undefined;

  constructor(column: string) {
    this.#column = column;
  }

  note({ text, isStored, id }: ReadTexts): void {
    if (rounded.test(id)) this.#id ??= id;
    if (isStored || !rounded.test(text)) return;
    this.#count++;
    this.#example = text.trim();
  }

  warnings(): readonly string[] {
    return [...this.#ofValues(), ...this.#ofIds()];
  }

  #ofIds(): readonly string[] {
    if (this.#id === undefined) return [];
    return [
      `the id ${this.#id} has six digits and an exponent, as Excel saves long numbers: all numbers that begin so are this one driver. Format the column as text or as a number there, and save it again`,
    ];
  }

  #ofValues(): readonly string[] {
    if (this.#count === 0) return [];
    const numbers = this.#count === 1 ? '1 number' : `${this.#count} numbers`;
    return [
      `${this.#column} has ${numbers} of six digits and an exponent, as in ${this.#example}, as Excel saves long numbers: the other digits are gone. Format the column as a number there, and save it again`,
    ];
  }
}

/** None where the path or the id may say the currency: they look into the text of the value. */
function currencyFinders({ id, path, value }: DriverEntry): readonly SlipFinder[] {
  const columnsOf = ({ pieces }: Template): readonly string[] =>
    pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.column]));
  const named = new Set([...path, ...(id === undefined ? [] : [id])].flatMap(columnsOf));
  const isNamed = columnsOf(value.from).some((column) => named.has(column));
  return value.format.accounting && !isNamed ? [new CurrencyFinder(value.from.text)] : [];
}

/** Finds numbers of several currencies under one entry: the sign is dropped, and they count as if they were of one. */
class CurrencyFinder implements SlipFinder {
  readonly #column: string;
  readonly #found = new Set<string>();

  constructor(column: string) {
    this.#column = column;
  }

  note({ text }: ReadTexts): void {
    for (const mark of currenciesIn(text)) if (this.#found.size < shownMax) this.#found.add(mark);
  }

  warnings(): readonly string[] {
    if (this.#found.size < 2) return [];
    const shown = [...this.#found].map((mark) => JSON.stringify(mark)).join(', ');
    return [
      `${this.#column} has numbers of several currencies, ${shown}, which count as if they were of one: keep one of them with where, or name it in the path`,
    ];
  }
}

const shownMax = 5;

/** One for each of the entry's formats; each text is of the first that it fits, as when it is read. */
function exchangeFinders({ time }: DriverEntry, { timezone, calendar }: MonthRules): readonly SlipFinder[] {
  const compile = (format: string): TimeReader =>
    compileTimeReader({ ...time.format, formats: [format] }, timezone, calendar);
  const readers = time.format.formats.map(compile);
  return time.format.formats.flatMap((format, index) => {
    const exchanged = exchangedFormat(format);
    // Where both are declared, no date can decide between them: see `RivalFinder`.
    if (exchanged === undefined || time.format.formats.includes(exchanged)) return [];
    const before = readers.slice(0, index);
    const isOwn = (text: string): boolean => before.every((reader) => typeof reader(text) === 'string');
    const [own, other] = [readers[index] as TimeReader, compile(exchanged)];
    return [new ExchangeFinder({ column: time.from.text, format, exchanged, isOwn, own, other })];
  });
}

interface ExchangedReaders {
  readonly column: string;
  readonly format: string;
  readonly exchanged: string;
  readonly isOwn: (text: string) => boolean;
  readonly own: TimeReader;
  readonly other: TimeReader;
}

/** Finds dates without any day above 12: day and month may have been exchanged, and no row shows it. */
class ExchangeFinder implements SlipFinder {
  readonly #readers: ExchangedReaders;
  #isDecided = false;
  #example: string | undefined;

  constructor(readers: ExchangedReaders) {
    this.#readers = readers;
  }

  note({ time }: ReadTexts): void {
    const { isOwn, own, other } = this.#readers;
    if (this.#isDecided || !isOwn(time)) return;
    const [read, instead] = [own(time), other(time)];
    if (typeof read === 'string') return;
    if (typeof instead === 'string') this.#isDecided = true;
    else if (read.month !== instead.month) {
      this.#example ??= `${time.trim()} is read as ${formatMonth(read.month)} and would be ${formatMonth(instead.month)}`;
    }
  }

  warnings(): readonly string[] {
    const { column, format, exchanged } = this.#readers;
    if (this.#isDecided || this.#example === undefined) return [];
    return [
      `every date of ${column} that fits ${format} fits ${exchanged} too: ${this.#example}; no day above 12 decides it, so ask whoever makes the export`,
    ];
  }
}

/** One where several formats of tokens are declared. */
function rivalFinders({ time }: DriverEntry, { timezone, calendar }: MonthRules): readonly SlipFinder[] {
  const formats = time.format.formats.filter((format) => !formatNames().includes(format));
  const rivals = formats.map((format): Rival => {
    return { format, read: compileTimeReader({ ...time.format, formats: [format] }, timezone, calendar) };
  });
  return rivals.length > 1 ? [new RivalFinder(time.from.text, rivals)] : [];
}

interface Rival {
  readonly format: string;
  readonly read: TimeReader;
}

/** Finds a text that two formats of a list read as different months: the first one has it, whatever was meant. */
class RivalFinder implements SlipFinder {
  readonly #column: string;
  readonly #rivals: readonly Rival[];
  #example: string | undefined;

  constructor(column: string, rivals: readonly Rival[]) {
    this.#column = column;
    this.#rivals = rivals;
  }

  note({ time }: ReadTexts): void {
    if (this.#example !== undefined) return;
    const fitting = this.#rivals.flatMap(({ format, read }) => {
      const moment = read(time);
      return typeof moment === 'string' ? [] : [{ format, month: moment.month }];
    });
    const [first] = fitting;
    const other = fitting.find(({ month }) => month !== first?.month);
    if (first === undefined || other === undefined) return;
    this.#example = `${time.trim()} is read as ${formatMonth(first.month)} by ${first.format} and would be ${formatMonth(other.month)} by ${other.format}`;
  }

  warnings(): readonly string[] {
    if (this.#example === undefined) return [];
    return [
      `${this.#column} has times that fit several of its formats: ${this.#example}; the first one counts, so keep one of them, or tell the rows apart with where`,
    ];
  }
}

/** None where the source has a fiscal year, or where the entry itself writes FY before a year. */
function fiscalFinders({ time }: DriverEntry, { timezone, calendar }: MonthRules): readonly SlipFinder[] {
  const { formats, fiscalYear } = time.format;
  const isWritten = time.from.pieces.some((piece) => typeof piece === 'string' && fiscalMark.test(piece));
  if (fiscalYear !== undefined || isWritten || !formats.some((format) => format.startsWith('fiscal-'))) return [];
  return [new FiscalFinder(compileTimeReader(time.format, timezone, calendar))];
}

const fiscalMark = /FY/i;

/** Finds fiscal years that are read as calendar years, since nobody said when they start. */
class FiscalFinder implements SlipFinder {
  readonly #read: TimeReader;
  #example: string | undefined;

  constructor(read: TimeReader) {
    this.#read = read;
  }

  note({ time }: ReadTexts): void {
    if (this.#example !== undefined || !fiscalMark.test(time)) return;
    const moment = this.#read(time);
    if (typeof moment !== 'string') this.#example = `${time.trim()} is read as ${formatMonth(moment.month)}`;
  }

  warnings(): readonly string[] {
    if (this.#example === undefined) return [];
    return [
      `${this.#example}, since the source has no fiscalYear: say in which month it starts, such as fiscalYear: { startsIn: April }`,
    ];
  }
}
