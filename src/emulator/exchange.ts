/** One request to the service, from its body to its answer. All routes of the driver push and of model routing use it. */
import { randomUUID } from 'node:crypto';
import { receiveBody } from './body.ts';
import type { Receiving } from './body.ts';
import { playFault } from './faults.ts';
import type { DrawnFault } from './faults.ts';
import { KeptBody } from './kept-body.ts';
import type { Entry } from './request-log.ts';

export interface ExchangeContext {
  readonly record: Entry;
  readonly fault: DrawnFault | undefined;
  readonly bodyBytesMax: number;
  /** How much of a body the request log keeps. */
  readonly keptBytesMax: number;
  /** Aborted, with what the request then fails with, when the emulator is closed or what it holds is replaced. */
  readonly ending: AbortSignal;
  /** Writes the record as it is now. */
  readonly save: (record: Entry) => void;
}

/** What a route decides of a body that it receives. */
export interface OwnOfRoute extends Pick<Receiving, 'unreadable'> {
  /** Its own limit, if that is lower than the emulator's. */
  readonly bytesMax?: number;
}

export class Exchange {
  readonly record: Entry;
  /** Sent with the answer as `x-request-id`. */
  readonly requestId = randomUUID();
  readonly #request: Request;
  readonly #context: ExchangeContext;

  constructor(request: Request, context: ExchangeContext) {
    this.record = context.record;
    this.#request = request;
    this.#context = context;
  }

  /**
   * Receives the whole body, even if the answer is known already or a fault will be played. The sender of the answer reads
   * the rest of a body that is refused.
   * @returns the refusal if the body cannot be received.
   */
  async receive(take: Receiving['take'], own: OwnOfRoute = {}): Promise<Response | undefined> {
    const { bodyBytesMax, keptBytesMax, ending: signal, fault } = this.#context;
    const kept = new KeptBody(keptBytesMax);
    this.record.request = kept;
    const bytesMax = Math.min(bodyBytesMax, own.bytesMax ?? Infinity);
    const { bytes, sha256, refusal } = await receiveBody(this.#request, {
      bytesMax,
      signal,
      bytesPerSecond: fault?.slowRead?.bytesPerSecond,
      unreadable: own.unreadable,
      take: (chunk) => {
        kept.add(chunk);
        take(chunk);
      },
    });
    this.checkUnderWay();
    this.record.bytes = bytes;
    this.record.digest = sha256;
    this.#context.save(this.record);
    return refusal;
  }

  /** Runs `act` and answers, unless a fault changes that. Nothing outside of `act` may change what the service holds. */
  async settle(act: () => Response | Promise<Response>): Promise<Response> {
    const { fault, ending, save } = this.#context;
    const actAndSave = async (): Promise<Response> => {
      this.checkUnderWay();
      const response = await act();
      this.checkUnderWay();
      // Saved before a fault holds the answer back.
      save(this.record);
      return response;
    };
    // The request's signal is created lazily: it costs a controller, and only a waiting fault needs it.
    return playFault(fault, { act: actAndSave, left: () => this.#request.signal, ending });
  }

  /**
   * Whoever waits within `act` calls it before changing anything.
   * @throws ConnectionDropped where the emulator was closed, or what it holds was replaced, since the request arrived.
   */
  checkUnderWay(): void {
    this.#context.ending.throwIfAborted();
  }

  /** For answers that do not depend on the body. */
  async answer(act: () => Response): Promise<Response> {
    const refusal = await this.receive(() => {});
    return this.settle(() => refusal ?? act());
  }
}
