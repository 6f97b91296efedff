import { openState } from '../compose/state.ts';
import type { PushRecord } from '../core/stores.ts';
import { type Context, answer, commandLog, loadSettings } from './context.ts';
import { showBytes, showCounts, table } from './text.ts';

/** All pushes, newest first. */
export function history(context: Context): number {
  using state = openState(loadSettings(context, 'optional'), commandLog(context));
  const pushes = state.deps.ledger.pushes().map(pushRow);
  answer(context, { pushes }, () =>
    pushes.length === 0 ? ['nothing was pushed yet: "driver-sync sync" does'] : showPushes(pushes),
  );
  return 0;
}

function pushRow(push: PushRecord) {
  const { id, atMs, outcome, digest, drivers, points, bytes, changes, address, rollbackOf, status, detail } = push;
  const at = new Date(atMs).toISOString();
  return {
    id,
    at,
    outcome: outcome ?? 'unknown',
    digest,
    drivers,
    points,
    bytes,
    changes,
    address,
    rollbackOf,
    status,
    detail,
  };
}

function showPushes(pushes: readonly ReturnType<typeof pushRow>[]): string[] {
  const failures = pushes.flatMap(({ id, outcome, detail }) =>
    outcome === 'acknowledged' || detail === undefined ? [] : [`push ${id} ${outcome}: ${detail}`],
  );
  const all = table(
    [
      ['push', 'right'],
      ['at', 'left'],
      ['outcome', 'left'],
      ['drivers', 'right'],
      ['points', 'right'],
      ['bytes', 'right'],
      ['drivers changed', 'left'],
      ['points changed', 'left'],
      ['digest', 'left'],
    ],
    pushes.map((push) => [
      String(push.id),
      push.at,
      push.rollbackOf === undefined ? push.outcome : `${push.outcome} (rollback to ${push.rollbackOf})`,
      String(push.drivers),
      String(push.points),
      showBytes(push.bytes),
      showCounts(push.changes.drivers),
      showCounts(push.changes.points),
      push.digest.slice(0, 12),
    ]),
  );
  return [...all, ...failures];
}
