/** Rows to readings: fill down, unpivot, where, then each entry; compiled once for the columns of a part. */
import { type NeededColumn, columnProblems, neededColumns } from './columns.ts';
import { EntryReader, type MonthRules, type RowTake, collapsedFrom } from './entry-reader.ts';
import { AgentError } from '../errors.ts';
import type { CollapsedRow, Row, RowBatch } from '../model.ts';
import type { ReadingSink } from './reading.ts';
import type { Condition, Mapping, Test } from '../settings.ts';
import { trimWhiteSpace } from '../text.ts';
import { type Unpivoted, longRow, unpivot } from './unpivot.ts';

/** What became of a row: `undefined` where its readings were handed over, `filtered` by `where`, or the reasons of its reject. */
export type RowResult = undefined | 'filtered' | { readonly reject: string };

/** The row number that people are told. Of a query it is the place among its rows, where the database knows that. */
export function rowShown({ places, collapsed }: RowBatch, at: number, row: number): number {
  const ofMany = collapsed?.[at]?.entries.find((entry) => entry !== undefined);
  return (places?.[at] ?? ofMany?.place) || row;
}

export class RowMapper {
  readonly #width: number;
  /** `above`: the last text that was not empty; `undefined` below a row that could not be read. */
  readonly #fillDown: readonly { readonly index: number; above: string | undefined }[];
  readonly #unpivoted: Unpivoted | undefined;
  readonly #conditions: readonly { readonly index: number; readonly test: Test }[];
  readonly #entries: readonly EntryReader[];
  /** Columns whose fields the mapping uses. */
  readonly #needed: readonly NeededColumn[];
  readonly #missing: readonly string[];
  // Empty between rows: a set and a list for each row would be a third of its garbage.
  readonly #take: RowTake = { pending: [], reasons: new Set() };

  /** @throws AgentError `part.unreadable` where the mapping needs a column that is not there. */
  constructor(mapping: Mapping, columns: readonly string[], rules: MonthRules) {
    this.#width = columns.length;
    const [problem] = columnProblems(mapping, columns);
    if (problem !== undefined) throw new AgentError('part.unreadable', problem.message, { hint: problem.hint });
    this.#unpivoted = mapping.unpivot && unpivot(mapping.unpivot, columns);
    const names = this.#unpivoted?.names ?? columns;
    const indexOf = (column: string): number => names.indexOf(column);
    this.#fillDown = mapping.fillDown.map((column) => ({ index: columns.indexOf(column), above: '' }));
    this.#conditions = mapping.where.map(({ column, test }: Condition) => ({ index: indexOf(column), test }));
    this.#needed = neededColumns(mapping, columns, this.#unpivoted);
    this.#missing = mapping.missing;
    this.#entries = mapping.drivers.map((entry, index) => new EntryReader(entry, { mapping, index, indexOf, rules }));
  }

  /** Reads the row at an index of a batch, as `read` does: also one with faults, or one that a database collapsed. */
  readFrom(batch: RowBatch, at: number, row: number, sink: ReadingSink): RowResult {
    const { rows, collapsed, fault, places } = batch;
    const fields = rows[at] as Row;
    const many = collapsed?.[at];
    if (many !== undefined) return this.#readCollapsed(fields, many, sink);
    return this.read(
      fields,
      places === undefined ? row : collapsedFrom + (places[at] as number),
      sink,
      fault && ((column) => fault(at, column)),
    );
  }

  /**
   * Hands over all readings of a row, or none of them. `row` is counted from 1.
   * @param fault what is wrong with a field, by column
   */
  read(fields: Row, row: number, sink: ReadingSink, fault?: (column: number) => string | undefined): RowResult {
    if (fields.length !== this.#width) {
      // Rows below it must not take what stood above it.
      for (const column of this.#fillDown) column.above = undefined;
      return { reject: `${fields.length} ${fields.length === 1 ? 'field' : 'fields'}, expected ${this.#width}` };
    }
    const faults = fault === undefined ? [] : this.#faultsOf(fields, fault);
    if (faults.length > 0) return { reject: faults.join('; ') };
    const filled = this.#fillDown.length === 0 ? fields : this.#fill(fields);
    if (filled === undefined)
      return { reject: 'the text to fill down is not known: the row that has it could not be read' };
    const passes = this.#unpivoted === undefined ? this.#readWide(filled, row) : this.#readLong(filled, row);
    return this.#handOver(passes, sink);
  }

  /** `fields` are those of the key. */
  #readCollapsed(fields: Row, { entries }: CollapsedRow, sink: ReadingSink): RowResult {
    const passes = this.#passes(fields);
    for (const [at, entry] of this.#entries.entries()) {
      const value = entries[at];
      if (passes && value !== undefined) entry.readCollapsed(fields, value, this.#take);
    }
    return this.#handOver(passes, sink);
  }

  #handOver(passes: boolean, sink: ReadingSink): RowResult {
    const { pending, reasons } = this.#take;
    if (reasons.size > 0) {
      const reject = [...reasons].join('; ');
      reasons.clear();
      pending.length = 0;
      return { reject };
    }
    if (!passes) return 'filtered';
    for (const reading of pending) sink.add(reading.name, reading.moment, reading);
    pending.length = 0;
    return undefined;
  }

  /** Empty fields of these columns take the text of the row above, whatever `where` makes of either row. */
  #fill(fields: Row): Row | undefined {
    const filled = [...fields];
    let isKnown = true;
    for (const column of this.#fillDown) {
      const text = fields[column.index] as string;
      if (trimWhiteSpace(text) !== '') column.above = text;
      else if (column.above === undefined) isKnown = false;
      else filled[column.index] = column.above;
    }
    return isKnown ? filled : undefined;
  }

  /** What is wrong with the fields that this row needs. A row that `where` leaves out for sure needs no field. */
  #faultsOf(fields: Row, fault: (column: number) => string | undefined): readonly string[] {
    for (const column of this.#fillDown) if (fault(column.index) !== undefined) column.above = undefined;
    const judged: string[] = [];
    for (const { index, test } of this.#conditions) {
      if (index >= this.#width) continue;
      const text = fields[index] as string;
      const found = fault(index);
      if (found === undefined ? !isMatch(test, text) : isNamed(test, text)) return [];
      if (found !== undefined) judged.push(found);
    }
    if (judged.length > 0) return judged;
    return this.#needed.flatMap(({ column, isValue }) => {
      const found = fault(column);
      // A text that is declared to mean "no value" means that, even where it is an error.
      const isMissing = isValue && this.#missing.includes(trimWhiteSpace(fields[column] as string));
      return found === undefined || isMissing ? [] : [found];
    });
  }

  #readWide(fields: Row, row: number): boolean {
    if (!this.#passes(fields)) return false;
    for (const entry of this.#entries) entry.read(fields, row, this.#take);
    return true;
  }

  #readLong(fields: Row, row: number): boolean {
    const { reasons } = this.#take;
    let passes = false;
    const found: string[] = [];
    for (const long of (this.#unpivoted as Unpivoted).rows) {
      if (this.#readWide(longRow(fields, long), row)) passes = true;
      if (reasons.size === 0) continue;
      for (const reason of reasons) found.push(`column "${long.label}": ${reason}`);
      reasons.clear();
    }
    for (const reason of found) reasons.add(reason);
    return passes;
  }

  #passes(fields: Row): boolean {
    for (const { index, test } of this.#conditions) {
      if (!isMatch(test, fields[index] as string)) return false;
    }
    return true;
  }
}

/** Whether a test leaves out exactly this text: `{ not: "#N/A" }`. */
function isNamed(test: Test, text: string): boolean {
  return test.kind === 'not' && isMatch(test.test, text);
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
