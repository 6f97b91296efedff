/** Whether a delimited file can be read by threads, and how. */
import { columnProblems } from '../../../core/mapping/columns.ts';
import { packMapping } from '../../../core/mapping/portable.ts';
import type { FoldJob } from '../../../core/ports.ts';
import type { PartFile } from '../../files/part-file.ts';
import type { FormatContent } from '../../files/read-part.ts';
import type { ReadThreads } from '../../kind.ts';
import type { DelimitedSettings } from '../delimited.ts';
import { byteOffsetOf, openText } from './input.ts';
import type { RangeJob } from './range.ts';
import { findData, formatOf, marksOf } from './read.ts';
import { type FoldedRanges, type RunRange, foldRanges, inThreads } from './threads.ts';
import { utf8 } from './text-bytes.ts';

/** A thread takes some 50 ms to start: the time in which it reads so much. */
const threadBytesMin = 8_000_000;

export interface FoldThreads extends ReadThreads {
  readonly run: RunRange;
  readonly chunkBytes?: number;
  readonly gridBytes?: number;
}

export type FoldedFile = FoldedRanges & Pick<FormatContent, 'format'>;

/** Folds a file in at most so many threads, as `foldDelimited`. */
export async function foldInThreads(
  file: PartFile,
  settings: DelimitedSettings,
  job: FoldJob,
  { signal, ...threads }: ReadThreads & { readonly signal: AbortSignal },
): Promise<FoldedFile | undefined> {
  if (file.fd === undefined) return undefined;
  return await foldDelimited(file, settings, job, { ...threads, run: inThreads(file.fd, signal, threads.begin) });
}

/** @returns `undefined` where the file is to be read by `readColumns`, also where that will say what is wrong with it */
export async function foldDelimited(
  file: PartFile,
  settings: DelimitedSettings,
  job: FoldJob,
  { count, run, bytesMin = threadBytesMin, chunkBytes, gridBytes }: FoldThreads,
): Promise<FoldedFile | undefined> {
  if (file.fd === undefined || file.bytes < 2 * bytesMin || settings.footer > 0) return undefined;
  const start = await findData(file, settings);
  if (start === undefined || columnProblems(job.mapping, start.columns, file.shared).length > 0) return undefined;
  const text = await openText(file, settings.encoding, 64 * 1024);
  const marks = marksOf(settings, text.encoding);
  if (marks === undefined || !text.isRaw) return undefined;
  const { mapping, rules, part, rejectsMax } = job;
  const from = await byteOffsetOf(text, start.offset);
  // An empty field that is filled down takes a text of the rows before it, which only whoever read those knows.
  const most = mapping.fillDown.length > 0 ? 1 : count;
  const wanted = Math.max(1, Math.min(most, Math.floor((file.bytes - from) / bytesMin)));
  const ranges: RangeJob = {
    encoding: text.encoding === utf8 ? undefined : text.label,
    delimiter: marks.delimiter,
    comment: settings.comment,
    columns: start.columns,
    isOneColumn: start.firstRow.length === 1,
    shared: file.shared,
    bytes: file.bytes,
    mapping: packMapping(mapping),
    rules,
    part,
    rejectsMax,
    // All threads together hold what one would.
    foldMax: Math.floor(job.foldMax / wanted),
    chunkBytes,
    gridBytes,
  };
  const folded = await foldRanges({ job: ranges, from, ranges: wanted }, job, run);
  if (folded === undefined) return undefined;
  await file.hashRest(folded.hashed);
  const isOneColumn = start.firstRow.length === 1;
  return { ...folded, format: formatOf(settings, { columns: start.columns, isOneColumn, label: text.label }) };
}
