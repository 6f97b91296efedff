/** Rollbacks that people asked for, and what may be sent after one: its body and no other one, until somebody goes on from the sources. */
import type { NewPush } from '../../core/ledger.ts';
import { Violation } from '../promises.ts';

export type BegunPush = Pick<NewPush, 'digest' | 'rollbackOf'> & { readonly id: number };

export class FleetRollback {
  /** The bodies that somebody asked to go back to, by the push that had them first. */
  readonly #asked = new Map<number, string>();
  /** Nobody went on since somebody asked last. */
  #isMeant = false;
  #begun: BegunPush | undefined;
  /** The body of a rollback that the ledger has as acknowledged, as long as nobody went on. */
  #heldTo: string | undefined;

  get isAsked(): boolean {
    return this.#asked.size > 0;
  }

  ask(push: number, digest: string): void {
    this.#asked.set(push, digest);
    this.#isMeant = true;
  }

  goOn(): void {
    this.#isMeant = false;
    this.#heldTo = undefined;
  }

  begun(push: BegunPush): void {
    this.#begun = push;
  }

  /** @returns the push that this body goes back to, where it does @throws Violation */
  sent(machine: string, digest: string): number | undefined {
    const rollbackOf = this.#begun?.rollbackOf;
    if (rollbackOf !== undefined && this.#asked.get(rollbackOf) !== digest)
      throw new Violation(
        'rollback',
        `${machine} goes back to push ${rollbackOf}, and nobody asked for this body of it`,
      );
    if (rollbackOf === undefined && this.#heldTo !== undefined && this.#heldTo !== digest)
      throw new Violation('rollback', `${machine} pushes something else after a rollback`);
    return rollbackOf;
  }

  /** @returns the push that this one went back to, where it did */
  acknowledged(id: number): number | undefined {
    const { digest, rollbackOf } = this.#begun?.id === id ? this.#begun : {};
    if (rollbackOf !== undefined && this.#isMeant) this.#heldTo = digest;
    return rollbackOf;
  }
}
