/** How long the passes of an agent break before it should not lead any more. Moments are of its own monotonic clock. */

/** In leases. */
const firstLeases = 3;

export class Patience {
  readonly #leaseMs: number;
  #brokenMs: number | undefined;
  /** Since a pass of it went well while it led: where no agent can push, the lead must not wander for ever. */
  #gaveWay = 0;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** A pass ended. */
  passed({ isBroken, isLeading }: { readonly isBroken: boolean; readonly isLeading: boolean }, nowMs: number): void {
    this.#brokenMs = isBroken ? (this.#brokenMs ?? nowMs) : undefined;
    if (!isBroken && isLeading) this.#gaveWay = 0;
  }

  /** The next time takes twice as long. */
  gaveWay(): void {
    this.#gaveWay++;
  }

  isOver(nowMs: number): boolean {
    return this.#brokenMs !== undefined && nowMs - this.#brokenMs >= firstLeases * this.#leaseMs * 2 ** this.#gaveWay;
  }
}
