/** Drivers in the blocks of a snapshot's file. */
import type { SnapshotDriver, SnapshotPoints } from '../../core/ledger.ts';
import type { Rule } from '../../core/model.ts';
import { compareUtf8 } from '../../core/series/snapshot.ts';
import { type Block, Pieces, openBlocks } from './snapshot-blocks.ts';

/** The text of so many bytes is about one chunk of a body. */
const pieceBytes = 60_000;

/** A section of points in pieces that end behind a driver, of about one size. */
export function* piecesOf(section: Buffer): Generator<Uint8Array> {
  let [from, at] = [0, 0];
  while (at < section.length) {
    // Two lengths, and what each stands before.
    at += 4 + section.readUInt32LE(at);
    at += 4 + section.readUInt32LE(at);
    if (at - from < pieceBytes && at < section.length) continue;
    yield section.subarray(from, at);
    from = at;
  }
}

function* pointsOf(section: Buffer): Generator<SnapshotPoints> {
  const pieces = new Pieces(section);
  while (pieces.hasMore()) {
    const [source, id, rule, driverPath, otherPath] = JSON.parse(pieces.text()) as [
      string,
      string,
      Rule,
      string,
      string | null,
    ];
    yield { source, id, rule, path: driverPath, otherPath: otherPath ?? undefined, points: pieces.bytes() };
  }
}

export function* pointsIn(points: Block): Generator<SnapshotPoints> {
  const section = points.unpack();
  yield* pointsOf(section);
  points.release(section);
}

export function* wholeOf(points: Block, origins: Block): Generator<SnapshotDriver> {
  const [pointSection, originSection] = [points.unpack(), origins.unpack()];
  const pieces = new Pieces(originSection);
  for (const driver of pointsOf(pointSection)) yield { ...driver, origins: pieces.bytes() };
  points.release(pointSection);
  origins.release(originSection);
}

/** Drivers are in the order of ids, so a few blocks are unpacked and not all of them. */
export function findDriver(file: string, id: string): SnapshotDriver | undefined {
  using open = openBlocks(file);
  // The first block is the header, and a block of points stands before that of its origins.
  const block = (pair: number, of: 'points' | 'origins'): Block => {
    const found = open.blocks[1 + 2 * pair + (of === 'points' ? 0 : 1)];
    if (found === undefined) throw new Error('it ends too early');
    return found;
  };
  let [low, high] = [0, (open.blocks.length - 1) / 2];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (compareUtf8(firstIn(block(middle, 'points')), id) <= 0) low = middle;
    else high = middle;
  }
  if (high === 0) return undefined;
  for (const driver of wholeOf(block(low, 'points'), block(low, 'origins'))) {
    if (driver.id !== id) continue;
    return { ...driver, points: Uint8Array.from(driver.points), origins: Uint8Array.from(driver.origins) };
  }
  return undefined;
}

function firstIn(points: Block): string {
  const section = points.unpack();
  const [first] = pointsOf(section);
  points.release(section);
  if (first === undefined) throw new Error('it has a block without drivers');
  return first.id;
}
