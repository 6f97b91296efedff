/** `type: xlsx`: sheets of workbooks. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AgentError } from '../core/errors.ts';
import { furthestPlace } from '../core/mapping/columns.ts';
import type { Pattern } from '../core/mapping/pattern.ts';
import { asColumns } from '../core/mapping/row-coder.ts';
import type { Content, Part, RowBatch } from '../core/model.ts';
import type { Source } from '../core/ports.ts';
import { fileKeys } from './files/keys.ts';
import { listParts } from './files/list-parts.ts';
import { partIn } from './files/part-names.ts';
import { type FilePlace, placeOf } from './files/place.ts';
import { partHash, readPart } from './files/read-part.ts';
import { fileSource, looksAt } from './files/source.ts';
import { checkTable, patternOf, tableKeys } from './formats/table.ts';
import { type WorkbookSettings, listSheets, readWorkbook } from './formats/workbook-table.ts';
import { type SourceContext, defineKind, needsOf } from './kind.ts';

/** `/pattern/`, `/pattern/i` */
const patternForm = /^\/(.+)\/(i?)$/s;

const schema = z
  .strictObject({
    ...fileKeys,
    ...tableKeys,
    comment: z
      .string()
      .min(1)
      .optional()
      .describe('Rows whose first cell starts with this text are ignored. Default: no row is.'),
    sheet: z
      .union([z.int().min(1), z.string().min(1).transform(parseSheet)], {
        error: 'expected the name of a sheet, its number from 1, or a /pattern/ of names',
      })
      .optional()
      .describe(
        'The sheet to read: its name, its number from 1, or a `/pattern/` of names, where each sheet that matches is a part of its own (`book.xlsx#Sheet`). A pattern takes no hidden sheets. Default: the first sheet that is not hidden.',
      ),
  })
  .superRefine(checkTable)
  .superRefine(({ sheet, parts }, context) => {
    if (typeof sheet !== 'object' || parts !== 'newest') return;
    const message = 'a pattern makes many parts, and parts: newest reads one';
    context.addIssue({
      code: 'custom',
      path: ['sheet'],
      message,
      params: { hint: 'name the sheet, or leave parts out' },
    });
  });

type XlsxSettings = z.output<typeof schema>;

function parseSheet(text: string, context: z.RefinementCtx): string | Pattern {
  const [, pattern, flags] = patternForm.exec(text) ?? [];
  return pattern === undefined ? text : patternOf(pattern, context, flags === 'i' ? 'i' : '');
}

export const xlsx = defineKind(schema, (settings, context): Source => {
  const { sheet } = settings;
  if (typeof sheet === 'object') return sheetsSource(settings, sheet, context);
  const wanted = wantedOf(settings, context);
  return fileSource(settings, context, (file) => readWorkbook(file, wanted, sheet));
});

function wantedOf(settings: XlsxSettings, { mapping }: SourceContext): WorkbookSettings {
  return { ...settings, furthestPlace: furthestPlace(mapping) };
}

/** The sheets of a source's workbooks by their files, as long as its settings live: a source is opened for each pass. */
const listed = new WeakMap<XlsxSettings, Map<string, SheetList>>();

interface SheetList {
  readonly version: string;
  readonly names: readonly string[];
}

/** Each sheet that matches is a part. */
function sheetsSource(settings: XlsxSettings, pattern: Pattern, context: SourceContext): Source {
  const place = placeOf(settings, context);
  const places = new Map<string, { readonly file: Part; readonly sheet: string }>();
  const wanted = wantedOf(settings, context);
  const known = listed.get(settings) ?? new Map<string, SheetList>();
  listed.set(settings, known);
  return {
    async parts(signal) {
      const files = await listParts(place, signal);
      const sheets = new Map<string, SheetList>();
      for (const file of files) {
        const before = known.get(file.name);
        const names = before?.version === file.version ? before.names : await namesIn({ place, pattern, signal }, file);
        sheets.set(file.name, { version: file.version, names });
      }
      known.clear();
      for (const [name, list] of sheets) known.set(name, list);
      return files.flatMap((file) =>
        (sheets.get(file.name)?.names ?? []).map((sheet) => {
          const part = partIn(file, sheet);
          places.set(part.name, { file, sheet });
          return part;
        }),
      );
    },
    async *rows(part, signal) {
      const at = places.get(part.name);
      if (at === undefined) throw new AgentError('part.changing', `${part.name} is not a sheet that was listed`);
      const read = readPart(place, at.file, signal, (file) => readWorkbook(file, wanted, at.sheet));
      const content = yield* asColumns(hashedByRows(read), needsOf(context));
      return { ...content, hash: partHash(content.hash, part.name, context.mapping) };
    },
    ...looksAt(place),
  };
}

interface Listing {
  readonly place: FilePlace;
  readonly pattern: Pattern;
  readonly signal: AbortSignal;
}

async function namesIn({ place, pattern, signal }: Listing, file: Part): Promise<readonly string[]> {
  let names: readonly string[] = [];
  const reading = readPart(place, file, signal, async function* (opened) {
    names = await listSheets(opened, place.expandedMax, pattern);
    yield { columns: [], rows: [] };
    return {};
  });
  // Nobody wants the rest, which is the hash of a file that is read again for its rows.
  await reading.next();
  await reading.return(undefined as never);
  return names;
}

/** The sheets of one file have one hash; of what was read, each has its own, and keeps it when only others change. */
async function* hashedByRows(read: AsyncGenerator<RowBatch, Content, void>): AsyncGenerator<RowBatch, Content, void> {
  const hash = createHash('sha256');
  let isFirst = true;
  try {
    for (;;) {
      const next = await read.next();
      if (next.done === true) return { ...next.value, hash: hash.digest('hex') };
      const { columns, rows, fault, isNumber, dateSystem } = next.value;
      // A formula without a result, or a number, is another content than a text that looks like it.
      const data = rows.map((row, at) => {
        const faults = fault === undefined ? [] : columns.flatMap((_column, of) => fault(at, of) ?? []);
        const numbers = isNumber === undefined ? [] : columns.flatMap((_column, of) => (isNumber(at, of) ? [of] : []));
        return faults.length + numbers.length === 0 ? row : [row, faults, numbers];
      });
      // Nor is the same number another day in a workbook that counts from another year.
      const head = dateSystem === 1904 ? [{ dateSystem }, columns] : [columns];
      const lines = isFirst ? [...head, ...data] : data;
      // JSON keeps apart what joining the texts could run together.
      for (const line of lines) hash.update(`${JSON.stringify(line)}\n`);
      isFirst = false;
      yield next.value;
    }
  } finally {
    await read.return(undefined as never);
  }
}
