/** How rows of texts become a header and data rows: what stands above, in and below a table. */
import { z } from 'zod';
import { AgentError } from '../../core/errors.ts';
import type { Row, RowBatch } from '../../core/model.ts';
import { type Pattern, parsePattern } from '../../core/mapping/pattern.ts';
import { isBlankRow, trimWhiteSpace } from '../../core/text.ts';

/** More than any sheet has above its data, and few enough to keep. */
const headerRowsMax = 100;

/** The keys of every kind whose files hold a table. */
export const tableKeys = {
  skipRows: z
    .int()
    .min(0)
    .default(0)
    .describe(
      'How many rows (of a text file: lines) stand above the header. They are cut off before anything is read, whatever is in them.',
    ),
  skipUntil: z
    .string()
    .min(1)
    .transform((source, context) => patternOf(source, context))
    .optional()
    .describe(
      'A regular expression, not anchored, of the first row that counts, such as the header: all above it is cut off. It is tried on a line as written and without its quotes, in a workbook on the cells joined by commas.',
    ),
  headerRows: z
    .int()
    .min(0)
    .max(headerRowsMax)
    .optional()
    .describe(
      'How many rows make the header: their texts are joined by one space, and a cell that is merged over several columns names all of them. `0` calls the columns `1`, `2` and so on. Default: 1, or 0 with `columns`.',
    ),
  columns: z
    .array(z.string().transform(trimWhiteSpace))
    .min(1)
    .superRefine((columns, context) => {
      const twice = findTwice(columns);
      if (twice !== undefined) {
        context.addIssue({ code: 'custom', path: [twice.second], message: 'the name of another column' });
      }
    })
    .optional()
    .describe('The names of the columns, for a file without a header. Several may be empty.'),
  footer: z
    .int()
    .min(0)
    .max(100_000)
    .default(0)
    .describe(
      'How many rows stand below the data, such as totals. Blank lines (also those with nothing but delimiters and white space) and comment lines do not count.',
    ),
};

/** The output of `tableKeys`. */
export type TableSettings = Omit<z.output<z.ZodObject<typeof tableKeys>>, 'columns'> & {
  readonly columns?: readonly string[] | undefined;
};

/** For `superRefine` of every schema that has `tableKeys`. */
export function checkTable(
  { columns, headerRows = 0 }: Pick<TableSettings, 'columns' | 'headerRows'>,
  context: z.RefinementCtx,
): void {
  if (columns === undefined || headerRows === 0) return;
  context.addIssue({
    code: 'custom',
    path: ['columns'],
    message: 'columns are named here and by headerRows',
    params: { hint: 'leave one of the two out, or skip the header: headerRows: 0 and skipRows' },
  });
}

/** For `transform` of a key that is a pattern. @param flags `i` ignores case */
export function patternOf(source: string, context: z.RefinementCtx, flags?: '' | 'i'): Pattern {
  const pattern = parsePattern(source, flags);
  if (!('problem' in pattern)) return pattern;
  const { problem, hint } = pattern;
  context.addIssue({ code: 'custom', message: 'bad regular expression', params: { detail: `: ${problem}`, hint } });
  return z.NEVER;
}

/** One table, as its rows come: one at a time, in order, in batches of any size. */
export class Table {
  readonly #settings: TableSettings;
  readonly #name: string;
  readonly #headerRows: number;
  readonly #checkHeader: (rows: readonly Row[]) => void;
  readonly #footer: Footer;
  readonly #header: Row[] = [];
  #columns: readonly string[] | undefined;
  #rowsToSkip: number;
  #skipUntil: Pattern | undefined;

  /**
   * @param name of the part, for messages
   * @param above `skipped` where the rows above the table were cut off already
   * @param checkHeader throws for rows of a header that can name no column
   */
  constructor(
    settings: TableSettings,
    name: string,
    above: 'skip' | 'skipped' = 'skip',
    checkHeader: (rows: readonly Row[]) => void = () => undefined,
  ) {
    this.#settings = settings;
    this.#name = name;
    this.#checkHeader = checkHeader;
    this.#headerRows = settings.headerRows ?? (settings.columns === undefined ? 1 : 0);
    this.#footer = new Footer(settings.footer);
    this.#rowsToSkip = above === 'skip' ? settings.skipRows : 0;
    this.#skipUntil = above === 'skip' ? settings.skipUntil : undefined;
  }

  /**
   * The data among these rows, without rows that may be the footer; `undefined` where nothing is left. The first batch
   * comes even without rows, to tell the columns: the same array with every batch.
   * @throws AgentError `part.unreadable` for a header that names nothing, or a column twice.
   */
  take(rows: readonly Row[]): RowBatch | undefined {
    const isFirst = this.#columns === undefined;
    const data = isFirst ? this.#start(rows) : rows;
    const columns = this.#columns;
    if (columns === undefined) return undefined;
    const kept = this.#footer.withhold(data);
    return isFirst || kept.length > 0 ? { columns, rows: kept } : undefined;
  }

  /**
   * To be called after the last row: the columns, where no batch told them.
   * @throws AgentError `part.unreadable` where the table has no header, or nothing matched `skipUntil`.
   */
  end(): RowBatch | undefined {
    if (this.#columns !== undefined) return undefined;
    if (this.#skipUntil !== undefined) throw neverMatched(this.#name, 'row', this.#skipUntil);
    if (this.#settings.columns === undefined) throw this.#noHeader();
    this.#columns = this.#settings.columns;
    return { columns: this.#columns, rows: [] };
  }

  /** The data among the rows, once the header is complete. */
  #start(rows: readonly Row[]): readonly Row[] {
    const from = this.#skip(rows);
    const first = rows[from];
    if (first === undefined) return [];
    if (this.#headerRows === 0) {
      this.#columns = this.#settings.columns ?? first.map((_field, at) => String(at + 1));
      return rows.slice(from);
    }
    const wanted = this.#headerRows - this.#header.length;
    this.#header.push(...rows.slice(from, from + wanted));
    if (this.#header.length === this.#headerRows) this.#columns = this.#parseHeader();
    return rows.slice(from + wanted);
  }

  /** Where the first row is that counts. */
  #skip(rows: readonly Row[]): number {
    let at = Math.min(this.#rowsToSkip, rows.length);
    this.#rowsToSkip -= at;
    if (this.#skipUntil === undefined) return at;
    while (at < rows.length && !this.#skipUntil.test((rows[at] as Row).join(','))) at++;
    if (at < rows.length) this.#skipUntil = undefined;
    return at;
  }

  /** The names of the columns: trimmed, and each once; several may be empty. */
  #parseHeader(): readonly string[] {
    this.#checkHeader(this.#header);
    const columns = joinHeader(this.#header);
    const twice = findTwice(columns);
    if (twice !== undefined) {
      const { first, second } = twice;
      throw new AgentError(
        'part.unreadable',
        `${this.#name}: columns ${first + 1} and ${second + 1} are both called ${columns[second]}`,
        { hint: 'give every column of the export its own name' },
      );
    }
    if (columns.every((column) => column === '')) {
      const what = this.#headerRows === 1 ? 'its first row is' : `its first ${this.#headerRows} rows are`;
      throw new AgentError('part.unreadable', `${this.#name} has no header: ${what} empty`, {
        hint: 'the row after skipRows must name the columns',
      });
    }
    return columns;
  }

  #noHeader(): AgentError {
    const { skipRows } = this.#settings;
    const after = skipRows > 0 ? ` after skipRows: ${skipRows}` : '';
    const found = this.#header.length;
    const what = found === 0 ? 'there is no row' : `there are ${found} rows of headerRows: ${this.#headerRows}`;
    return new AgentError('part.unreadable', `${this.#name} has no header: ${what}${after}`, {
      hint: this.#headerRows === 0 ? 'name its columns: columns' : 'the first row must name the columns',
    });
  }
}

/** @param what was looked at: a `row`, or a `line` of text */
export function neverMatched(name: string, what: 'row' | 'line', pattern: Pattern): AgentError {
  return new AgentError('part.unreadable', `${name}: no ${what} matches skipUntil: ${pattern.source}`, {
    hint: 'it must match the first row that counts, such as the header; did the export change?',
  });
}

/** The first name that comes a second time; several may be empty. Places are counted from 0. */
function findTwice(columns: readonly string[]): { readonly first: number; readonly second: number } | undefined {
  const places = new Map<string, number>();
  for (const [second, column] of columns.entries()) {
    const first = places.get(column);
    if (first !== undefined && column !== '') return { first, second };
    places.set(column, second);
  }
  return undefined;
}

/** One name for each column: its texts from the top, joined by one space. */
function joinHeader(header: readonly Row[]): readonly string[] {
  const width = Math.max(...header.map((row) => row.length));
  const rows = header.map((row) => Array.from({ length: width }, (_, at) => trimWhiteSpace(row[at] ?? '')));
  const filled = rows.map((row, at) => (at === rows.length - 1 ? row : fillRight(row, rows.slice(0, at))));
  return Array.from({ length: width }, (_, at) =>
    filled
      .map((row) => row[at])
      .filter((text) => text !== '')
      .join(' '),
  );
}

/** Spreads the text of merged cells, which stands in the first of them, up to where a row above begins another group. */
function fillRight(row: Row, above: readonly Row[]): Row {
  let group = '';
  return row.map((text, at) => {
    if (text !== '' || above.some((upper) => upper[at] !== '')) group = text;
    return group;
  });
}

/** Keeps the last rows back: only the end of the part shows which ones they are. Blank rows are not counted, as in a sheet. */
class Footer {
  readonly #count: number;
  /** From the first one on that may be of the footer. */
  #held: Row[] = [];
  /** How many of them are not blank. */
  #filled = 0;

  constructor(count: number) {
    this.#count = count;
  }

  withhold(rows: readonly Row[]): readonly Row[] {
    if (this.#count === 0) return rows;
    const all = [...this.#held, ...rows];
    for (const row of rows) if (!isBlankRow(row)) this.#filled++;
    let from = 0;
    // Up to the row that the footer begins with, if the part ends here.
    while (this.#filled > this.#count || (this.#filled === this.#count && isBlankRow(all[from] as Row))) {
      if (!isBlankRow(all[from] as Row)) this.#filled--;
      from++;
    }
    this.#held = all.slice(from);
    return all.slice(0, from);
  }
}
