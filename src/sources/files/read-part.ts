/** One file as a part: read once it is quiet, and never of two contents. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { isAgentError } from '../../core/errors.ts';
import type { Batch } from '../../core/mapping/column-batch.ts';
import { namesShared } from '../../core/mapping/columns.ts';
import type { Content, Part, RowBatch } from '../../core/model.ts';
import type { FoldedPart, TextEnd } from '../../core/ports.ts';
import type { Mapping } from '../../core/settings.ts';
import { endsLastLine, isLineEnd } from '../formats/text.ts';
import { untilAborted } from './access.ts';
import { contentHash } from './blocks.ts';
import { isOutside, refuseForbidden, withoutNames } from './links.ts';
import { PartFile } from './part-file.ts';
import type { FilePlace } from './place.ts';
import { StableFile, waitUntilQuiet } from './stable-file.ts';

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
    const quietMs = file.quietMs(place.clock.now()) ?? 0;
    return { endsWithLineEnd, quietMs, quietNeededMs };
  } finally {
    await file.close();
  }
}

/** The hash of a file's bytes, once it is quiet. @throws AgentError as `readPart` */
export async function hashPart(
  place: FilePlace,
  part: Part,
  signal: AbortSignal,
): Promise<Pick<Content, 'hash' | 'version'>> {
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
  if (place.copies.has(part.name)) return await place.copies.open(part, signal);
  const from = place.names.fileOf(part.name);
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

/** Whether a link leads out of the folder that the config names. */
async function isLinkOutside(place: FilePlace, file: StableFile, signal: AbortSignal): Promise<boolean> {
  return !file.isCopy && (await untilAborted(isOutside(file, place.globs), signal));
}

/**
 * A writer that stalls within a row looks like one that is done, but for the line end that is missing. Uploads stall
 * for seconds; one that stalls for a minute was given up as a rule.
 */
const unendedQuietMsMin = 60_000;
const unendedQuietTimes = 10;

/** Folds one file; `undefined` where its rows are to be read. */
export type PartFolder = (
  file: PartFile,
) => Promise<(Pick<FoldedPart, 'counts' | 'rejects'> & Pick<FormatContent, 'format'>) | undefined>;

/**
 * What `work` makes of a part, once it is quiet, and the part's content; `undefined` where it makes nothing. The result counts
 * only if the file did not change meanwhile.
 */
export async function foldPart(
  place: FilePlace,
  part: Part,
  signal: AbortSignal,
  { work, knowsEnd }: { readonly work: PartFolder; readonly knowsEnd: boolean },
): Promise<FoldedPart | undefined> {
  const file = await openQuiet(place, part, signal);
  try {
    // What is wrong with such a file must not be told.
    if (await isLinkOutside(place, file, signal)) return undefined;
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
  return createHash('sha256')
    .update(`${JSON.stringify(path.posix.basename(name))} ${hash}`)
    .digest('hex');
}

/** What is known of a file that was read to its end. @param knowsEnd whether its end says that it is whole */
export async function contentOf(
  partFile: PartFile,
  file: StableFile,
  { endsWithLineEnd, format }: FormatContent,
  { knowsEnd, mapping }: { readonly knowsEnd: boolean; readonly mapping: Mapping | undefined },
): Promise<Content> {
  const blocks = await partFile.blocks();
  const { bytes } = partFile;
  const ending = knowsEnd ? { endsWithLineEnd } : {};
  const hash = partHash(contentHash(blocks), partFile.name, mapping);
  const content = { ...ending, hash, version: file.version, revisedAtMs: file.revisedAtMs };
  // A copy is fetched whole in any case, and a compressed file cannot be read from the middle.
  const isReadOn = format !== undefined && bytes >= growingBytesMin && !file.isCopy && partFile.fd !== undefined;
  // A row without a line end, or behind a lone CR, might go on in what is appended.
  const mayGrow = isReadOn && (await partFile.byteAt(bytes - 1)) === lineFeed;
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
    const isLinked = await isLinkOutside(place, file, signal);
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
