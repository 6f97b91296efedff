/** What a person is told of a rollback that was tried and not acknowledged, once nothing tries it again. */
import type { Dependencies } from '../dependencies.ts';

/**
 * What the service may have, and what to do about it.
 * @param push the one that was gone back to
 * @returns `undefined` where it was refused, and surely not taken: the answer says all
 */
export async function unsureRollback(
  { address, ledger }: Pick<Dependencies, 'address' | 'ledger'>,
  { push, outcome }: { readonly push: number; readonly outcome: string | undefined },
): Promise<string | undefined> {
  const last = await ledger.pushes.lastAcknowledged(address);
  // Any of its attempts may have been taken, and not only the last one.
  const isUnsure = (await ledger.pushes.maybeTaken(address, last?.digest ?? '')) !== undefined;
  if (outcome === 'refused' && !isUnsure) return undefined;
  const { rolledBack } = await ledger.state();
  const facts = isUnsure
    ? 'the rollback did not take hold for sure: the service may have its snapshot, or the one from before'
    : 'the rollback did not take hold: the service has the snapshot from before';
  const holds =
    rolledBack === undefined
      ? ''
      : `; the rollback to push ${rolledBack.push} holds${isUnsure ? ', and "driver-sync run" pushes that again' : ''}`;
  return `${facts}${holds}. Nothing tries this one again by itself: "driver-sync rollback ${push}" does, and "driver-sync sync" pushes the newest data instead`;
}
