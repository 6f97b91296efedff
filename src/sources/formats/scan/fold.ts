/** Whether a file can be read by threads, and how. */
import { columnProblems } from '../../../core/mapping/columns.ts';
import { packMapping } from '../../../core/mapping/portable.ts';
import type { FoldJob } from '../../../core/ports.ts';
import type { PartFile } from '../../files/part-file.ts';
import type { FormatContent } from '../../files/read-part.ts';
import type { ReadThreads } from '../../kind.ts';
import type { DelimitedSettings } from '../delimited.ts';
import { byteOffsetOf, openText } from './input.ts';
import { learnColumns, recordFormat } from './json-read.ts';
import type { RangeJob } from './range.ts';
import type { RangeFormat } from './range-scanner.ts';
import { findData, formatOf, marksOf } from './read.ts';
import { type FoldedRanges, type RunRange, foldRanges, inThreads } from './threads.ts';
import { utf8 } from './text-bytes.ts';

/** A thread takes some 50 ms to start: the time in which it reads so much. */
const threadBytesMin = 8_000_000;

/** Read at once where the beginning of a file is looked at. */
const startBytes = 64 * 1024;

export interface FoldThreads extends ReadThreads {
  readonly run: RunRange;
  readonly chunkBytes?: number;
  readonly gridBytes?: number;
}

export type FoldedFile = FoldedRanges & Pick<FormatContent, 'format'>;

/** What has to be known of a file before ranges of it can be read. */
export interface RangePlan extends Pick<FormatContent, 'format'> {
  readonly columns: readonly string[];
  readonly written: RangeFormat;
  /** The byte of the file that the rows begin at. */
  readonly from: number;
}

/** `undefined` for a file that only one reader can read, from its start. */
export type PlanRanges = (file: PartFile) => Promise<RangePlan | undefined>;

export function delimitedRanges(settings: DelimitedSettings): PlanRanges {
  return async (file) => {
    if (settings.footer > 0) return undefined;
    const start = await findData(file, settings);
    if (start === undefined) return undefined;
    const text = await openText(file, settings.encoding, startBytes);
    const marks = marksOf(settings, text.encoding);
    if (marks === undefined || !text.isRaw) return undefined;
    const { columns } = start;
    const isOneColumn = start.firstRow.length === 1;
    return {
      columns,
      written: {
        kind: 'delimited',
        encoding: text.encoding === utf8 ? undefined : text.label,
        delimiter: marks.delimiter,
        comment: settings.comment,
        isOneColumn,
      },
      from: await byteOffsetOf(text, start.offset),
      format: formatOf(settings, { columns, isOneColumn, label: text.label }),
    };
  };
}

/** The columns are those of the first records. Where another one comes up later, the file is read from its start in the other way. */
export const jsonLineRanges: PlanRanges = async (file) => {
  const text = await openText(file, 'utf-8', startBytes);
  if (!text.isRaw) return undefined;
  const columns = await learnColumns(file, text.markBytes);
  return columns && { columns, written: { kind: 'jsonLines' }, from: text.markBytes, format: recordFormat(columns) };
};

/** Folds a file in at most so many threads, as `foldInRanges`. */
export async function foldInThreads(
  file: PartFile,
  plan: PlanRanges,
  job: FoldJob,
  { signal, ...threads }: ReadThreads & { readonly signal: AbortSignal },
): Promise<FoldedFile | undefined> {
  if (file.fd === undefined) return undefined;
  return await foldInRanges(file, plan, job, { ...threads, run: inThreads(file.fd, signal, threads.begin) });
}

/** @returns `undefined` where the file is to be read in the other way, also where that will say what is wrong with it */
export async function foldInRanges(
  file: PartFile,
  plan: PlanRanges,
  job: FoldJob,
  { count, run, bytesMin = threadBytesMin, chunkBytes, gridBytes }: FoldThreads,
): Promise<FoldedFile | undefined> {
  if (file.fd === undefined || file.bytes < 2 * bytesMin) return undefined;
  const planned = await plan(file);
  if (planned === undefined) return undefined;
  const { columns, written, from, format } = planned;
  const { mapping, rules, part, rejectsMax } = job;
  if (columnProblems(mapping, columns, file.shared).length > 0) return undefined;
  // An empty field that is filled down takes a text of the rows before it, which only whoever read those knows.
  const most = mapping.fillDown.length > 0 ? 1 : count;
  const wanted = Math.max(1, Math.min(most, Math.floor((file.bytes - from) / bytesMin)));
  const ranges: RangeJob = {
    format: written,
    columns,
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
  return { ...folded, format };
}
