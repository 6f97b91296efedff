/** One request to the service on its way from the body to the answer. What all routes of both areas have in common. */
import { randomUUID } from 'node:crypto';
import { receiveBody } from './body.ts';
import { playFault } from './faults.ts';
import type { Fault } from './fault-schema.ts';
import type { RequestRecord } from './request-record.ts';

export interface ExchangeContext {
  readonly record: RequestRecord;
  readonly fault: Fault | undefined;
  readonly bodyBytesMax: number;
  readonly closing: AbortSignal;
  /** Keeps what is known of the request by now. */
  readonly save: (record: RequestRecord) => void;
}

export class Exchange {
  readonly record: RequestRecord;
  /** Sent along with the answer as `x-request-id`. */
  readonly requestId = randomUUID();
  readonly #request: Request;
  readonly #context: ExchangeContext;

  constructor(request: Request, context: ExchangeContext) {
    this.record = context.record;
    this.#request = request;
    this.#context = context;
  }

  /**
   * Receives the whole body, also where the answer is clear already, and so too before a fault is played. Of one that
   * cannot be received the rest is read by whoever sends the answer.
   * @param bytesMaxOfRoute where the route takes less than the emulator does.
   * @returns the answer where the body cannot be received.
   */
  async receive(take: (chunk: Uint8Array) => void, bytesMaxOfRoute = Infinity): Promise<Response | undefined> {
    const { bodyBytesMax, closing: signal } = this.#context;
    const bytesMax = Math.min(bodyBytesMax, bytesMaxOfRoute);
    const { bytes, sha256, refusal } = await receiveBody(this.#request, { bytesMax, signal, take });
    this.record.bytes = bytes;
    this.record.sha256 = sha256;
    this.#context.save(this.record);
    return refusal;
  }

  /** Does `act` and answers, unless a fault has it otherwise. Nothing may be changed outside of `act`. */
  async settle(act: () => Response | Promise<Response>): Promise<Response> {
    const { fault, closing, save } = this.#context;
    const actAndSave = async (): Promise<Response> => {
      const response = await act();
      // A fault may keep the answer back for long.
      save(this.record);
      return response;
    };
    // Its own signal costs a controller, which only a fault that waits has use for.
    return playFault(fault, { act: actAndSave, left: () => this.#request.signal, closing });
  }

  /** For answers that need nothing of the body. */
  async answer(act: () => Response): Promise<Response> {
    const refusal = await this.receive(() => {});
    return this.settle(() => refusal ?? act());
  }
}
