/** Takes a snapshot of the archive as what every source has accepted: after a rollback, and for a rebuilt buffer. */
import { randomUUID } from 'node:crypto';
import { summarizingRun } from '../../core/series/compare.ts';
import { type FoldedDriver, type OriginFacts, unpackDriver } from '../../core/series/packing.ts';
import type { LocalBuffer, PartWriter } from '../../core/buffer.ts';
import type { Snapshot } from '../../core/ledger.ts';
import { notePushed } from '../push/newest-snapshot.ts';
import { openReadable } from '../push/retention.ts';
import type { Dependencies } from '../dependencies.ts';
import { inTurns } from '../turns.ts';

/** A buffer that was lost and made anew takes the last acknowledged snapshot, so that an unread source is carried. */
export async function restoreAfterLoss(deps: Dependencies): Promise<void> {
  const { buffer, ledger, log } = deps;
  if (buffer.state().id !== undefined) return;
  const last = await ledger.pushes.lastAcknowledged();
  const snapshot = last === undefined ? undefined : await openReadable(deps, last.digest);
  if (snapshot !== undefined) {
    await restoreSnapshot(deps, snapshot);
    log.warn('the buffer is new: every source starts from the last acknowledged snapshot', { push: last?.id });
  } else if (last !== undefined) {
    log.error(
      'the buffer is new and the last acknowledged snapshot cannot be read: every source has to be read first',
      {
        digest: last.digest,
      },
    );
    buffer.setState({ isBare: true });
  }
  // What was seen until now, while the ledger was out of reach, was dated without what snapshots know.
  for (const { name } of deps.settings.sources) buffer.parts.setSeen(name, new Map());
  buffer.setState({ id: randomUUID() });
}

/** Finishes what a rollback began: a crash may have come between its acknowledgement and this. */
export async function restoreRollback(deps: Dependencies): Promise<void> {
  const { ledger, archive, address } = deps;
  const rolledBack = (await ledger.state()).rolledBack;
  if (rolledBack === undefined || rolledBack.isRestored) return;
  const push = await ledger.pushes.get(rolledBack.push);
  const snapshot = push === undefined ? undefined : await archive.open(push.digest);
  if (push !== undefined && snapshot !== undefined) {
    await restoreSnapshot(deps, snapshot);
    // What was deleted since then is back.
    await ledger.holds.forgetDeletes(push.atMs);
    // The service has just this, or a restart would take it for a change that waits for a push.
    if ((await ledger.pushes.lastAcknowledged(address))?.digest === push.digest) notePushed(deps);
  }
  await ledger.setState({ rolledBack: { ...rolledBack, isRestored: true } });
}

/** Drivers that are written at once. With 60 points each they take 25 ms. */
const writtenAtOnce = 250;

/**
 * Later reads are judged against the snapshot. What was read meanwhile stays, as candidates. A million points take two seconds: whoever leads
 * has to say so meanwhile, or would begin with this for ever.
 */
export async function restoreSnapshot({ buffer }: Pick<Dependencies, 'buffer'>, snapshot: Snapshot): Promise<void> {
  await inTurns(restoring(buffer, snapshot));
}

/** In steps, one for each driver. */
function* restoring(buffer: LocalBuffer, snapshot: Snapshot): Generator<unknown, void> {
  const origins = new Map(snapshot.origins.map((origin) => [origin.id, buffer.parts.addRestoredOrigin(origin)]));
  const writers = new Map<string, { writer: PartWriter; batch: FoldedDriver[] }>();
  for (const packed of snapshot.read()) {
    let open = writers.get(packed.source);
    if (open === undefined) {
      const writer = buffer.parts.begin(packed.source, { name: '', kind: 'snapshot' }, '');
      for (const { id } of partsOf(snapshot, packed.source)) writer.addOrigin(origins.get(id) as number);
      open = { writer, batch: [] };
      writers.set(packed.source, open);
    }
    open.batch.push(renumber(unpackDriver(packed), origins));
    if (open.batch.length >= writtenAtOnce) {
      open.writer.add(open.batch);
      open.batch = [];
    }
    yield;
  }
  for (const source of new Set([...buffer.reads.acceptedSources(), ...writers.keys()])) {
    if (buffer.reads.parts(source, 'candidate') === undefined) {
      const parts = buffer.reads.parts(source, 'accepted')?.filter(({ kind }) => kind === 'part');
      if (parts !== undefined && parts.length > 0) buffer.reads.set(source, 'candidate', parts);
    }
    const open = writers.get(source);
    open?.writer.add(open.batch);
    const read = open?.writer.commit({ version: '', hash: '', revisedAtMs: 0 }, { rows: 0, rejects: 0 });
    buffer.reads.set(source, 'accepted', read === undefined ? [] : [{ id: read.id, carried: false, settled: false }]);
    const summary = yield* summarizingRun(buffer.reads.drivers(source, 'accepted'));
    buffer.reads.keepSummary(source, 'accepted', summary);
  }
}

/** The parts of a source's read. An older snapshot does not say which of several of one name is: the one read last is. */
function partsOf({ origins }: Snapshot, source: string): Iterable<OriginFacts> {
  const parts = new Map<string, OriginFacts>();
  for (const origin of origins) {
    if (origin.source !== source || origin.isPart === false) continue;
    const other = parts.get(origin.name);
    if (other === undefined || other.id < origin.id) parts.set(origin.name, origin);
  }
  return parts.values();
}

function renumber(driver: FoldedDriver, origins: ReadonlyMap<number, number>): FoldedDriver {
  const part = (id: number): number => origins.get(id) ?? id;
  return {
    ...driver,
    pathPlace: { ...driver.pathPlace, part: part(driver.pathPlace.part) },
    cells: driver.cells.map((cell) => ({ ...cell, part: part(cell.part) })),
  };
}
