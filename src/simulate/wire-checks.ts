/** Holds what is sent to the service, and what lands there, against what is accepted. */
import { type SentBody, type SentPoints, readBody, showMonth } from './body.ts';
import type { Checks } from './checks.ts';
import { LeftOut } from './left-out.ts';
import { Violation } from './promises.ts';
import type { Landing } from './world/receiver.ts';

export class WireChecks {
  readonly #checks: Checks;
  readonly #bodies = new Map<string, SentBody>();
  /** What pushes that deleted nothing have left at the service. */
  readonly leftOut = new LeftOut();
  /** The body that somebody asked for with `rollback`, until somebody goes on. */
  rollbackTo: string | undefined;
  #isRolledBack = false;
  #isTried = false;
  /** The body of a rollback that no pass had tried when somebody went on from the sources: it may be sent once. */
  #mayStillGo: string | undefined;
  /** The body of a rollback that was ended by somebody who went on, as long as nothing shows that the process heard so. */
  #unheard: string | undefined;
  /** The process was killed after that, and nobody knows whether it heard so: an equal snapshot may be sent as the newest one. */
  #isDoubtful = false;
  lastAcknowledged: string | undefined;
  /** What the service holds. */
  landed: Landing | undefined;

  constructor(checks: Checks) {
    this.#checks = checks;
  }

  askRollback(digest: string): void {
    this.rollbackTo = digest;
    this.#isTried = false;
    this.#isDoubtful = false;
  }

  /** Somebody goes on from the sources. */
  resume(): void {
    if (this.rollbackTo !== undefined && !this.#isTried) this.#mayStillGo = this.rollbackTo;
    this.#unheard = this.rollbackTo ?? this.#unheard;
    this.rollbackTo = undefined;
    this.#isRolledBack = false;
  }

  /** The process was killed, perhaps before it heard that somebody goes on: then the rollback is still to be carried out. */
  killed(): void {
    if (this.rollbackTo === undefined) {
      this.rollbackTo = this.#mayStillGo ?? this.#unheard;
      this.#isDoubtful = true;
    }
    this.#mayStillGo = undefined;
  }

  /** A body leaves for the service. @param inFlight how many of the same process are on their way */
  sent(digest: string, text: string, inFlight: number): void {
    if (inFlight > 0) throw new Violation('one', 'a second push was begun while one was on its way');
    if (this.#isRolledBack && digest !== this.rollbackTo)
      throw new Violation('rollback', 'something else was pushed after a rollback');
    const known = this.#bodies.get(digest);
    const body = known ?? this.#read(digest, text);
    this.#isTried ||= digest === this.rollbackTo;
    if (known === undefined || ![this.lastAcknowledged, this.rollbackTo, this.#mayStillGo].includes(digest)) {
      const fault = this.#difference(body.points);
      if (fault !== undefined)
        throw known === undefined
          ? fault
          : new Violation('order', `an older snapshot was sent after a newer one: ${fault.message}`);
    }
    // Whoever goes back to a push means what it holds.
    if (digest !== this.rollbackTo && digest !== this.#mayStillGo) this.leftOut.sent(body, this.#checks.settings);
    if (digest === this.#mayStillGo) this.#mayStillGo = undefined;
    if (digest !== this.#unheard) this.#unheard = undefined;
  }

  #read(digest: string, text: string): SentBody {
    const body = readBody(text);
    const { shouldDeleteMissing, points } = body;
    const { settings, all, isEmptyMeant } = this.#checks;
    if (shouldDeleteMissing && !settings.shouldDeleteMissing)
      throw new Violation(
        'evidence',
        'a snapshot was sent that deletes what it leaves out, and nothing may be deleted',
      );
    if (shouldDeleteMissing && points.size === 0 && !isEmptyMeant)
      throw new Violation('empty', 'an empty snapshot was sent, and nobody approved it');
    const missing = settings.sources.find(({ name }) => !all.has(name));
    if (missing !== undefined && this.lastAcknowledged === undefined && shouldDeleteMissing)
      throw new Violation('first', `the first push went without source "${missing.name}"`);
    this.#bodies.set(digest, body);
    return body;
  }

  /** The ledger has it that the service took this body. @param isRollback and that somebody asked to go back to it */
  acknowledged(digest: string, isRollback: boolean): void {
    this.lastAcknowledged = digest;
    const body = this.#bodies.get(digest);
    if (body !== undefined) this.leftOut.acknowledged(body);
    this.#checks.restoresTo = digest;
    if (digest === this.rollbackTo && (isRollback || !this.#isDoubtful)) this.#isRolledBack = true;
  }

  /** A body lands. @param isGuarded it landed within the time that the agent waits for it */
  land(landing: Landing, isGuarded: boolean): void {
    const before = this.landed;
    if (isGuarded && before !== undefined && before.request > landing.request && before.digest !== landing.digest)
      throw new Violation(
        'waits',
        `an older push landed after a newer one, ${Math.round(landing.lateMs / 1000)} s after it was given up`,
      );
    this.landed = landing;
  }

  /** Whether the service holds what every source has accepted. */
  isServed(): boolean {
    const body = this.landed === undefined ? undefined : this.#bodies.get(this.landed.digest);
    return body !== undefined && this.#difference(body.points) === undefined;
  }

  /** The agent says that the service has what every source has accepted: it was acknowledged, whatever landed after it. */
  saidServed(): void {
    const body = this.#bodies.get(this.lastAcknowledged ?? '');
    const fault = body && this.#difference(body.points);
    if (fault !== undefined)
      throw new Violation('arrives', `nothing more is pushed, and what was pushed is older: ${fault.message}`);
  }

  /** Every digit, and nothing beside them. */
  #difference(points: SentPoints): Violation | undefined {
    const sources = [...this.#checks.all.values()];
    if (sources.some(({ isBlurred }) => isBlurred)) return undefined;
    let expected = 0;
    for (const { points: drivers } of sources) {
      for (const [driver, months] of drivers) {
        const sent = points.get(driver);
        for (const [month, texts] of months) {
          expected++;
          const value = sent?.get(month);
          if (value === undefined)
            return new Violation('whole', `"${driver}" ${showMonth(month)} was left out of a snapshot`);
          if (!texts.includes(value))
            return new Violation(
              'digits',
              `"${driver}" ${showMonth(month)} is ${texts.join(' or ')}, and ${value} was sent`,
            );
        }
      }
    }
    let sent = 0;
    for (const months of points.values()) sent += months.size;
    return sent === expected
      ? undefined
      : new Violation('whole', `${sent} points were sent, and the sources have ${expected}`);
  }
}
