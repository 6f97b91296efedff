/** The service that all machines push to, and the network before it: what was given to it whole lands within the timeout, or never. */
import { isAgentError } from '../../core/errors.ts';
import type { Clock, Destination, PushResult, SnapshotBody } from '../../core/ports.ts';
import type { Entropy } from '../entropy.ts';
import type { WorldClock } from '../world/clock.ts';
import type { FleetChecks, Sent } from './fleet-checks.ts';
import type { Pushing } from './shared-part.ts';

/** What becomes of one body. */
export interface Fate {
  /** After its last bytes; `undefined`: never. */
  readonly landsAfterMs: number | undefined;
  readonly isAnswered: boolean;
}

const plain: Fate = { landsAfterMs: 200, isAnswered: true };
const forever = new AbortController().signal;

interface Sender {
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly isGone: () => boolean;
}

export class Network {
  readonly #clock: WorldClock;
  readonly #entropy: Entropy;
  readonly #checks: FleetChecks;
  fates: Fate[] = [];
  /** How long a body takes but for its last bytes, at most. */
  uploadMs = 0;
  #requests = 0;

  constructor(clock: WorldClock, entropy: Entropy, checks: FleetChecks) {
    this.#clock = clock;
    this.#entropy = entropy;
    this.#checks = checks;
  }

  destination(machine: Pushing, sender: Sender): Destination {
    return {
      push: (body, signal, confirm) => this.#push({ machine, body, signal, confirm }, sender),
      probe: () => Promise.reject(new Error('nobody tries the address of the simulated service')),
    };
  }

  async #push(
    one: {
      readonly machine: Pushing;
      readonly body: SnapshotBody;
      readonly signal: AbortSignal;
      readonly confirm: (() => Promise<void>) | undefined;
    },
    { timeoutMs, clock, isGone }: Sender,
  ): Promise<PushResult> {
    const { machine, body, signal, confirm } = one;
    const text = await textOf(body);
    try {
      await clock.sleep(this.uploadMs * this.#entropy.of('upload', ++this.#requests), signal);
      await confirm?.();
    } catch (error) {
      if (!signal.aborted && !isAgentError(error)) throw error;
      this.#checks.brokenOff();
      return { outcome: 'unreachable', maybeTaken: false, detail: 'broken off before its last bytes' };
    }
    if (isGone()) return new Promise<never>(() => undefined);
    const sent = this.#checks.sent(machine, body.digest, text);
    const { landsAfterMs, isAnswered } = this.fates.shift() ?? plain;
    if (landsAfterMs === undefined) this.#checks.lost(sent);
    else void this.#clock.sleep(landsAfterMs, forever).then(() => this.#checks.land(sent));
    return this.#answer(sent, { afterMs: isAnswered ? landsAfterMs : undefined, timeoutMs, clock, signal });
  }

  async #answer(
    { digest }: Sent,
    wait: Pick<Sender, 'timeoutMs' | 'clock'> & { readonly afterMs: number | undefined; readonly signal: AbortSignal },
  ): Promise<PushResult> {
    const { afterMs = Infinity, timeoutMs, clock, signal } = wait;
    try {
      // The answer comes in the time of the service, and is waited for in that of the machine.
      if (afterMs < timeoutMs) await this.#clock.sleep(afterMs, signal);
      await clock.sleep(afterMs < timeoutMs ? 0 : timeoutMs, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      return { outcome: 'unknown', maybeTaken: true, detail: 'the agent was stopped while it waited for the answer' };
    }
    if (afterMs < timeoutMs) return { outcome: 'acknowledged', status: 200, maybeTaken: false };
    return { outcome: 'unknown', maybeTaken: true, detail: `no answer to ${digest.slice(0, 8)}` };
  }
}

async function textOf(body: SnapshotBody): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
