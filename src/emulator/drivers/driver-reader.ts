/** Reads one element of `extDrivers`: from its bytes to a packed driver, or to its issues. */
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
  /** Number of points as sent, before those of one month became one. */
  readonly points: number;
}

/** Reads the driver at `place`. If it has issues they are added, and the result is undefined. */
export function readDriver(slice: JsonSlice, place: readonly PropertyKey[], issues: Issues): ReadDriver | undefined {
  return readPlainDriver(slice) ?? readAnyDriver(slice, place, issues);
}

const beforePoints = Buffer.from('"timeSeries":[');
const afterPoints = Buffer.from(']}');

/**
 * The fast path: a driver that ends with plain points. The part before them is parsed with an empty list in their place.
 * The bytes `"timeSeries":[` cannot be inside a string, where their quotes would be escaped. `undefined` means that the
 * driver has another shape, right or wrong.
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
    // `readAnyDriver` reads it again and says where and why.
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

/** Members of a valid driver: id, path, timeSeries, and two for every point. One with more has keys given twice. */
function memberCount(points: number): number {
  return 3 + 2 * points;
}

/**
 * Checks the elements of path and timeSeries one by one, because zod would collect every issue: a driver with a million bad
 * points costs no more than the twenty issues that are reported.
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
  // The frame has reported that it is not a list.
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
