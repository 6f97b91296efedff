/**
 * The books of one source: an export writes the facts in the user's formats, and keeps beside each row what it means.
 */
import type { Mapping } from '../../core/settings.ts';
import { absorb, type Entropy } from '../entropy.ts';
import type { Meaning, Sheet, WrittenRow } from '../world/place.ts';
import { type Fact, type Facts, factKey } from './facts.ts';
import { type Grid, driverOf, timeFields } from './grid.ts';
import { type Decimal, dividedBy, meaningOf, writeNumber } from './numbers.ts';
import { headerFor } from './wide.ts';
import { periodOf, writeTime } from './times.ts';

/** What an export does to its numbers that nobody meant. */
export type Slip = 'thousandfold' | 'sign' | 'moved' | 'zeros' | 'copied' | 'exchanged' | 'new scale' | 'new sign';

export interface Export {
  readonly part: string;
  readonly items: readonly number[];
  readonly months: { readonly first: number; readonly last: number };
  /** Facts that it leaves out, by their keys. */
  readonly without?: ReadonlySet<number>;
  readonly slip?: Slip | undefined;
  /** Whose numbers slip; `undefined`: all. */
  readonly slipping?: readonly number[] | undefined;
}

interface LongFact extends Fact {
  readonly row: ReadonlyMap<string, string>;
  readonly numbers: readonly Decimal[];
  readonly day: number;
}

/** A fact as it is written, and what that means. */
interface WrittenFact extends LongFact {
  /** By column of numbers. */
  readonly texts: ReadonlyMap<string, string>;
  readonly means: readonly Meaning[];
}

export class Books {
  readonly grid: Grid;
  readonly #entropy: Entropy;
  readonly #name: string;
  readonly #facts: Facts;
  /** By part and item: what was written of each month is written again, until it is restated. */
  readonly #written = new Map<string, Map<number, readonly WrittenFact[]>>();

  constructor(name: string, grid: Grid, { facts, entropy }: { readonly facts: Facts; readonly entropy: Entropy }) {
    this.#name = name;
    this.grid = grid;
    this.#facts = facts;
    this.#entropy = entropy;
  }

  restate(item: number, month: number): void {
    this.#facts.restate(item, month);
    this.#forget(item, month);
  }

  /** Other books of the same facts may have changed them since this was written. */
  reopen(): void {
    this.#written.clear();
  }

  /** Something more is booked in a month: another row. A wide table has one cell for all of it. */
  book(item: number, month: number): boolean {
    if (this.grid.isWide || !this.#facts.book(item, month)) return false;
    this.#forget(item, month);
    return true;
  }

  #forget(item: number, month: number): void {
    for (const months of this.#written.values()) months.delete(factKey(item, month));
  }

  #slipped(fact: Fact, column: string, { slip, slipping, items, months }: Export): Decimal {
    const plain = this.#facts.number(fact, column);
    switch (slipping?.includes(fact.item) === false ? undefined : slip) {
      case undefined:
        return plain;
      case 'thousandfold':
        return { ...plain, units: plain.units * 1000n };
      case 'sign':
        return { ...plain, units: -plain.units };
      case 'new scale':
        return fact.month === months.last ? { ...plain, units: plain.units * 1000n } : plain;
      case 'new sign':
        return fact.month === months.last ? { ...plain, units: -plain.units } : plain;
      case 'moved':
        return this.#facts.number({ ...fact, month: fact.month - 1 }, column);
      case 'zeros':
        return { ...plain, units: 0n };
      case 'copied':
        return fact.month === months.last ? this.#facts.number({ ...fact, month: fact.month - 1 }, column) : plain;
      case 'exchanged': {
        const [one, other] = items;
        const swapped = fact.item === one ? other : fact.item === other ? one : undefined;
        return swapped === undefined ? plain : this.#facts.number({ ...fact, item: swapped }, column);
      }
    }
  }

  /** An export as its owner means it, or with a slip in it. */
  sheet(wanted: Export): Sheet {
    const facts = this.#factsOf(wanted);
    const { columns, rows } = this.grid.isWide ? this.#wide(facts) : this.#long(facts);
    return sheetOf(
      columns,
      rows,
      wanted.slip === undefined || wanted.slipping !== undefined ? {} : { slip: wanted.slip },
    );
  }

  #factsOf(wanted: Export): readonly WrittenFact[] {
    const facts: WrittenFact[] = [];
    const known = this.#known(wanted);
    for (let month = wanted.months.first; month <= wanted.months.last; month++) {
      if (month < wanted.months.last && this.#isOnePeriod(month, month + 1)) continue;
      for (const item of wanted.items) {
        const key = factKey(item, month);
        if (wanted.without?.has(key) === true) continue;
        let written = known.get(key);
        if (written === undefined) {
          written = this.#write(item, month, wanted);
          known.set(key, written);
        }
        facts.push(...written);
      }
    }
    return facts;
  }

  /** A quarter or a year has one row: that of its last month so far. */
  #isOnePeriod(month: number, next: number): boolean {
    return this.grid.mapping.drivers.every(
      ({ time: { format } }) => periodOf(month, format).first === periodOf(next, format).first,
    );
  }

  /** What is known of a part's rows. A slip is of one export. */
  #known({ part, slip }: Export): Map<number, readonly WrittenFact[]> {
    if (slip !== undefined) return new Map<number, readonly WrittenFact[]>();
    const key = this.grid.isNamedByPart ? part : '';
    const known = this.#written.get(key) ?? new Map<number, readonly WrittenFact[]>();
    this.#written.set(key, known);
    return known;
  }

  #write(item: number, month: number, wanted: Export): readonly WrittenFact[] {
    const { mapping, items, valueColumns } = this.grid;
    const adds = mapping.drivers.some(({ rule }) => rule !== 'last' && rule !== 'first');
    const bookings = this.#facts.bookings(item, month, adds && !this.grid.isWide ? 2 : 1);
    return Array.from({ length: bookings }, (_, booking): WrittenFact => {
      const day = 5 + 6 * booking;
      const row = new Map([...(items[item] ?? []), ...(timeFields(this.grid, month, day) ?? [])]);
      const numbers = valueColumns.map(({ column }) => this.#slipped({ item, booking, month }, column, wanted));
      const fact = { item, booking, row, numbers, month, day };
      return { ...fact, texts: this.#texts(fact), means: this.#meanings(fact, wanted.part) };
    });
  }

  #long(facts: readonly WrittenFact[]): { columns: readonly string[]; rows: WrittenRow[] } {
    const { keptColumns, mapping } = this.grid;
    const above = new Map<string, string>();
    const rows = facts.map((fact) => {
      const fields = keptColumns.map((column) => {
        const text = fact.texts.get(column) ?? fact.row.get(column) ?? '';
        if (!mapping.fillDown.includes(column)) return text;
        const isSame = above.get(column) === text;
        above.set(column, text);
        return isSame ? '' : text;
      });
      return { fields, means: fact.means };
    });
    return { columns: keptColumns, rows };
  }

  #wide(facts: readonly WrittenFact[]): { columns: readonly string[]; rows: WrittenRow[] } {
    const { keptColumns, mapping, unpivoted, valueColumns } = this.grid;
    const headers = new Set<string>();
    const rows = new Map<string, { kept: string[]; cells: Map<string, string>; means: Meaning[] }>();
    for (const fact of facts) {
      const kept = keptColumns.map((column) => fact.row.get(column) ?? '');
      const key = JSON.stringify([kept, fact.booking]);
      const row = rows.get(key) ?? { kept, cells: new Map<string, string>(), means: [] };
      rows.set(key, row);
      for (const { column } of valueColumns) {
        const header = headerFor(mapping.unpivot!, fact.row, { column, unpivoted });
        if (header === undefined) continue;
        headers.add(header);
        row.cells.set(header, fact.texts.get(column) ?? '');
      }
      row.means.push(...fact.means);
    }
    const [nothing = ''] = mapping.missing;
    const written = [...rows.values()].map(({ kept, cells, means }) => ({
      fields: [...kept, ...[...headers].map((header) => cells.get(header) ?? nothing)],
      means,
    }));
    return { columns: [...keptColumns, ...headers], rows: written };
  }

  #texts({ item, month, numbers }: LongFact): Map<string, string> {
    const { mapping, valueColumns } = this.grid;
    const texts = valueColumns.map(({ column, entry }, at) => {
      const { format } = mapping.drivers[entry]!.value;
      const dress = this.#entropy.between(0, 20, 'dress', this.#name, column, item, month);
      return [column, writeNumber(numbers[at]!, format, dress)] as const;
    });
    return new Map(texts);
  }

  #meanings({ row, numbers, month, day }: LongFact, part: string): readonly Meaning[] {
    const { mapping, valueColumns, style } = this.grid;
    return mapping.drivers.flatMap((entry, index) => {
      const at = valueColumns.findIndex(({ column }) =>
        entry.value.from.pieces.some((piece) => typeof piece === 'object' && piece.column === column),
      );
      const driver = driverOf(entry, row, { maps: mapping.maps, part });
      if (driver === undefined || at < 0) return [];
      // Formats that do not show the day leave two bookings at one time.
      const shown = (on: number): string | undefined => writeTime({ month, day: on }, entry.time.format, style);
      const at0 = shown(day) === shown(day + 1) ? 0 : day;
      return spread(entry, month, meaningOf(numbers[at]!, entry.value.format)).map((one) => ({
        driver,
        at: at0,
        entry: index,
        ...one,
      }));
    });
  }
}

/** The months that get a value, and what each of them gets. */
function spread(
  { time, value, spread: how }: Mapping['drivers'][number],
  month: number,
  whole: Decimal,
): readonly (Decimal & { readonly month: number })[] {
  const { first, months } = periodOf(month, time.format);
  if (months === 1) return [{ month, ...whole }];
  if (how === 'first') return [{ month: first, ...whole }];
  if (how === 'last') return [{ month: first + months - 1, ...whole }];
  const shares = how === 'divide' ? dividedBy(whole, months, value.format) : Array<Decimal>(months).fill(whole);
  return shares.map((share, at) => ({ month: first + at, ...share }));
}

/** @param more what was done to it on the way */
export function sheetOf(
  columns: readonly string[],
  rows: readonly WrittenRow[],
  more: Partial<Omit<Sheet, 'columns' | 'rows' | 'hash'>> = {},
): Sheet {
  const endsWithLineEnd = more.endsWithLineEnd ?? true;
  let hash = absorb(1, `${columns.join('\t')} ${endsWithLineEnd} ${more.fault ?? ''}`);
  let other = 7;
  for (const { fields } of rows) {
    for (const field of fields) {
      hash = absorb(hash, field);
      other = absorb(other ^ hash, field);
    }
  }
  return { columns, rows, endsWithLineEnd, ...more, hash: `${hash.toString(16)}${other.toString(16)}` };
}
