/** Rows to readings: fill down, unpivot, where, then each entry; compiled once for the columns of a part. */
import { AgentError } from '../errors.ts';
import { orderOfPlace } from '../row-origin.ts';
import type { CollapsedRow, FieldFault, Row, SharedTexts } from '../model.ts';
import type { Mapping, Test } from '../settings.ts';
import { trimWhiteSpace } from '../text.ts';
import { BatchColumns } from './batch-columns.ts';
import type { Batch, ColumnNeed } from './column-batch.ts';
import { type FieldPlace, columnIndex, columnNeeds, columnProblems, placesOf } from './columns.ts';
import { isMatch } from './condition.ts';
import { EntryReader, type MonthRules, RowTake } from './entry-reader.ts';
import { Keyed } from './keyed.ts';
import type { ReadingSink, Readings } from './reading.ts';

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
  /** Whether rows of the part can pass the conditions on what all of them share. */
  readonly #mayPass: boolean;
  readonly #take = new RowTake();

  /**
   * @param shared columns of the part beside these, which are the same in every row
   * @throws AgentError `part.unreadable` where the mapping needs a column that is not there.
   */
  constructor(mapping: Mapping, columns: readonly string[], rules: MonthRules, shared: SharedTexts = {}) {
    const [problem] = columnProblems(mapping, columns, shared);
    if (problem !== undefined) throw new AgentError('part.unreadable', problem.message, { hint: problem.hint });
    this.#columns = columns;
    this.#mapping = mapping;
    this.#needs = columnNeeds(mapping, columns);
    const batch = new BatchColumns(
      this.#needs,
      mapping.fillDown.map((column) => columnIndex(columns, column)),
    );
    this.#batch = batch;
    const longRows = placesOf(mapping, columns, shared);
    this.#mayPass = longRows.some(({ placeOf }) =>
      mapping.where.every(({ column, test }) => {
        const place = placeOf(column);
        return typeof place === 'number' || isMatch(test, place.text);
      }),
    );
    this.#longRows = longRows.map(({ label, placeOf }) => ({
      label,
      conditions: mapping.where.map(({ column, test }) => placeCondition(placeOf(column), test, batch)),
    }));
    const places = longRows.map(({ placeOf }) => placeOf);
    const { names } = this.#take.readings;
    this.#entries = mapping.drivers.map(
      (entry, index) => new EntryReader(entry, { mapping, index, rules, batch, names }, places),
    );
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
    for (const { conditions } of this.#longRows) for (const condition of conditions) condition.begin();
    const { readings } = this.#take;
    if (readings.names.isFull) {
      readings.names.clear();
      for (const entry of this.#entries) entry.forgetNames();
    }
    for (const entry of this.#entries) entry.begin();
    let passed = 0;
    for (let at = 0; at < columns.count; at++) {
      const before = readings.count;
      const row = places === undefined ? rowsBefore + at + 1 : orderOfPlace(places[at] as number);
      const reject = this.#unreadable(at, fault);
      const many = collapsed?.[at];
      const passes =
        reject === undefined && (many === undefined ? this.#readRow(at, row) : this.#readCollapsed(at, many));
      const reason = reject ?? this.#reason();
      if (reason !== undefined) {
        readings.count = before;
        listener.reject(at, reason);
      }
      if (passes || reason !== undefined) passed += many?.rows ?? 1;
      if (readings.count >= readingsMax) handOver(readings, sink);
    }
    handOver(readings, sink);
    return passed;
  }

  /** Why nothing of a row can be read. */
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
      return 'the text to fill down is not known: the row that has it could not be read';
    }
    return undefined;
  }

  /** What is wrong with the fields that this row needs. A row that `where` leaves out for sure needs no field. */
  #faultsOf(at: number, fault: FieldFault): readonly string[] {
    const columns = this.#batch;
    const judged: string[] = [];
    if (!this.#mayPass) return [];
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

  /** Whether the row passed `where`: any of its long rows. */
  #readRow(at: number, row: number): boolean {
    const take = this.#take;
    let passes = false;
    let reasons: string[] | undefined;
    for (let index = 0; index < this.#longRows.length; index++) {
      const { label, conditions } = this.#longRows[index] as LongRow;
      if (!isPassing(conditions, at)) continue;
      passes = true;
      for (const entry of this.#entries) entry.read(at, index, row, take);
      if (label === undefined || take.reasons.size === 0) continue;
      reasons ??= [];
      for (const reason of take.reasons) reasons.push(`column "${label}": ${reason}`);
      take.reasons.clear();
    }
    for (const reason of reasons ?? []) take.reasons.add(reason);
    return passes;
  }

  /** The fields of the row are those of the key. */
  #readCollapsed(at: number, { entries }: CollapsedRow): boolean {
    const [only] = this.#longRows;
    const passes = only !== undefined && isPassing(only.conditions, at);
    for (const [index, entry] of this.#entries.entries()) {
      const value = entries[index];
      if (passes && value !== undefined) entry.readCollapsed(at, value, this.#take);
    }
    return passes;
  }

  /** Why the row's readings do not count. */
  #reason(): string | undefined {
    const { reasons } = this.#take;
    if (reasons.size === 0) return undefined;
    const reason = [...reasons].join('; ');
    reasons.clear();
    return reason;
  }
}

/** Readings that wait at most: few enough to stay in the processor's cache. */
const readingsMax = 4096;

function handOver(readings: Readings, sink: ReadingSink): void {
  if (readings.count > 0) sink.take(readings);
  readings.count = 0;
  readings.latest.length = 0;
}

interface LongRow {
  /** See `PlacedRow`. */
  readonly label: string | undefined;
  readonly conditions: readonly PlacedCondition[];
}

/** A condition for one of the long rows. */
interface PlacedCondition {
  /** To be called before the rows of a batch are judged. */
  begin(): void;
  passes(at: number): boolean;
}

/** Judges each text of the column once. */
function placeCondition(place: FieldPlace, test: Test, batch: BatchColumns): PlacedCondition {
  if (typeof place === 'object') {
    const always = isMatch(test, place.text);
    return { begin: () => undefined, passes: () => always };
  }
  const judged = new Keyed([place], (at) => (isMatch(test, batch.text(place, at)) ? 'yes' : 'no'));
  return { begin: () => judged.begin(batch), passes: (at) => judged.of(at) === 'yes' };
}

function isPassing(conditions: readonly PlacedCondition[], at: number): boolean {
  for (const condition of conditions) if (!condition.passes(at)) return false;
  return true;
}

/** Whether a test leaves out exactly this text: `{ not: "#N/A" }`. */
function isNamed(test: Test, text: string): boolean {
  return test.kind === 'not' && isMatch(test.test, text);
}
