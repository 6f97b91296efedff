/** One element of `extDrivers`: from its bytes to what is kept, or to what is wrong with it. */
import { isUtf8 } from 'node:buffer';
import { driverFrameSchema, driverSchema, pathElementSchema, pointSchema } from '../../contract/driver-push.ts';
import type { Driver } from '../../contract/driver-push.ts';
import type { Issues } from '../issues.ts';
import type { JsonSlice } from './byte-input.ts';
import { duplicateMembers, parseSlice } from './json-slice.ts';
import { packPlainPoints } from './plain-points.ts';
import { latestOfEachMonth, packPoints } from './points.ts';
import type { PackedDriver } from './points.ts';

export interface ReadDriver {
  readonly driver: PackedDriver;
  /** Points as sent, before those of one month became one. */
  readonly points: number;
}

/** Adds what is wrong with the element at `place`; `undefined` where anything is. */
export function readDriver(slice: JsonSlice, place: readonly PropertyKey[], issues: Issues): ReadDriver | undefined {
  return readPlainDriver(slice) ?? readAnyDriver(slice, place, issues);
}

const beforePoints = Buffer.from('"timeSeries":[');
const afterPoints = Buffer.from(']}');

/**
 * A driver that ends with plain points. What is before them is parsed with an empty list in their place; those bytes
 * cannot stand inside a string, where their quotes would be escaped. `undefined` says nothing about right or wrong.
 */
function readPlainDriver(slice: JsonSlice): ReadDriver | undefined {
  const found = slice.bytes.indexOf(beforePoints);
  if (found < 0) return undefined;
  const start = found + beforePoints.length;
  const packed = packPlainPoints(slice.bytes, start);
  if (packed === undefined || slice.members !== memberCount(packed.count)) return undefined;
  const head = parseHead(Buffer.concat([slice.bytes.subarray(0, start), afterPoints]));
  if (head === undefined) return undefined;
  return { driver: { id: head.id, path: head.path, points: packed.points }, points: packed.count };
}

function parseHead(bytes: Buffer): Driver | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    return driverSchema.safeParse(JSON.parse(bytes.toString('utf8'))).data;
  } catch {
    // Read again from the start by `readAnyDriver`, which says where and why.
    return undefined;
  }
}

function readAnyDriver(slice: JsonSlice, place: readonly PropertyKey[], issues: Issues): ReadDriver | undefined {
  const value = parseSlice(slice);
  if (!checkDriver(value, place, issues)) return undefined;
  const { id, path, timeSeries } = value;
  if (slice.members !== memberCount(timeSeries.length)) {
    for (const key of duplicateMembers(slice)) issues.add([...place, ...key], 'is given twice');
    return undefined;
  }
  return { driver: { id, path, points: packPoints(latestOfEachMonth(timeSeries)) }, points: timeSeries.length };
}

/** One each of id, path and timeSeries, and two in every point: a valid driver with more has keys given twice. */
function memberCount(points: number): number {
  return 3 + 2 * points;
}

/**
 * zod collects every issue there is, so elements of path and timeSeries are checked one by one: a driver with a million
 * bad points costs no more than the issues that are told.
 */
function checkDriver(value: unknown, place: readonly PropertyKey[], issues: Issues): value is Driver {
  const frame = driverFrameSchema.safeParse(value);
  if (!frame.success) issues.addAll(place, frame.error.issues);
  const { path, timeSeries } = (value ?? {}) as Record<string, unknown>;
  const pathIsGood = checkEach(path, pathElementSchema, [...place, 'path'], issues);
  const pointsAreGood = checkEach(timeSeries, pointSchema, [...place, 'timeSeries'], issues);
  return frame.success && pathIsGood && pointsAreGood;
}

function checkEach(
  list: unknown,
  schema: typeof pathElementSchema | typeof pointSchema,
  place: readonly PropertyKey[],
  issues: Issues,
): boolean {
  // What is no list the frame has told already.
  if (!Array.isArray(list)) return false;
  let good = true;
  for (let index = 0; index < list.length && !issues.isFull; index++) {
    const read = schema.safeParse(list[index]);
    if (read.success) continue;
    issues.addAll([...place, index], read.error.issues);
    good = false;
  }
  return good;
}
