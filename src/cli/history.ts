import { type Decision, whatOf } from '../app/ask/decisions.ts';
import { type ReportedPush, historyReport } from '../app/ask/history-report.ts';
import { openState } from '../compose/state.ts';
import { showBytes } from '../core/size.ts';
import { type Context, answer, commandLog, loadSettings } from './context.ts';
import { showState, showWho } from './decided.ts';
import { showCounts, table } from './text.ts';

/** All pushes, and what people decided, newest first. */
export async function history(context: Context): Promise<number> {
  await using state = await openState(loadSettings(context, 'optional'), commandLog(context));
  const report = await historyReport(state.deps);
  const { pushes, decisions } = report;
  answer(context, report, () => [
    ...(pushes.length === 0
      ? ['nothing was pushed yet: "driver-sync sync" does']
      : showPushes(pushes, state.deps.address)),
    ...showDecisions(decisions),
  ]);
  return 0;
}

function showDecisions(decisions: readonly Decision[]): string[] {
  if (decisions.length === 0) return [];
  const lines = table(
    [
      ['decided at', 'left'],
      ['by', 'left'],
      ['what', 'left'],
      ['came to', 'left'],
      ['reason', 'left'],
    ],
    decisions.map((one) => [one.at, showWho(one), whatOf(one), showState(one), one.reason ?? '']),
  );
  return ['', ...lines];
}

/** Attempts of one snapshot that failed alike, one after another; the newest stands first. */
interface Attempts {
  readonly newest: ReportedPush;
  oldest: ReportedPush;
  count: number;
}

/** An hour in which the service cannot be reached is one line. `--json` has every attempt. */
function foldAttempts(pushes: readonly ReportedPush[]): Attempts[] {
  const folded: Attempts[] = [];
  for (const push of pushes) {
    const last = folded.at(-1);
    if (last !== undefined && push.outcome !== 'acknowledged' && isSameAttempt(last.newest, push)) {
      last.oldest = push;
      last.count++;
    } else folded.push({ newest: push, oldest: push, count: 1 });
  }
  return folded;
}

function isSameAttempt(a: ReportedPush, b: ReportedPush): boolean {
  return a.digest === b.digest && a.outcome === b.outcome && a.address === b.address && a.rollbackOf === b.rollbackOf;
}

/** @param address that of the config */
function showPushes(pushes: readonly ReportedPush[], address: string): string[] {
  const folded = foldAttempts(pushes);
  const failures = folded.flatMap(({ newest: { id, outcome, detail } }) =>
    outcome === 'acknowledged' || detail === undefined ? [] : [`push ${id} ${outcome}: ${detail}`],
  );
  // Mostly all went to the one that the config names.
  const isElsewhere = pushes.some((push) => push.address !== address);
  const all = table(
    [
      ['push', 'right'],
      ['at', 'left'],
      ['outcome', 'left', 'state'],
      ['drivers', 'right'],
      ['points', 'right'],
      ['bytes', 'right'],
      ['drivers changed', 'left'],
      ['points changed', 'left'],
      ['digest', 'left'],
      ...(isElsewhere ? [['address', 'left'] as const] : []),
    ],
    folded.map(({ newest, oldest, count }) => [
      count === 1 ? String(newest.id) : `${oldest.id}-${newest.id}`,
      newest.at,
      showOutcome(newest, count),
      String(newest.drivers),
      String(newest.points),
      showBytes(newest.bytes),
      showCounts(newest.changes.drivers),
      showCounts(newest.changes.points),
      newest.digest.slice(0, 12),
      ...(isElsewhere ? [newest.address] : []),
    ]),
  );
  return [...all, ...failures];
}

function showOutcome({ outcome, rollbackOf }: ReportedPush, attempts: number): string {
  const times = attempts === 1 ? '' : `, ${attempts} attempts`;
  return rollbackOf === undefined ? `${outcome}${times}` : `${outcome}${times} (rollback to ${rollbackOf})`;
}
