/** Files that are folded in ranges, beside the same files read from their start. */
import { expect } from 'vitest';
import { columnNeeds, columnProblems } from '../../src/core/mapping/columns.ts';
import { asColumns } from '../../src/core/mapping/row-coder.ts';
import type { Rule } from '../../src/core/model.ts';
import { plainDecimal } from '../../src/core/numbers/decimal.ts';
import type { Mapping } from '../../src/core/settings.ts';
import type { Template } from '../../src/core/mapping/template.ts';
import type { FormatReader } from '../../src/sources/files/read-part.ts';
import { packDrivers, unpackDrivers } from '../../src/sources/formats/scan/driver-message.ts';
import { type PlanRanges, foldInRanges } from '../../src/sources/formats/scan/fold.ts';
import { readRange } from '../../src/sources/formats/scan/range.ts';
import type { RunRange } from '../../src/sources/formats/scan/threads.ts';
import { type Folded, foldBatches, foldPieces, withoutTies } from './folded-part.ts';
import { fileOf } from './nasty-files.ts';
import { template } from './templates.ts';

const rules = { timezone: 'UTC', calendar: undefined };
const rejectsMax = 20;

/** A file, and the two ways to read it. */
export interface RangedFile {
  readonly content: Buffer;
  readonly plan: PlanRanges;
  readonly read: FormatReader;
}

export interface How {
  readonly ranges: number;
  readonly chunkBytes: number;
  readonly foldMax: number;
  readonly gridBytes: number;
}

/** The drivers are the texts of the first column, at one time or at the second column's, with the values of the last. */
export function mappingOf(columns: readonly string[], rule: Rule, time = '2026-01'): Mapping {
  // Not parsed: such a file may call its columns by anything.
  const named = (column = ''): Template => ({ text: column, pieces: [{ column, filters: [] }] });
  const entry = {
    id: named(columns[0]),
    path: [named(columns[0])],
    time: {
      from: template(time),
      format: { formats: ['iso'], locales: ['en'], timezone: undefined, fiscalYear: undefined },
    },
    value: { from: named(columns.at(-1)), format: plainDecimal },
    spread: undefined,
    rule,
  };
  return { where: [], missing: [''], fillDown: [], unpivot: undefined, maps: {}, drivers: [entry] };
}

/** `undefined` where the file is left to the other way. */
export async function foldByRanges(
  { content, plan }: RangedFile,
  { mapping, how }: { mapping: Mapping; how: How },
): Promise<Folded | undefined> {
  const run: RunRange = async (ofFile, range, listener) =>
    await readRange(ofFile, range, {
      read: (into, position) => content.copy(into, 0, position, position + into.length),
      before: async () => await listener.before(),
      ended: (end) => listener.ended(end),
      add: async (drivers) => listener.add(unpackDrivers(packDrivers(drivers))),
      progress: (bytes, rows) => listener.progress(bytes, rows),
    });
  const opened = Object.assign(fileOf(content, 4096), { fd: 0, hashRest: async () => undefined });
  const threads = { count: how.ranges, run, bytesMin: 1, chunkBytes: how.chunkBytes, gridBytes: how.gridBytes };
  return await foldPieces({ mapping, rules, rejectsMax, foldMax: how.foldMax }, (job) =>
    foldInRanges(opened, plan, job, threads),
  );
}

/** Reads both ways and compares. @returns whether ranges were read */
export async function compareRanges(
  file: RangedFile,
  how: How,
  mappingFor: (columns: readonly string[]) => Mapping,
): Promise<boolean> {
  const columns = await columnsOf(file);
  if (columns === undefined) return false;
  const mapping = mappingFor(columns);
  if (columnProblems(mapping, columns).length > 0) return false;
  const inRanges = async (ranges: number): Promise<Folded | undefined> =>
    await foldByRanges(file, { mapping, how: { ...how, ranges } });
  const ranged = await inRanges(how.ranges);
  expect(ranged).toEqual(await inRanges(1));
  if (ranged === undefined) return false;
  const needed = { needs: (names: readonly string[]) => columnNeeds(mapping, names) };
  const reading = asColumns(file.read(fileOf(file.content, 4096)), needed);
  const { drivers, rejects, counts } = withoutTies(ranged);
  const byRows = withoutTies(await foldBatches(reading, { mapping, rules, rejectsMax }));
  expect({ drivers, rejects, counts }).toEqual(byRows);
  return true;
}

async function columnsOf({ content, read }: RangedFile): Promise<readonly string[] | undefined> {
  try {
    for await (const { columns } of read(fileOf(content, 4096))) return columns;
  } catch {
    // It cannot be read at all, which other tests are about.
  }
  return undefined;
}
