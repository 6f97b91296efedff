/** What `systemctl status` shows of the daemon: one line, in words. */
import { nextPushOf } from '../app/loop/next-push.ts';
import type { Dependencies } from '../app/dependencies.ts';
import type { PassReport } from '../core/report.ts';
import { count } from '../core/text.ts';
import { type Now, showMoment } from '../core/time/spoken.ts';

export async function statusText(deps: Dependencies, report: PassReport): Promise<string> {
  const { address, clock, ledger, settings } = deps;
  const now: Now = { nowMs: clock.now().getTime(), timezone: settings.timezone };
  const last = await ledger.pushes.lastAcknowledged(address);
  const held = (await ledger.holds.held()).map(({ source }) => source);
  const next = await nextPushOf(deps);
  const { outcome, reason = '' } = report;
  const isWell = outcome === 'acknowledged' || outcome === 'unchanged';
  const unread = report.sources.filter(({ state }) => state === 'unread').map(({ name }) => name);
  return [
    ...(isWell ? [] : [`${outcome}: ${reason}`]),
    ...(held.length === 0 ? [] : [`held: ${held.join(', ')}`]),
    ...(unread.length === 0 ? [] : [`not read: ${unread.join(', ')}`]),
    last === undefined
      ? 'nothing acknowledged yet'
      : `${count(last.drivers, 'driver')} acknowledged ${showMoment(last.endedAtMs ?? last.atMs, now)}`,
    ...(next === undefined ? [] : [`next push ${next.atMs <= now.nowMs ? 'now' : showMoment(next.atMs, now)}`]),
  ].join('; ');
}
