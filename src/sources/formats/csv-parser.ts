/** csv-parse, driven by hand: chunks in, rows out, and a place in the text for every failure. */
import type { Parser } from 'csv-parse';
import type { Row } from '../../core/model.ts';
import { trimWhiteSpace } from '../../core/text.ts';
import { fieldBytesMax, isFieldTooLong, rowBytesMax, rowFieldsMax } from '../limits.ts';

/** Parsed at once. It is far below every limit, so that only the first row of a piece can be beyond one. */
const pieceBytesMax = 64 * 1024;
/**
 * How long a field may become before its end is known. A field of quotes alone has each of them twice in the file, and what stands before
 * it in its piece counts too. A whole field is then measured exactly.
 */
const rawFieldBytesMax = 2 * fieldBytesMax + pieceBytesMax;

export interface CsvFaultPlace {
  /** Where the field begins, or the end of the one before it, in bytes of what was written. */
  readonly offset: number;
  /** Blank and comment lines between that place and the field. */
  readonly linesSkipped: number;
  /** Counted from 0, where it is known. */
  readonly column: number | undefined;
}

export class CsvFault extends Error {
  override readonly name = 'CsvFault';
  readonly kind: 'unclosed' | 'afterQuote' | 'insideField' | 'fieldTooLong' | 'rowTooLong' | 'rowTooWide';
  readonly place: CsvFaultPlace;

  constructor(kind: CsvFault['kind'], place: CsvFaultPlace) {
    super(kind);
    this.kind = kind;
    this.place = place;
  }
}

const faultKinds: Readonly<Record<string, CsvFault['kind']>> = {
  CSV_QUOTE_NOT_CLOSED: 'unclosed',
  CSV_INVALID_CLOSING_QUOTE: 'afterQuote',
  INVALID_OPENING_QUOTE: 'insideField',
};

export interface CsvFormat {
  /** One character. */
  readonly delimiter: string;
  readonly comment?: string | undefined;
}

/** What is public in csv-parse, but not in its types. */
interface Inside extends Parser {
  readonly state: {
    readonly record: Row;
    readonly quoting: boolean;
    /** The field before this place was quoted. */
    readonly wasQuoting: boolean;
  };
  /** Compares a place with the start of a comment, and does nothing else: how many bytes are equal, or 0. */
  readonly api: { __compareBytes: (...bytes: readonly unknown[]) => number };
}

/**
 * Blank lines, also those of white space alone where there are several columns, and comment lines give no rows. Rows
 * are as long as they are. Takes at most 6 % longer than csv-parse alone in array mode (300 000 rows of 5 fields).
 */
export class CsvParser {
  readonly #parser: Inside;
  #rows: Row[] = [];
  #lines: number[] = [];
  #rowEnds: number[] = [];
  /** Where the last row ended, also one of white space. */
  #end = 0;
  #headerStart = 0;
  /** After the last row or skipped line: as it is, and as csv-parse counts it, twice for CRLF in a quoted field. */
  readonly #lastLine = { line: 0, counted: 0, skipped: 0 };
  #failure: Error | undefined;
  #header: Row | undefined;
  #linesSkippedAtRow = 0;
  #bytesWritten = 0;
  /** The last time that a row was completed or a line was skipped, and where the field after that begins. */
  #progress = { bytesWritten: 0, offset: 0, linesSkipped: 0 };

  private constructor(parser: Inside, header: Row | undefined) {
    this.#parser = parser;
    this.#header = header;
    // A Transform hands each result to `push` and its failure to the callback, all before `_transform` comes back.
    parser.push = (row: Row | null): boolean => {
      if (row !== null) this.#take(row);
      return true;
    };
  }

  /** @param header where the rows of that header are what is written */
  static async open({ delimiter, comment }: CsvFormat, header?: Row): Promise<CsvParser> {
    const csvParse = await import('csv-parse');
    const parser = new csvParse.Parser({
      delimiter,
      ...(comment === undefined ? {} : { comment, comment_no_infix: true }),
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
    }) as Inside;
    commentOnlyAtLineStart(parser);
    return new CsvParser(parser, header);
  }

  /** The first row, as soon as it was read; also where a failure keeps it from being given. */
  get header(): Row | undefined {
    return this.#header;
  }

  /** The rows that these bytes complete, in order. @throws CsvFault */
  write(utf8: Buffer): Row[] {
    this.#lines = [];
    this.#rowEnds = [];
    if (utf8.length <= pieceBytesMax) return this.#writePiece(utf8);
    const rows: Row[] = [];
    for (let at = 0; at < utf8.length; at += pieceBytesMax) {
      for (const row of this.#writePiece(utf8.subarray(at, at + pieceBytesMax))) rows.push(row);
    }
    return rows;
  }

  #writePiece(utf8: Buffer): Row[] {
    this.#bytesWritten += utf8.length;
    this.#parser._transform(utf8, 'utf8', this.#onDone);
    return this.#collect();
  }

  /** The lines that the rows of the last call begin in, counted from 1. */
  get lines(): readonly number[] {
    return this.#lines;
  }

  /** Where the rows of the last call end, in bytes of what was written. */
  get rowEnds(): readonly number[] {
    return this.#rowEnds;
  }

  /** Where the first row begins, or a blank line or comment before it. */
  get headerStart(): number {
    return this.#headerStart;
  }

  /** The row that no line end follows. @throws CsvFault */
  end(): Row[] {
    this.#lines = [];
    this.#rowEnds = [];
    this.#parser._flush(this.#onDone);
    return this.#collect();
  }

  readonly #onDone = (error?: Error | null): void => {
    this.#failure = error ?? undefined;
  };

  #take(row: Row): void {
    const line = this.#lineOf(row);
    const start = this.#end;
    this.#end = this.#parser.info.bytes;
    this.#linesSkippedAtRow = this.#linesSkipped;
    if (row.length === 1 && this.#header?.length !== 1 && trimWhiteSpace(row[0] ?? '') === '') return;
    if (this.#header === undefined) {
      this.#header = row;
      this.#headerStart = start;
    }
    this.#rows.push(row);
    this.#lines.push(line);
    this.#rowEnds.push(this.#end);
  }

  /** The line that a row begins in: only fields of a row of several lines are looked at. */
  #lineOf(row: Row): number {
    const last = this.#lastLine;
    const counted = this.#parser.info.lines;
    const skipped = this.#linesSkipped;
    const line = last.line + 1 + skipped - last.skipped;
    const more = counted - last.counted - 1 - (skipped - last.skipped);
    const twice = more > 0 ? row.reduce((total, field) => total + field.split('\r\n').length - 1, 0) : 0;
    last.line = line + more - twice;
    last.counted = counted;
    last.skipped = skipped;
    return line;
  }

  #collect(): Row[] {
    if (this.#failure !== undefined) throw faultOf(this.#failure, this.#place(columnOf(this.#failure)));
    const rows = this.#rows;
    this.#checkLengths(rows[0]);
    this.#rows = [];
    return rows;
  }

  /**
   * csv-parse's own limit is one of a whole row. A piece is far below a field's limit, so that only the first row of a
   * piece can hold one that is longer, and while it lasts no row is completed.
   */
  #checkLengths(first: Row | undefined): void {
    const progress = this.#progress;
    const pendingBytes = this.#bytesWritten - progress.bytesWritten;
    const rowStart = { offset: progress.offset, linesSkipped: 0 };
    const refuseRow = (kind: CsvFault['kind']): never => {
      throw new CsvFault(kind, { ...rowStart, column: undefined });
    };
    if ((first ?? this.#pendingRow).length > rowFieldsMax) refuseRow('rowTooWide');
    // Half, since the field may have begun up to a piece before the last progress was noted.
    if (first !== undefined && pendingBytes > fieldBytesMax / 2) {
      const column = first.findIndex(isFieldTooLong);
      if (column >= 0) throw new CsvFault('fieldTooLong', { ...rowStart, column });
    }
    if (first !== undefined || this.#linesSkipped > progress.linesSkipped) {
      this.#progress = {
        bytesWritten: this.#bytesWritten,
        offset: this.#parser.info.bytes,
        linesSkipped: this.#linesSkipped,
      };
      return;
    }
    if (pendingBytes > rowBytesMax) refuseRow('rowTooLong');
    const fieldBytes = this.#bytesWritten - this.#parser.info.bytes;
    if (Math.min(pendingBytes, fieldBytes) > rawFieldBytesMax) {
      throw new CsvFault('fieldTooLong', this.#place(undefined));
    }
  }

  /** The fields so far of the row whose end is still to come. */
  get #pendingRow(): Row {
    return this.#parser.state.record;
  }

  get #linesSkipped(): number {
    return this.#parser.info.empty_lines + this.#parser.info.comment_lines;
  }

  /** Where the field begins that is being read. */
  #place(column: number | undefined): CsvFaultPlace {
    const linesSkipped = column === 0 ? this.#linesSkipped - this.#linesSkippedAtRow : 0;
    return { offset: this.#parser.info.bytes, linesSkipped, column };
  }
}

/** To csv-parse a comment also ends a quoted field (`"a"#b` would be a#b), and begins behind an empty one. */
function commentOnlyAtLineStart({ api, state }: Inside): void {
  const isComment = api.__compareBytes;
  api.__compareBytes = (...bytes) => (state.quoting || state.wasQuoting ? 0 : isComment(...bytes));
}

function faultOf(failure: Error, place: CsvFaultPlace): Error {
  const kind = faultKinds['code' in failure ? String(failure.code) : ''];
  // Its other failures are of options that are never given here.
  return kind === undefined ? failure : new CsvFault(kind, place);
}

function columnOf(failure: Error): number {
  return 'column' in failure ? Number(failure.column) : 0;
}
