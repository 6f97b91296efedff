/** Text whose columns stand at fixed places of a line, as mainframes and banks write it. */
import { z } from 'zod';
import { AgentError } from '../../core/errors.ts';
import type { Row, RowBatch } from '../../core/model.ts';
import { trimWhiteSpace } from '../../core/text.ts';
import type { PartFile } from '../files/part-file.ts';
import type { FormatContent } from '../files/read-part.ts';
import { megabytes, rowBytesMax } from '../limits.ts';
import { LinesAbove } from './above.ts';
import { type FieldProblem, FieldFaults } from './field-faults.ts';
import { LinesOfRows } from './lines-of-rows.ts';
import { Table, neverMatched, tableKeys } from './table.ts';
import { encodingKey } from './encoding-key.ts';
import { isLineEnd, readText } from './text.ts';

/** Rows of one batch. */
const batchRows = 1000;
/** No line has more characters. */
const placeMax = 100_000;

export interface FixedColumn {
  /** Counted from 0. */
  readonly start: number;
  /** Behind its last character. */
  readonly end: number;
}

const place = z
  .string()
  .transform((text, context): FixedColumn => {
    const [, from, to] = /^\s*(\d{1,6})\s*(?:-\s*(\d{1,6}))?\s*$/.exec(text) ?? [];
    const start = Number(from);
    const end = Number(to ?? from);
    if (from !== undefined && start >= 1 && start <= end && end <= placeMax) return { start: start - 1, end };
    context.addIssue({
      code: 'custom',
      message: 'expected the first and the last character of the column, such as 11-18',
      params: { hint: 'characters are counted from 1' },
    });
    return z.NEVER;
  })
  .meta({ examples: ['11-18'] });

export const fixedKeys = {
  encoding: encodingKey,
  columns: z
    .record(z.string(), place)
    .superRefine((columns, context) => {
      const names = new Map<string, string>();
      for (const key of Object.keys(columns)) {
        const name = trimWhiteSpace(key);
        const other = names.get(name);
        names.set(name, key);
        if (name === '') context.addIssue({ code: 'custom', path: [key], message: 'a column without a name' });
        else if (other !== undefined)
          context.addIssue({ code: 'custom', path: [key], message: `"${name}" is the name of another column` });
      }
    })
    .transform((columns) => Object.fromEntries(Object.entries(columns).map(([key, at]) => [trimWhiteSpace(key), at])))
    .refine((columns) => Object.keys(columns).length > 0, 'there is no column')
    .describe(
      'Each column with its first and its last character in a line, counted from 1: `{ account: 1-8, date: 9-16, amount: 17-30 }`. Its text is trimmed; what a line does not reach is empty.',
    ),
  skipRows: tableKeys.skipRows,
  skipUntil: tableKeys.skipUntil,
  footer: tableKeys.footer,
  comment: z.string().min(1).optional().describe('Lines that start with this text are ignored. Default: no line is.'),
};

/** The output of `fixedKeys`. */
export type FixedSettings = z.output<z.ZodObject<typeof fixedKeys>>;

/** @throws AgentError `part.unreadable` */
export async function* readFixed(
  file: PartFile,
  settings: FixedSettings,
): AsyncGenerator<RowBatch, FormatContent, void> {
  const { comment, footer, skipUntil } = settings;
  const named = inLine(settings.columns);
  const table = new Table({ skipRows: 0, footer, columns: named.map(([name]) => name) }, file.name, 'skipped');
  const cut = named.map(([, at]) => at);
  const above = new LinesAbove(settings);
  const lines = new Lines(file.name);
  const known = new LinesOfRows();
  const faults = new FieldFaults();
  let last: number | undefined;
  let rows: Row[] = [];
  let numbers: number[] = [];
  const batch = (): RowBatch | undefined => {
    known.add(rows, numbers);
    const taken = table.take(rows);
    [rows, numbers] = [[], []];
    return taken && { ...taken, lines: known.take(taken.rows), share: file.share, ...faults.batchOf(taken.rows) };
  };
  const add = (line: string, number: number): void => {
    if (trimWhiteSpace(line) === '' || (comment !== undefined && line.startsWith(comment))) return;
    const places = placesOf(line);
    const row = cut.map((column) => trimWhiteSpace(textAt(places, column)));
    const missing = leftOut(places, cut);
    if (missing !== undefined) faults.set(row, missing);
    rows.push(row);
    numbers.push(number + above.linesCut);
  };
  for await (const chunk of readText({ file, encoding: settings.encoding })) {
    last = chunk.at(-1);
    lines.add(above.cut(chunk), add);
    if (rows.length < batchRows) continue;
    const full = batch();
    if (full !== undefined) yield full;
  }
  lines.add(above.end(), add);
  lines.end(add);
  if (skipUntil !== undefined && !above.isCut) throw neverMatched(file.name, 'line', skipUntil);
  if (file.bytes === 0) {
    throw new AgentError('part.unreadable', `${file.name} is empty (0 bytes)`, {
      hint: 'is the export still to be written, or did it fail?',
    });
  }
  const rest = batch() ?? table.end();
  if (rest !== undefined) yield rest;
  return { endsWithLineEnd: isLineEnd(last) };
}

/** In the order of the line, whatever the order of the config: an object has keys such as `2026` before all others. */
function inLine(columns: FixedSettings['columns']): readonly (readonly [name: string, place: FixedColumn])[] {
  return Object.entries(columns).sort(([, a], [, b]) => a.start - b.start || a.end - b.end);
}

/** Places are those of characters, however many units or bytes these have. */
function placesOf(line: string): string | readonly string[] {
  return /[\uD800-\uDFFF]/.test(line) ? [...line] : line;
}

function textAt(places: string | readonly string[], { start, end }: FixedColumn): string {
  return typeof places === 'string' ? places.slice(start, end) : places.slice(start, end).join('');
}

const marksBefore = new Set('-\u2212(');
const marksBehind = new Set('-\u2212).,');

/**
 * Columns whose number stands at their edge, with a sign beside it or a fraction behind it that no column has: without that it would be
 * another number. A sign is free on its other side, so that no other field begins there.
 */
function leftOut(
  places: string | readonly string[],
  cut: readonly FixedColumn[],
): ReadonlyMap<number, FieldProblem> | undefined {
  let found: Map<number, FieldProblem> | undefined;
  const isNamed = (index: number): boolean => cut.some(({ start, end }) => start <= index && index < end);
  const at = (index: number): string => places[index] ?? ' ';
  for (const [column, { start, end }] of cut.entries()) {
    const [before, behind] = [at(start - 1), at(end)];
    // Most columns have a blank or another field there.
    if (!marksBefore.has(before) && !marksBehind.has(behind)) continue;
    const text = textAt(places, { start, end });
    if (!/^\s*[^\p{L}]*\d[^\p{L}]*$/u.test(text)) continue;
    const isFraction = behind === '.' || behind === ',';
    const goesOn = isFraction ? /\d/.test(at(end + 1)) && !isNamed(end + 1) : /\s/.test(at(end + 1));
    const isBehind = /\d$/.test(text) && marksBehind.has(behind) && goesOn && !isNamed(end);
    const isBefore = /^\d/.test(text) && marksBefore.has(before) && /\s/.test(at(start - 2)) && !isNamed(start - 1);
    if (!isBehind && !isBefore) continue;
    const [mark, markAt] = isBehind ? [behind, end] : [before, start - 1];
    found ??= new Map();
    found.set(column, {
      problem: `"${mark}" stands directly ${isBehind ? 'behind' : 'before'} "${trimWhiteSpace(text)}", at place ${markAt + 1}, which no column has`,
      hint: 'give the column all places of the number where this belongs to it, else name it as a column of its own',
    });
  }
  return found;
}

/** Cuts text into lines at LF, CR LF and CR. */
class Lines {
  readonly #name: string;
  #rest = '';
  #count = 0;
  readonly #decoder = new TextDecoder();

  constructor(name: string) {
    this.#name = name;
  }

  add(chunk: Buffer, take: (line: string, number: number) => void): void {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true });
    // A CR at the end may be half of a line end.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > rowBytesMax) {
      throw new AgentError(
        'part.unreadable',
        `${this.#name} line ${this.#count + 1}: it is over ${megabytes(rowBytesMax)}`,
        {
          hint: 'does the file have no line ends?',
        },
      );
    }
    for (const line of lines) take(line, ++this.#count);
  }

  end(take: (line: string, number: number) => void): void {
    const rest = this.#rest.replace(/\r$/, '');
    if (rest !== '') take(rest, ++this.#count);
  }
}
