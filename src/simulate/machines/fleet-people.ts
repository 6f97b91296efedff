/** People who see what is held, and approve it: on any machine, now and then too late. */
import type { Ledger } from '../../core/ledger.ts';
import type { PassReport } from '../../core/report.ts';
import type { WorldClock } from '../world/clock.ts';
import type { FleetChecks, Heard } from './fleet-checks.ts';
import type { Shape } from './fleet-deletes.ts';

/** What a pass has said to be held. */
export interface Shown {
  readonly source: string;
  readonly digest: string;
  readonly deletes: Shape;
}

const forever = new AbortController().signal;

export class FleetPeople {
  readonly #ledger: Ledger;
  readonly #clock: WorldClock;
  readonly #checks: Pick<FleetChecks, 'deletes' | 'rollback'>;
  readonly #heard: Heard;
  readonly #shown = new Map<string, Shown>();

  constructor(ledger: Ledger, clock: WorldClock, checks: Pick<FleetChecks, 'deletes' | 'rollback'>, heard: Heard) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#checks = checks;
    this.#heard = heard;
  }

  /** All that was ever shown, the newest last. */
  get shown(): readonly Shown[] {
    return [...this.#shown.values()];
  }

  see({ sources }: PassReport): void {
    for (const { name, digest, deletes, approvable } of sources) {
      if (digest === undefined || deletes === undefined || approvable !== true) continue;
      this.#heard.mark('held');
      this.#shown.delete(digest);
      this.#shown.set(digest, { source: name, digest, deletes: shapeOfShown(deletes) });
    }
  }

  /** Looks whether it is held still, as `approve` does, and approves it a moment later. */
  approve({ source, digest, deletes }: Shown, afterMs: number): void {
    this.#approve({ source, digest, deletes }, afterMs).catch(this.#heard.broke);
  }

  async #approve({ source, digest, deletes }: Shown, afterMs: number): Promise<void> {
    const { holds } = this.#ledger;
    const isHeld = async (): Promise<boolean> =>
      (await holds.held()).some((one) => one.digest === digest && one.source === source && one.approvable);
    if (!(await isHeld())) return this.#heard.mark('approved what is not held any more: refused');
    await this.#clock.sleep(afterMs, forever);
    this.#heard.mark((await isHeld()) ? 'approved' : 'approved too late');
    this.#checks.deletes.of(source).approved(deletes);
    this.#heard.note(`${digest.slice(0, 12)} of ${source} is approved`);
    await holds.approve(digest, source, this.#clock.now().getTime());
  }

  /** Goes back to one of the pushes that the ledger has as acknowledged. @param which from 0, the first, to below 1 */
  rollBack(which: number): void {
    this.#rollBack(which).catch(this.#heard.broke);
  }

  async #rollBack(which: number): Promise<void> {
    const { pushes, requests, snapshots } = this.#ledger;
    const acknowledged = (await pushes.all()).filter(({ outcome }) => outcome === 'acknowledged');
    const push = acknowledged[Math.floor(which * acknowledged.length)];
    if (push === undefined || !(await snapshots.isKept(push.digest))) return this.#heard.mark('nothing to go back to');
    this.#checks.rollback.ask(push.id, push.digest);
    this.#heard.note(`somebody goes back to push ${push.id}, ${push.digest.slice(0, 12)}`);
    await requests.add({ kind: 'rollback', push: push.id }, this.#clock.now().getTime());
  }

  /** Whether a rollback waits to be carried out. */
  async isRollbackAwaited(): Promise<boolean> {
    return (await this.#ledger.requests.pending()).some(({ request }) => request.kind === 'rollback');
  }

  /** Approves all that is held, once somebody has looked whether that is right. @throws Violation */
  async settle(): Promise<void> {
    for (const { source, digest, approvable } of await this.#ledger.holds.held()) {
      const shown = this.#shown.get(digest);
      const isPending = (await this.#ledger.holds.approvals()).some(
        (one) => one.state === 'pending' && one.digest === digest,
      );
      if (shown === undefined || !approvable || isPending) continue;
      const why = this.#checks.deletes.of(source).whyHeld();
      this.#heard.mark(`held at the end: ${why.replace(/^\d.*/, 'more than may go')}`);
      this.#heard.note(`${source} is held at the end: ${why}`);
      await this.#approve(shown, 0);
    }
  }
}

function shapeOfShown(deletes: NonNullable<PassReport['sources'][number]['deletes']>): Shape {
  return new Map(deletes.map(({ driver, months }) => [driver, new Set(months.map(monthOf))]));
}

function monthOf(text: string): number {
  const [year, month] = text.split('-').map(Number);
  return year! * 12 + month! - 1;
}
