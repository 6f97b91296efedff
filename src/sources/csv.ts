/** `type: csv`: files of delimited text. */
import { z } from 'zod';
import { AgentError } from '../core/errors.ts';
import type { Row, RowBatch } from '../core/model.ts';
import type { Source } from '../core/ports.ts';
import { trimWhiteSpace } from '../core/text.ts';
import { CsvFault, CsvParser } from './formats/csv-parser.ts';
import type { PartFile } from './files/part-file.ts';
import { type FormatContent, fileKeys, hashPart, listParts, placeOf, readPart } from './files/place.ts';
import { defineKind } from './kind.ts';
import type { SourceContext } from './kind.ts';
import { isEncoding, lineAt, readText } from './formats/text.ts';
import { watchGlobs } from './files/watch.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

const schema = z.strictObject({
  ...fileKeys,
  encoding: z
    .string()
    .refine(isEncoding, 'unknown encoding; utf-8, windows-1252, utf-16le and iso-8859-15 are some that are known')
    .default('utf-8')
    .describe(
      'Any WHATWG label, or a DOS code page such as `cp850`. A byte-order mark always wins. A byte that is invalid in it is an error, never replaced.',
    ),
  delimiter: z
    .string()
    .transform((text) => (text === '\\t' ? '\t' : text))
    .refine(
      (text) => [...text].length === 1 && !/["\r\n\0]/.test(text),
      'must be one character, and no quote or line end',
    )
    .prefault(',')
    .describe(
      'The one character between fields; `"\\t"` is a tab. The quote is always `"`, doubled inside a quoted field.',
    ),
  skipRows: z
    .int()
    .min(0)
    .default(0)
    .describe('How many lines stand above the header. They are cut off before anything is read, whatever is in them.'),
  footer: z
    .int()
    .min(0)
    .max(100_000)
    .default(0)
    .describe('How many rows stand below the data, such as totals. Blank and comment lines do not count.'),
  comment: z
    .string()
    .min(1)
    .refine((text) => !/["\r\n\0]/.test(text), 'must hold no quote and no line end')
    .optional()
    .describe('A line that starts with this text is none. Default: there are no such lines.'),
});

type CsvSettings = z.output<typeof schema>;

export const csv = defineKind(schema, (settings: CsvSettings, context: SourceContext): Source => {
  const place = placeOf(settings, context);
  return {
    newestOnly: place.newestOnly,
    parts: (signal) => listParts(place, signal),
    rows: (part, signal) => readPart(place, part, signal, (file) => readCsv(file, settings)),
    hash: (part, signal) => hashPart(place, part, signal),
    watch: (changed) => watchGlobs(place.globs, changed),
  };
});

async function* readCsv(file: PartFile, settings: CsvSettings): AsyncGenerator<RowBatch, FormatContent, void> {
  let last: number | undefined;
  const text = { file, encoding: settings.encoding };
  const parser = await CsvParser.open(settings);
  const lines = new LineCutter(settings.skipRows);
  const footer = new Footer(settings.footer);
  let columns: readonly string[] | undefined;
  const take = (rows: readonly Row[]): RowBatch | undefined => {
    const isFirst = columns === undefined;
    const header = rows[0];
    if (columns === undefined) {
      if (header === undefined) return undefined;
      columns = parseHeader(header, file.name);
    }
    const data = footer.withhold(isFirst ? rows.slice(1) : rows);
    return isFirst || data.length > 0 ? { columns, rows: data, share: file.share } : undefined;
  };
  try {
    for await (const chunk of readText(text)) {
      last = chunk.at(-1);
      const batch = take(parser.write(lines.cut(chunk)));
      if (batch !== undefined) yield batch;
    }
    const batch = take(parser.end());
    if (batch !== undefined) yield batch;
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error;
    const { offset, linesSkipped } = error.place;
    const line = (await lineAt(text, lines.bytesCut + offset)) + linesSkipped;
    throw faultError(error, { name: file.name, line, header: parser.header });
  }
  if (columns === undefined) throw noHeader(file, settings.skipRows);
  return { endsWithLineEnd: last === lineFeed || last === carriageReturn };
}

/** The names of the columns: trimmed, and each once; several may be empty. */
function parseHeader(header: Row, name: string): readonly string[] {
  const columns = header.map(trimWhiteSpace);
  const places = new Map<string, number>();
  for (const [at, column] of columns.entries()) {
    const before = places.get(column);
    if (before !== undefined && column !== '') {
      throw new AgentError(
        'part.unreadable',
        `${name}: columns ${before + 1} and ${at + 1} are both called ${column}`,
        {
          hint: 'give every column of the export its own name',
        },
      );
    }
    places.set(column, at);
  }
  if (columns.every((column) => column === '')) {
    throw new AgentError('part.unreadable', `${name} has no header: its first row is empty`, {
      hint: 'the row after skipRows must name the columns',
    });
  }
  return columns;
}

function noHeader(file: PartFile, skipRows: number): AgentError {
  if (file.bytes === 0) {
    return new AgentError('part.unreadable', `${file.name} has no header: it is empty (0 bytes)`, {
      hint: 'is the export still to be written, or did it fail?',
    });
  }
  const after = skipRows > 0 ? ` after skipRows: ${skipRows}` : '';
  return new AgentError('part.unreadable', `${file.name} has no header: there is no row${after}`, {
    hint: 'the first row must name the columns',
  });
}

interface FaultPlace {
  readonly name: string;
  readonly line: number;
  readonly header: Row | undefined;
}

function faultError(fault: CsvFault, { name, line, header }: FaultPlace): AgentError {
  const { column } = fault.place;
  const title = trimWhiteSpace(header?.[column ?? -1] ?? '');
  const where = [
    `${name} line ${line}`,
    column === undefined ? '' : `, column ${column + 1}`,
    title === '' ? '' : ` (${title})`,
  ].join('');
  switch (fault.kind) {
    case 'unclosed':
      return new AgentError('part.unreadable', `${where}: the quote that opens here is never closed`, {
        hint: 'close it, or double it ("") where it is part of the text; is the file complete?',
      });
    case 'afterQuote':
      return new AgentError(
        'part.unreadable',
        `${where}: text follows the closing quote of the field that starts here`,
        {
          hint: 'double the quotes ("") that are part of the text, and check the delimiter',
        },
      );
    case 'insideField':
      return new AgentError('part.unreadable', `${where}: a quote inside a field that does not start with one`, {
        hint: 'put the whole field in quotes and double those inside it ("")',
      });
    case 'fieldTooLong':
      return new AgentError('part.unreadable', `${where}: the field that starts here is over 10 MB`, {
        hint: 'is a quote not closed, or is this not the delimiter?',
      });
    case 'rowTooLong':
      return new AgentError('part.unreadable', `${where}: the row that starts here is over 64 MB`, {
        hint: 'is a quote not closed, or does the file have no line ends?',
      });
  }
}

/** Cuts the first lines off a text, by its line ends alone: an odd quote in a title opens nothing. */
class LineCutter {
  /** How much was cut off so far. */
  bytesCut = 0;
  #left: number;
  #isAfterCr = false;

  constructor(lines: number) {
    this.#left = lines;
  }

  cut(chunk: Buffer): Buffer {
    let at = 0;
    while (at < chunk.length && (this.#left > 0 || this.#isAfterCr)) {
      const byte = chunk[at];
      if (this.#isAfterCr && byte === lineFeed) {
        this.#isAfterCr = false;
      } else if (this.#left === 0) {
        this.#isAfterCr = false;
        break;
      } else {
        this.#isAfterCr = byte === carriageReturn;
        if (byte === lineFeed || byte === carriageReturn) this.#left--;
      }
      at++;
    }
    this.bytesCut += at;
    return chunk.subarray(at);
  }
}

/** Keeps the last rows back, since nobody knows which those are before the end. */
class Footer {
  readonly #count: number;
  #held: readonly Row[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  withhold(rows: readonly Row[]): readonly Row[] {
    if (this.#count === 0) return rows;
    const all = [...this.#held, ...rows];
    const out = all.slice(0, Math.max(0, all.length - this.#count));
    this.#held = all.slice(out.length);
    return out;
  }
}
