/** Why nothing may be pushed: a rollback holds, a first push is not whole or not approved, or a snapshot is empty. */
import { allowedDeletes } from '../../core/guard/guard.ts';
import type { Snapshot } from '../../core/ledger.ts';
import type { Dependencies } from '../dependencies.ts';
import { loopState } from '../loop-record.ts';
import { allPoints, firstPushTo } from '../review/approvals.ts';
import type { PushReport } from './push-report.ts';
import { whyLeftOut } from './served.ts';

/** Whether the next push is the first that deletes what it leaves out: what the address holds until then nobody knows. */
export async function isFirstPush({ ledger, settings, address }: Dependencies): Promise<boolean> {
  if (!settings.shouldDeleteMissing) return false;
  // Whatever a push left out that did not delete is still there, and no read that was accepted meanwhile counted it.
  return (await ledger.pushes.lastAcknowledged(address))?.shouldDeleteMissing !== true;
}

/** Why nothing may be pushed yet; `undefined` where it may. */
export async function blockedReason(deps: Dependencies): Promise<{ reason: string; hint?: string } | undefined> {
  const { ledger, buffer, settings } = deps;
  const { rolledBack } = await ledger.state();
  if (rolledBack !== undefined) return rollbackBlock(rolledBack.push);
  if (!settings.shouldDeleteMissing) return undefined;
  const isFirst = await isFirstPush(deps);
  // A buffer that was lost together with its snapshot knows nothing of what unread sources had.
  if (!isFirst && buffer.state().isBare !== true) return undefined;
  const accepted = new Set(buffer.reads.acceptedSources());
  const missing = settings.sources.map(({ name }) => name).filter((name) => !accepted.has(name));
  if (missing.length === 0) return undefined;
  return {
    reason: `the ${isFirst ? 'first push' : 'push from a new buffer'} waits for ${await listWaiting(deps, missing)}`,
    hint: 'it deletes every driver that is not in it, so it has to be whole',
  };
}

/** Why nothing may be pushed while a rollback holds. */
export function rollbackBlock(push: number): { reason: string; hint: string } {
  return { reason: `rolled back to push ${push}`, hint: '"driver-sync sync" or SIGUSR2 goes on from the sources' };
}

/** The same, and what the last pass that was to push found: an empty snapshot, or a first push that nobody has approved. */
export async function standingBlock(
  deps: Dependencies,
): Promise<{ reason: string; hint?: string | undefined } | undefined> {
  const { isRefused = true, reason = '', hint } = (await loopState(deps)).stopped ?? {};
  return (await blockedReason(deps)) ?? (isRefused ? undefined : { reason, hint });
}

async function listWaiting({ ledger }: Dependencies, sources: readonly string[]): Promise<string> {
  const held = new Set((await ledger.holds.held()).map(({ source }) => source));
  return sources.map((name) => `"${name}" (${held.has(name) ? 'held' : 'not read yet'})`).join(', ');
}

/**
 * Reads of a buffer that was lost together with its snapshot were judged against nothing. Of what the service has, only its size is known.
 * @returns `undefined` where there is no less than `guard.maxDeletes` lets go
 */
async function whyLess(
  { buffer, ledger, settings, address }: Dependencies,
  now: Snapshot,
): Promise<string | undefined> {
  const last = buffer.state().isBare === true ? await ledger.pushes.lastAcknowledged(address) : undefined;
  if (last === undefined) return undefined;
  const unit = (['drivers', 'points'] as const).find(
    (one) => last[one] - now[one] > allowedDeletes(last[one], settings.guard),
  );
  return (
    unit &&
    `the buffer is new and the snapshot of push ${last.id} cannot be read, which had ${last[unit]} ${unit} where this one has ${now[unit]}`
  );
}

/**
 * With `firstPush: approve`, for a snapshot without drivers, and for one that lacks much of what the address is known to have, where no read
 * was held for it, the snapshot itself has to be approved.
 */
export async function snapshotBlock(deps: Dependencies, snapshot: Snapshot): Promise<PushReport | undefined> {
  const { ledger, settings, address, clock } = deps;
  if (!settings.shouldDeleteMissing) return undefined;
  const { emptyConsent, doubt } = await ledger.state();
  const isConsented = emptyConsent?.digest === snapshot.digest && emptyConsent.address === address;
  // A consent is for one empty snapshot: it ends with it.
  if (snapshot.drivers > 0) {
    if (emptyConsent !== undefined) await ledger.setState({ emptyConsent: undefined });
  } else if (!isConsented) {
    const reason = 'the snapshot is empty and would delete every driver of the service';
    const hint = 'put the data back; if all of it is meant to go, write the empty export anew and approve that read';
    return { outcome: 'blocked', reason, hint };
  }
  const isFirst = settings.guard.firstPush === 'approve' && (await isFirstPush(deps));
  const why = doubt?.why ?? (await whyLess(deps, snapshot)) ?? (await whyLeftOut(deps, snapshot));
  if (!isFirst && why === undefined) return undefined;
  const points = allPoints(snapshot.readPoints());
  const firstPush = firstPushTo(address);
  const approval = (await ledger.holds.approvals()).find(
    ({ state, source }) => state === 'pending' && source === firstPush,
  );
  if (approval !== undefined) {
    const missing = [...(await ledger.holds.approvedScope(approval.id)).deletes].some(([driver, months]) => {
      const present = new Set(points.get(driver));
      return months.some((month) => !present.has(month));
    });
    if (!missing) return undefined;
    await ledger.holds.closeApproval(
      approval.id,
      'dropped',
      'a newer snapshot would delete more than the approved one',
    );
  }
  const deletes = `it deletes every driver that is not among its ${snapshot.drivers}`;
  const reason =
    why === undefined
      ? `the first push to ${address} waits for approval; ${deletes}`
      : `the next push to ${address} waits for approval, as a first one does: ${why}; ${deletes}`;
  const held = { source: firstPush, digest: snapshot.digest, reason, hint: 'see "driver-sync plan"', approvable: true };
  const scope = { deletes: points, moved: new Map(), carried: [], findings: [], isEnd: false };
  await ledger.holds.hold(held, scope, clock.now().getTime());
  return { outcome: 'blocked', reason, hint: `driver-sync approve ${snapshot.digest.slice(0, 12)}` };
}
