/**
 * Files that grow: how much of what was read of one is still there, and the rows behind it.
 *
 * Proof is the hash of every byte. Evidence is less: the file is the same one (device and inode), it has grown, and some of its
 * blocks are what they were, among them the first one and the last two.
 */
import type { Batch } from '../../core/mapping/column-batch.ts';
import type { Content, Part, ReadEnd } from '../../core/model.ts';
import type { EarlierRead, GrowingParts, GrownPart, Source } from '../../core/ports.ts';
import type { SourceContext } from '../kind.ts';
import { isLineEnd } from '../formats/text.ts';
import { untilAborted } from './access.ts';
import { blockBytes, blockHash, firstHashes, hashAt } from './blocks.ts';
import { isOutside } from './links.ts';
import { PartFile } from './part-file.ts';
import type { TextSettings } from './keys.ts';
import { type FilePlace, placeOf } from './place.ts';
import { type FormatContent, contentOf, openQuiet, withShared } from './read-part.ts';
import { type StableFile, isSameFile } from './stable-file.ts';

/** Blocks between the ends that evidence looks at, others each time. */
const samples = 3;
/** Hashed without a pause. */
const blocksBetweenPauses = 32;

/** Reads the rows of a file behind those of an earlier read; `undefined` where they are not plain. */
export type RowsBehind = (file: PartFile, end: ReadEnd) => AsyncGenerator<Batch, FormatContent | undefined, void>;

/** A source of files of lines, which are read on from where their last read ended. */
export function readOn(source: Source, settings: TextSettings, context: SourceContext, read: RowsBehind): Source {
  // An empty field that is filled down takes a text of rows that were read earlier.
  if (context.mapping.fillDown.length > 0) return source;
  return { ...source, growing: growingFiles(settings, context, read) };
}

function growingFiles(settings: TextSettings, context: SourceContext, read: RowsBehind): GrowingParts {
  const place = placeOf(settings, context);
  const knowsEnd = settings.lineEnd !== 'any';
  return {
    look: (part, earlier, signal) => lookAt(place, part, { ...earlier, knowsEnd }, signal),
    rows: (part, end, signal) => rowsBehind(place, part, { end, read, knowsEnd }, signal),
  };
}

async function lookAt(
  place: FilePlace,
  part: Part,
  earlier: EarlierRead & { readonly knowsEnd: boolean },
  signal: AbortSignal,
): Promise<GrownPart> {
  const file = await openQuiet(place, part, signal);
  try {
    const { version } = file;
    const { end } = earlier;
    const hasGrown = file.bytes > end.bytes;
    const isProven = earlier.wants === 'proof' || !hasGrown || !isSameFile(version, earlier.version);
    // No message may show what stands in such a file: it is always read whole, where that is seen to.
    const isLinked = file.isCopy || (await untilAborted(isOutside(file, place.globs), signal));
    const holds = !isLinked && file.bytes >= end.bytes && (await hasBlocks(file, earlier, isProven ? 'all' : 'some'));
    await file.verify();
    if (!holds) return { state: 'changed', version, isProven };
    if (!hasGrown) return { state: 'same', version, isProven };
    const isTorn = earlier.knowsEnd && !isLineEnd(await file.byteAt(file.bytes - 1));
    return { state: isTorn ? 'torn' : 'grown', version, isProven };
  } finally {
    await file.close();
  }
}

/** Whether blocks of a file have the hashes that they had. */
async function hasBlocks(
  file: StableFile,
  { end, version, pause, proven }: EarlierRead,
  which: 'all' | 'some',
): Promise<boolean> {
  const count = Math.ceil(end.bytes / blockBytes);
  // One for all of them, which may be thousands.
  const buffer = Buffer.allocUnsafe(blockBytes);
  const holds = async (block: number): Promise<boolean> => {
    const start = block * blockBytes;
    const bytes = await file.readInto(buffer.subarray(0, end.bytes - start), start);
    return blockHash(bytes).equals(hashAt(end.blocks, block));
  };
  // What changes a file as a rule changes its end too.
  for (const block of someBlocks(count, file.bytes)) if (!(await holds(block))) return false;
  if (which === 'some') return true;
  const from = proven?.version === file.version && version === file.version ? proven.blocks : 0;
  for (let block = from; block < count; block++) {
    if (!(await holds(block))) return false;
    if ((block + 1) % blocksBetweenPauses === 0) await pause?.({ version: file.version, blocks: block + 1 });
  }
  return true;
}

/** The ends, and a few between them that depend on how long the file is now. */
function someBlocks(count: number, bytes: number): ReadonlySet<number> {
  const step = Math.max(1, Math.floor(count / samples));
  const between = Array.from({ length: samples }, (_, at) => at * step + (bytes % step));
  return new Set([count - 1, count - 2, 0, ...between].filter((block) => block >= 0 && block < count));
}

async function* rowsBehind(
  place: FilePlace,
  part: Part,
  { end, read, knowsEnd }: { readonly end: ReadEnd; readonly read: RowsBehind; readonly knowsEnd: boolean },
  signal: AbortSignal,
): AsyncGenerator<Batch, Content | undefined, void> {
  const file = await openQuiet(place, part, signal);
  try {
    // What was looked at is not what would be read.
    if (file.version !== part.version) throw file.changed();
    const full = Math.floor(end.bytes / blockBytes);
    const partFile = new PartFile(file, place.expandedMax, firstHashes(end.blocks, full));
    const format = yield* withShared(partFile, read(partFile, end));
    if (format === undefined) return undefined;
    const content = await contentOf(partFile, file, format, { knowsEnd, mapping: place.mapping });
    await file.verify();
    return content;
  } finally {
    await file.close();
  }
}
