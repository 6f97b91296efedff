/** Files as parts: which there are, when they are quiet, and reads that are never of two contents. */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { parseDuration } from '../../core/duration.ts';
import { AgentError, isAgentError } from '../../core/errors.ts';
import { parseSize } from '../../core/size.ts';
import { namesShared } from '../../core/mapping/columns.ts';
import type { Batch } from '../../core/mapping/column-batch.ts';
import { asColumns } from '../../core/mapping/row-coder.ts';
import type { Content, Part, RowBatch } from '../../core/model.ts';
import type { Clock, FoldJob, FoldedPart, Source, TextEnd } from '../../core/ports.ts';
import { endsLastLine, isLineEnd } from '../formats/text.ts';
import type { Mapping } from '../../core/settings.ts';
import { accessError, codeOf, untilAborted } from './access.ts';
import { findGlobProblem, findMatches, listNeighbours, parseGlob } from './glob.ts';
import type { Glob } from './glob.ts';
import { type SourceContext, needsOf } from '../kind.ts';
import { isOutside, refuseForbidden, withoutNames } from './links.ts';
import { contentHash } from './blocks.ts';
import { PartFile } from './part-file.ts';
import { StableFile, notAFile, quietMsOf, revisedAtMsOf, versionOf, waitUntilQuiet } from './stable-file.ts';
import { watchGlobs } from './watch.ts';

/** The keys that every kind made of files has. */
export const fileKeys = {
  files: z
    .array(
      z.string().superRefine((text, context) => {
        const problem = findGlobProblem(text);
        if (problem !== undefined) context.addIssue(problem);
      }),
    )
    .min(1)
    .describe(
      'Globs, relative to the config file: `*` `?` `[a-z]` `{a,b}`, and `**` for any directories; up to four `*` in one name. None matches a leading dot or the `~$` of files that Office makes while it has a document open; `**` follows no links. Each must match at least one file, or the source is not read.',
    ),
  settle: z
    .string()
    .transform((text, context) => {
      const ms = parseDuration(text);
      if (ms === undefined) context.addIssue('not a duration such as 2s, 500ms or 1m');
      return ms ?? z.NEVER;
    })
    .prefault('2s')
    .describe(
      'A file is read once neither its size nor its times moved for this long; `sync` waits for that, up to 60 s. `0s` does not wait.',
    ),
  parts: z
    .enum(['all', 'newest'])
    .default('all')
    .describe(
      '`all` files together are the source, or only the `newest` one is (dated full exports): the latest modification time, then the later name.',
    ),
  expandedMax: z
    .string()
    .transform((text, context) => {
      const bytes = parseSize(text);
      if (bytes === undefined) context.addIssue('not a size such as 4GB or 500MB');
      return bytes ?? z.NEVER;
    })
    .prefault('4GB')
    .describe(
      'A file whose name ends in `.gz` or `.zst` is read as what is in it. One that expands to more than this is refused.',
    ),
};

/** A key of kinds whose files are lines of text. */
export const lineEndKey = z
  .enum(['expected', 'any'])
  .default('expected')
  .describe(
    'A file that does not end with a line end may be half a file. `expected`: it is not read where another file of the source ends with one, or its own accepted read did; where nothing is known it has to be quiet ten times as long as `settle`, at least a minute. `any`: such files are whole.',
  );

/** The output of `fileKeys`. */
export interface FileSettings {
  readonly files: readonly string[];
  readonly settle: number;
  readonly parts: 'all' | 'newest';
  readonly expandedMax: number;
}

/** Where a source's files are. */
export interface FilePlace {
  readonly globs: readonly Glob[];
  readonly baseDir: string;
  readonly forbidden: readonly string[];
  /** `undefined` for files beside a source: maps and calendars. */
  readonly mapping: Mapping | undefined;
  readonly newestOnly: boolean;
  readonly settleMs: number;
  /** The most bytes that a compressed file may expand to. */
  readonly expandedMax: number;
  readonly clock: Clock;
}

/** The part of a source's context that a place needs; maps and calendars have no mapping. */
export type PlaceContext = Pick<SourceContext, 'baseDir' | 'clock' | 'forbidden'> & { readonly mapping?: Mapping };

export function placeOf(settings: FileSettings, context: PlaceContext): FilePlace {
  return {
    globs: settings.files.map((text) => parseGlob(context.baseDir, text)),
    baseDir: context.baseDir,
    forbidden: context.forbidden ?? [],
    mapping: context.mapping,
    newestOnly: settings.parts === 'newest',
    settleMs: settings.settle,
    expandedMax: settings.expandedMax,
    clock: context.clock,
  };
}

/** The source whose parts are files that `read` reads. */
export function fileSource(settings: FileSettings, context: SourceContext, read: FormatReader): Source {
  const place = placeOf(settings, context);
  return {
    newestOnly: place.newestOnly,
    parts: (signal) => listParts(place, signal),
    rows: (part, signal) => asColumns(readPart(place, part, signal, read), needsOf(context)),
    hash: (part, signal) => hashPart(place, part, signal),
    watch: (changed) => watchGlobs(place.globs, changed),
  };
}

/** The output of `fileKeys`, `lineEndKey` and `encodingKey`. */
export interface TextSettings extends FileSettings {
  readonly lineEnd: 'expected' | 'any';
  readonly encoding?: string;
}

/** The source whose parts are files of lines. */
export function textSource(
  settings: TextSettings,
  context: SourceContext,
  read: FormatReader,
  fold?: (file: PartFile, job: FoldJob, signal: AbortSignal) => ReturnType<PartFolder>,
): Source {
  const place = placeOf(settings, context);
  const knowsEnd = settings.lineEnd !== 'any';
  const folded: Pick<Source, 'fold'> =
    fold === undefined
      ? {}
      : {
          fold: (part, job, signal) =>
            foldPart(place, part, signal, { work: (file) => fold(file, job, signal), knowsEnd }),
        };
  if (!knowsEnd) {
    const source = fileSource(settings, context, async function* withoutLineEnd(file) {
      const { format } = yield* read(file);
      return { format };
    });
    return { ...source, ...folded };
  }
  return {
    ...fileSource(settings, context, read),
    ...folded,
    textEnd: (part, signal) => readTextEnd(place, part, signal, settings.encoding),
  };
}

/** Once a file is quiet for `settle`. @throws AgentError as `readPart` */
export async function readTextEnd(
  place: FilePlace,
  part: Part,
  signal: AbortSignal,
  encoding = 'utf-8',
): Promise<TextEnd> {
  const file = await openQuiet(place, part, signal);
  try {
    const endsWithLineEnd = await endsLastLine({ file: new PartFile(file, place.expandedMax), encoding });
    await file.verify();
    const quietNeededMs = Math.max(unendedQuietMsMin, unendedQuietTimes * place.settleMs);
    // Where its times are ahead of the clock, nothing says when it was written.
    const quietMs = quietMsOf(file.stats, place.clock.now()) ?? 0;
    return { endsWithLineEnd, quietMs, quietNeededMs };
  } finally {
    await file.close();
  }
}

/**
 * The files that the globs name, in the order of their names. A directory that a glob happens to match is left out;
 * so is the lock file of a workbook that somebody has open (`~$books.xlsx`). A device, a FIFO or a socket is a failure
 * and is never opened.
 * @throws AgentError `source.unreadable` where something cannot be seen, or a glob matches nothing.
 */
export async function listParts(place: FilePlace, signal: AbortSignal): Promise<readonly Part[]> {
  return await untilAborted(collectParts(place, signal), signal);
}

async function collectParts(place: FilePlace, signal: AbortSignal): Promise<readonly Part[]> {
  const parts = new Map<string, Part>();
  for (const glob of place.globs) {
    const matches = [...(await findMatches(glob, signal))];
    const files = (await Promise.all(matches.map((file) => partOf(place, file)))).filter((part) => part !== undefined);
    if (files.length === 0) {
      throw new AgentError('source.unreadable', `nothing matches ${glob.text} in ${glob.directory}`, {
        hint: await listNeighbours(glob),
      });
    }
    for (const part of files) parts.set(part.name, part);
  }
  return [...parts.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function partOf(place: FilePlace, file: string): Promise<Part | undefined> {
  if (path.basename(file).startsWith('~$')) return undefined;
  const stats = await statFile(file);
  if (stats === undefined || stats.isDirectory()) return undefined;
  if (!stats.isFile()) throw notAFile(file, stats);
  const name = path.relative(place.baseDir, file).replaceAll(path.sep, '/');
  return { name, version: versionOf(stats), revisedAtMs: revisedAtMsOf(stats) };
}

/** `undefined` where it was removed since its directory was listed; a link that leads nowhere is a failure. */
async function statFile(file: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(file, { bigint: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw accessError('source.unreadable', file, error);
    if ((await lstat(file).catch(() => undefined)) === undefined) return undefined;
    throw new AgentError('source.unreadable', `${file} is a symbolic link that leads nowhere`, {
      cause: error,
      hint: 'remove the link, or mount what it leads to',
    });
  }
}

/** The hash of a file's bytes, once it is quiet. @throws AgentError as `readPart` */
async function hashPart(place: FilePlace, part: Part, signal: AbortSignal): Promise<Pick<Content, 'hash' | 'version'>> {
  const file = await openQuiet(place, part, signal);
  try {
    const hash = await new PartFile(file, place.expandedMax).hash();
    await file.verify();
    return { hash: partHash(hash, part.name, place.mapping), version: file.version };
  } finally {
    await file.close();
  }
}

/** @throws AgentError as `waitUntilQuiet`, `StableFile.open` and `refuseForbidden` */
export async function openQuiet(place: FilePlace, part: Part, signal: AbortSignal): Promise<StableFile> {
  const from = path.resolve(place.baseDir, part.name);
  const version = place.settleMs > 0 ? await waitUntilQuiet(from, place.settleMs, place.clock, signal) : undefined;
  const file = await StableFile.open(from, part.name, signal);
  try {
    if (version !== undefined && version !== file.version) throw file.changed();
    await untilAborted(refuseForbidden(file, place.forbidden), signal);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * A writer that stalls within a row looks like one that is done, but for the line end that is missing. Uploads stall
 * for seconds; one that stalls for a minute was given up as a rule.
 */
const unendedQuietMsMin = 60_000;
const unendedQuietTimes = 10;

/** Folds one file; `undefined` where its rows are to be read. */
type PartFolder = (
  file: PartFile,
) => Promise<(Pick<FoldedPart, 'counts' | 'rejects'> & Pick<FormatContent, 'format'>) | undefined>;

/**
 * What `work` makes of a part, once it is quiet, and the part's content; `undefined` where it makes nothing. The result counts
 * only if the file did not change meanwhile.
 */
async function foldPart(
  place: FilePlace,
  part: Part,
  signal: AbortSignal,
  { work, knowsEnd }: { readonly work: PartFolder; readonly knowsEnd: boolean },
): Promise<FoldedPart | undefined> {
  const file = await openQuiet(place, part, signal);
  try {
    // What is wrong with such a file must not be told.
    if (await untilAborted(isOutside(file, place.globs), signal)) return undefined;
    const partFile = new PartFile(file, place.expandedMax);
    const folded = await work(partFile);
    if (folded === undefined) return undefined;
    const { format, ...rest } = folded;
    const endsWithLineEnd = isLineEnd((await partFile.ends()).end.at(-1));
    const content = await contentOf(partFile, file, { endsWithLineEnd, format }, { knowsEnd, mapping: place.mapping });
    await file.verify();
    return { ...rest, content };
  } finally {
    await file.close();
  }
}

/** The part of `Content` that only the format knows. */
export interface FormatContent extends Pick<Content, 'endsWithLineEnd'> {
  /** Where rows that are appended later can be read alone: what the format has to know for that. */
  readonly format?: string | undefined;
}

/** A smaller file is read whole as fast as it is compared with what it was. */
const growingBytesMin = 1_000_000;
const lineFeed = 0x0a;

/**
 * The hash of a part. Where its name says what its rows mean, equal content under another name is not the same: the file of
 * a month that is gone was not renamed to that of the next.
 */
export function partHash(hash: string, name: string, mapping: Mapping | undefined): string {
  if (mapping === undefined || !namesShared(mapping, ['file', 'sheet'])) return hash;
  return createHash('sha256').update(`${JSON.stringify(path.posix.basename(name))} ${hash}`).digest('hex');
}

/** What is known of a file that was read to its end. @param knowsEnd whether its end says that it is whole */
export async function contentOf(
  partFile: PartFile,
  { stats, version }: StableFile,
  { endsWithLineEnd, format }: FormatContent,
  { knowsEnd, mapping }: { readonly knowsEnd: boolean; readonly mapping: Mapping | undefined },
): Promise<Content> {
  const blocks = await partFile.blocks();
  const { bytes } = partFile;
  const ending = knowsEnd ? { endsWithLineEnd } : {};
  const hash = partHash(contentHash(blocks), partFile.name, mapping);
  const content = { ...ending, hash, version, revisedAtMs: revisedAtMsOf(stats) };
  // A row without a line end, or behind a lone CR, might go on in what is appended.
  const mayGrow = format !== undefined && bytes >= growingBytesMin && (await partFile.byteAt(bytes - 1)) === lineFeed;
  return mayGrow ? { ...content, end: { bytes, blocks, format } } : content;
}

/** Columns, or rows that are made columns on their way out of the source. */
export type FormatBatch = Batch | RowBatch;

/** Reads the rows of one file. @throws AgentError `part.unreadable` (what, file, line, why) */
export type FormatReader<Given extends FormatBatch = FormatBatch> = (
  file: PartFile,
) => AsyncGenerator<Given, FormatContent, void>;

/** Batches with what the rows of the file share. */
export async function* withShared<Given extends FormatBatch, End>(
  { shared }: PartFile,
  batches: AsyncGenerator<Given, End, void>,
): AsyncGenerator<Given, End, void> {
  try {
    for (;;) {
      const next = await batches.next();
      if (next.done === true) return next.value;
      yield { ...next.value, shared: { ...shared, ...next.value.shared } };
    }
  } finally {
    await batches.return(undefined as never);
  }
}

/**
 * The rows of one part through `read`, once it is quiet. The result counts only if the file did not change
 * meanwhile.
 */
export async function* readPart<Given extends FormatBatch>(
  place: FilePlace,
  part: Part,
  signal: AbortSignal,
  read: FormatReader<Given>,
): AsyncGenerator<Given, Content, void> {
  const file = await openQuiet(place, part, signal);
  try {
    const partFile = new PartFile(file, place.expandedMax);
    const isLinked = await untilAborted(isOutside(file, place.globs), signal);
    const batches = withShared(partFile, read(partFile));
    const format = yield* isLinked ? withoutNames(part.name, place.mapping, batches) : batches;
    const content = await contentOf(partFile, file, format, {
      knowsEnd: format.endsWithLineEnd !== undefined,
      mapping: place.mapping,
    });
    await file.verify();
    return content;
  } catch (error) {
    // What looks broken may only be half written: then it is worth another try.
    if (isAgentError(error, 'part.unreadable')) await file.verify();
    throw error;
  } finally {
    await file.close();
  }
}
