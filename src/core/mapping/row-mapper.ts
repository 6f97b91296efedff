/** Rows to readings: fill down, unpivot, where, then each entry; compiled once for the columns of a part. */
import { AgentError } from '../errors.ts';
import { MemoryArray } from '../memory.ts';
import { orderOfPlace } from '../row-origin.ts';
import type { CollapsedRow, FieldFault, Row } from '../model.ts';
import type { Mapping, Test } from '../settings.ts';
import { trimWhiteSpace } from '../text.ts';
import { BatchColumns } from './batch-columns.ts';
import type { Batch, ColumnNeed } from './column-batch.ts';
import { columnIndex, columnNeeds, columnProblems, placesOf } from './columns.ts';
import { isMatch } from './condition.ts';
import { EntryReader, type MonthRules, RowTake } from './entry-reader.ts';
import { MappingKernel, type ReadRows } from './kernel/kernel.ts';
import { Keyed } from './keyed.ts';
import { PlainRows } from './plain-rows.ts';
import { type ReadingSink, Readings, readingsMax } from './reading.ts';
import { marksOf } from './value-marks.ts';

/** The row number that people are told. For a query: the place among its rows, where the database knows that. */
export function rowShown(batch: Batch, at: number, row: number): number {
  const { places, collapsed } = batch;
  const ofMany = collapsed?.[at]?.entries.find((entry) => entry !== undefined);
  return (places?.[at] ?? ofMany?.place) || row;
}

/** A row as one text, cut off: nobody reads a reject of 10 000 columns. */
export function rowText(fields: Row): string {
  const text = fields.map((field) => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
  return text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
}

/** Is told of rows that gave no reading. */
export interface RowListener {
  /** The row, by its place in the batch, could not be used, for these reasons. */
  reject(at: number, reason: string): void;
}

export class RowMapper {
  readonly #columns: readonly string[];
  readonly #mapping: Mapping;
  readonly #batch: BatchColumns;
  /** What a row is read as: itself, or the long rows that it is unpivoted to. */
  readonly #longRows: readonly LongRow[];
  readonly #entries: readonly EntryReader[];
  readonly #needs: readonly ColumnNeed[];
  /** Those of all long rows. */
  readonly #conditions: ReadonlySet<Keyed<never>>;
  /** Whether the conditions are the same for all long rows of a row. */
  readonly #passTogether: boolean;
  readonly #kernel = new MappingKernel();
  readonly #take: RowTake;
  readonly #plain: PlainRows;
  /** The rows of a batch that are read, where these are not all. */
  readonly #list = new MemoryArray(this.#kernel.memory, Int32Array, 0);

  /**
   * @param part what all of its batches have in common beside the columns
   * @throws AgentError `part.unreadable` where the mapping needs a column that is not there.
   */
  constructor(
    mapping: Mapping,
    columns: readonly string[],
    rules: MonthRules,
    { shared, dateSystem }: Pick<Batch, 'shared' | 'dateSystem'> = {},
  ) {
    const [problem] = columnProblems(mapping, columns, shared);
    if (problem !== undefined) throw new AgentError('part.unreadable', problem.message, { hint: problem.hint });
    this.#columns = columns;
    this.#mapping = mapping;
    // What is the same in every row passes the conditions or does not, once for all.
    const longRows = placesOf(mapping, columns, shared).filter(({ placeOf }) =>
      mapping.where.every(({ column, test }) => {
        const place = placeOf(column);
        return typeof place === 'number' || isMatch(test, place.text);
      }),
    );
    this.#needs = columnNeeds(mapping, columns, longRows);
    const kernel = this.#kernel;
    const readings = new Readings(kernel.memory, marksOf(mapping));
    this.#take = new RowTake(readings);
    const batch = new BatchColumns(
      kernel.memory,
      this.#needs,
      mapping.fillDown.map((column) => columnIndex(columns, column)),
    );
    this.#batch = batch;
    const judges = mapping.where.map(({ test }) => new ColumnJudges(kernel, test, batch));
    this.#longRows = longRows.map(({ label, placeOf }) => {
      const tests = mapping.where.flatMap(({ column, test }, at) => {
        const place = placeOf(column);
        return typeof place === 'number'
          ? [{ column: place, test, judge: (judges[at] as ColumnJudges).of(place) }]
          : [];
      });
      return { label, tests, conditions: tests.map(({ judge }) => judge) };
    });
    this.#conditions = new Set(this.#longRows.flatMap(({ conditions }) => conditions));
    const [first] = this.#longRows;
    this.#passTogether = this.#longRows.every(
      ({ conditions }) =>
        conditions.length === first?.conditions.length &&
        conditions.every((condition, at) => condition === first.conditions[at]),
    );
    const places = longRows.map(({ placeOf }) => placeOf);
    this.#entries = mapping.drivers.map(
      (entry, index) => new EntryReader(entry, { kernel, mapping, index, rules, dateSystem, batch, readings }, places),
    );
    this.#plain = new PlainRows(kernel, readings);
  }

  /** To be called when no batch is read any more: its memory is another's then. */
  [Symbol.dispose](): void {
    this.#kernel.memory[Symbol.dispose]();
  }

  /**
   * Hands over the readings of a batch, row by row: all readings of a row, or none of them.
   * @param rowsBefore how many rows of the part came before the batch
   * @returns how many rows passed `where` or were rejected; rows that a database collapsed count as what they stand for
   */
  read(batch: Batch, rowsBefore: number, sink: ReadingSink, listener: RowListener): number {
    const { fault, collapsed, places } = batch;
    const columns = this.#batch;
    columns.take(batch, fault && ((at, column) => fault(at, column) !== undefined));
    const unreadable = this.#findUnreadable(fault);
    const rows = this.#judge(unreadable);
    this.#begin(rows);
    const { readings, reasons } = this.#take;
    let passed = 0;
    const reject = (at: number, reason: string): void => {
      passed += collapsed?.[at]?.rows ?? 1;
      listener.reject(at, reason);
    };
    let next = 0;
    const mayBePlain = collapsed === undefined && places === undefined && this.#beginPlain();
    for (let index = 0; index < rows.count; index++) {
      if (mayBePlain) {
        const from = index;
        index = this.#plain.read(rows, { from, rowsBefore }, sink);
        passed += index - from;
        if (index >= rows.count) break;
      }
      const at = this.#kernel.rowAt(rows, index);
      if (unreadable !== undefined) next = rejectBefore(unreadable, { from: next, to: at }, reject);
      const before = readings.count;
      const many = collapsed?.[at];
      if (many === undefined) {
        this.#readRow(at, places === undefined ? rowsBefore + at + 1 : orderOfPlace(places[at] as number));
      } else this.#readCollapsed(at, many);
      if (reasons.size > 0) {
        readings.cut(before);
        reject(at, this.#reason());
      } else passed += many?.rows ?? 1;
      if (readings.count >= readingsMax) readings.handOver(sink);
    }
    if (unreadable !== undefined) rejectBefore(unreadable, { from: next, to: columns.count }, reject);
    readings.handOver(sink);
    return passed;
  }

  /** Finds names and times of the rows that are read. */
  #begin(rows: ReadRows): void {
    const { readings, spread } = this.#take;
    const { names, times } = readings;
    if (names.isFull) {
      names.clear();
      for (const entry of this.#entries) entry.forgetNames();
    }
    if (times.isFull) {
      times.clear();
      spread.clear();
      for (const entry of this.#entries) entry.forgetTimes();
    }
    for (const entry of this.#entries) entry.begin(rows);
  }

  /** Whether most rows of the batch may be read by the kernel. */
  #beginPlain(): boolean {
    if (!this.#passTogether) return false;
    const units = this.#longRows.flatMap((_row, longRow) => this.#entries.map((entry) => entry.plainUnit(longRow)));
    return this.#plain.begin(units);
  }

  /** The rows of which nothing can be read, each with the reason or `leftOut`; `undefined` where there are none. */
  #findUnreadable(fault: FieldFault | undefined): ReadonlyMap<number, string> | undefined {
    const columns = this.#batch;
    // What all rows share leaves all of them out.
    if (this.#longRows.length === 0) return undefined;
    if (columns.ragged.size === 0 && fault === undefined && !columns.hasFilled) return undefined;
    const found = new Map<number, string>();
    for (let at = 0; at < columns.count; at++) {
      const reason = this.#unreadable(at, fault);
      if (reason !== undefined) found.set(at, reason);
    }
    return found.size === 0 ? undefined : found;
  }

  /** The rows that pass the conditions of any of their long rows. */
  #judge(unreadable: ReadonlyMap<number, string> | undefined): ReadRows {
    const { count } = this.#batch;
    // Without a long row, none passes.
    const isUnconditional = this.#conditions.size === 0 && this.#longRows.length > 0;
    if (isUnconditional && unreadable === undefined) return { count, list: 0 };
    const list = this.#list;
    if (list.length < count) list.grow(Math.max(count, 2 * list.length));
    let passing = 0;
    for (let at = 0; at < count; at++) if (unreadable?.has(at) !== true) list.view[passing++] = at;
    if (isUnconditional) return { count: passing, list: list.address };
    const readable = { count: passing, list: list.address };
    for (const condition of this.#conditions) condition.read(this.#batch, readable);
    passing = 0;
    for (let index = 0; index < readable.count; index++) {
      const at = list.view[index] as number;
      if (this.#longRows.some((longRow) => isPassing(longRow.conditions, at))) list.view[passing++] = at;
    }
    return { count: passing, list: list.address };
  }

  /** Why nothing of a row can be read, or `leftOut`. */
  #unreadable(at: number, fault: FieldFault | undefined): string | undefined {
    const columns = this.#batch;
    if (columns.ragged.size > 0) {
      const fields = columns.ragged.get(at);
      if (fields !== undefined)
        return `${fields} ${fields === 1 ? 'field' : 'fields'}, expected ${this.#columns.length}`;
    }
    if (fault !== undefined) {
      const faults = this.#faultsOf(at, fault);
      if (faults.length > 0) return faults.join('; ');
    }
    if (columns.hasFilled && columns.isUnfilled(at)) {
      if (this.#longRows.every((longRow) => this.#isLeftOut(at, longRow))) return leftOut;
      return 'the text to fill down is not known: the row that has it could not be read';
    }
    return undefined;
  }

  /** Whether `where` leaves the row out whatever its unknown texts are. */
  #isLeftOut(at: number, { tests }: LongRow): boolean {
    const columns = this.#batch;
    return tests.some(
      ({ column, test }) => !columns.isUnfilled(at, column) && !isMatch(test, columns.text(column, at)),
    );
  }

  /** What is wrong with the fields that this row needs. A row that `where` leaves out for sure needs no field. */
  #faultsOf(at: number, fault: FieldFault): readonly string[] {
    const columns = this.#batch;
    const judged: string[] = [];
    for (const { column, test } of this.#mapping.where) {
      const index = columnIndex(this.#columns, column);
      if (index < 0) continue;
      const text = columns.text(index, at);
      const found = fault(at, index);
      if (found === undefined ? !isMatch(test, text) : isNamed(test, text)) return [];
      if (found !== undefined) judged.push(found);
    }
    if (judged.length > 0) return judged;
    return this.#needs.flatMap(({ isCoded, isValue }, column) => {
      const found = isCoded || isValue ? fault(at, column) : undefined;
      if (found === undefined) return [];
      // A text of `missing` means "no value", even where it is an error.
      const isMissing = !isCoded && this.#mapping.missing.includes(trimWhiteSpace(columns.text(column, at)));
      return isMissing ? [] : [found];
    });
  }

  /** Reads a row that passed `where` as any of its long rows. */
  #readRow(at: number, row: number): void {
    const take = this.#take;
    const { reasons } = take;
    let labelled: string[] | undefined;
    for (let index = 0; index < this.#longRows.length; index++) {
      const { label, conditions } = this.#longRows[index] as LongRow;
      if (conditions.length > 0 && !isPassing(conditions, at)) continue;
      for (let entry = 0; entry < this.#entries.length; entry++) this.#entries[entry]?.read(at, index, row, take);
      if (reasons.size === 0 || label === undefined) continue;
      labelled ??= [];
      for (const reason of reasons) labelled.push(`column "${label}": ${reason}`);
      reasons.clear();
    }
    if (labelled !== undefined) for (const reason of labelled) reasons.add(reason);
  }

  /** The fields of the row are those of the key. */
  #readCollapsed(at: number, { entries }: CollapsedRow): void {
    for (const [index, entry] of this.#entries.entries()) {
      const value = entries[index];
      if (value !== undefined) entry.readCollapsed(at, value, this.#take);
    }
  }

  /** Why the row's readings do not count. */
  #reason(): string {
    const { reasons } = this.#take;
    const reason = [...reasons].join('; ');
    reasons.clear();
    return reason;
  }
}

interface LongRow {
  /** See `PlacedRow`. */
  readonly label: string | undefined;
  readonly tests: readonly { readonly column: number; readonly test: Test }[];
  /** Of each test, by row: 1 where it passes. */
  readonly conditions: readonly Keyed<never>[];
}

/** In place of a reason, for a row that cannot be read and that `where` leaves out. */
const leftOut = '';

/** Judges each text of a column once, by one test. */
class ColumnJudges {
  readonly #kernel: MappingKernel;
  readonly #test: Test;
  readonly #batch: BatchColumns;
  readonly #judges = new Map<number, Keyed<never>>();

  constructor(kernel: MappingKernel, test: Test, batch: BatchColumns) {
    this.#kernel = kernel;
    this.#test = test;
    this.#batch = batch;
  }

  of(column: number): Keyed<never> {
    let judge = this.#judges.get(column);
    if (judge === undefined) {
      judge = new Keyed<never>(this.#kernel, [column], (at) =>
        isMatch(this.#test, this.#batch.text(column, at)) ? 1 : 0,
      );
      this.#judges.set(column, judge);
    }
    return judge;
  }
}

/** Tells of the unreadable rows between two places. @returns where the next ones begin */
function rejectBefore(
  unreadable: ReadonlyMap<number, string>,
  { from, to }: { from: number; to: number },
  reject: (at: number, reason: string) => void,
): number {
  for (let at = from; at < to; at++) {
    const reason = unreadable.get(at);
    if (reason !== undefined && reason !== leftOut) reject(at, reason);
  }
  return to;
}

function isPassing(conditions: readonly Keyed<never>[], at: number): boolean {
  for (const { numbers } of conditions) if (numbers[at] !== 1) return false;
  return true;
}

/** Whether a test leaves out exactly this text: `{ not: "#N/A" }`. */
function isNamed(test: Test, text: string): boolean {
  return test.kind === 'not' && isMatch(test.test, text);
}
