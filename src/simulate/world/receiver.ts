/** The service of the simulated world, and the network before it: it may answer late, twice or never, and land what was given up. */
import type { Destination, PushResult, SnapshotBody } from '../../core/ports.ts';
import type { Plug } from './plug.ts';
import type { WorldClock } from './clock.ts';

/** What becomes of one request. */
export type Answer =
  | { readonly kind: 'taken'; readonly afterMs: number }
  /** Taken, and the answer is lost. */
  | { readonly kind: 'unanswered' }
  /** Held back on the way: it lands so long after the agent gave it up. */
  | { readonly kind: 'late'; readonly afterMs: number }
  /** The connection breaks, and nothing arrived. */
  | { readonly kind: 'dropped' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterMs?: number; readonly isTaken: boolean };

/** A body that the service has taken. */
export interface Landing {
  readonly digest: string;
  readonly text: string;
  /** By the clock that never jumps. */
  readonly atMs: number;
  /** Which request brought it, counted from 1. */
  readonly request: number;
  readonly sentAtMs: number;
  /** So long after the agent gave it up; 0: it waits still. */
  readonly lateMs: number;
  /** The process that sent it was gone before it gave it up, or was answered. */
  readonly isOrphan: boolean;
}

interface Request extends Pick<Landing, 'digest' | 'text' | 'request' | 'sentAtMs'> {
  readonly plug: Plug;
}

export interface ReceiverListener {
  sent(digest: string, text: string, inFlight: number): void;
  landed(landing: Landing): void;
  answered(result: PushResult): void;
}

export class Receiver {
  readonly #clock: WorldClock;
  readonly #listener: ReceiverListener;
  readonly #answers: Answer[] = [];
  #requests = 0;
  readonly #forever = new AbortController().signal;

  constructor(clock: WorldClock, listener: ReceiverListener) {
    this.#clock = clock;
    this.#listener = listener;
  }

  /** For the next request but those that have an answer already. */
  willAnswer(answer: Answer): void {
    this.#answers.push(answer);
  }

  /** No fault is to come any more. What is on its way lands all the same. */
  heal(): void {
    this.#answers.length = 0;
  }

  /** As one process sees the service. */
  destination(timeoutMs: number, plug: Plug): Destination {
    let inFlight = 0;
    return {
      push: async (body, signal) => {
        plug.check();
        const text = await textOf(body);
        plug.check();
        this.#listener.sent(body.digest, text, inFlight++);
        const request = {
          digest: body.digest,
          text,
          request: ++this.#requests,
          sentAtMs: this.#clock.monotonicMs(),
          plug,
        };
        try {
          const result = await this.#answer(this.#answers.shift() ?? { kind: 'taken', afterMs: 200 }, {
            body: request,
            timeoutMs,
            signal,
          });
          plug.check();
          this.#listener.answered(result);
          return result;
        } catch (error) {
          if (!signal.aborted) throw error;
          return {
            outcome: 'unknown',
            maybeTaken: true,
            detail: 'the agent was stopped while it waited for the answer',
          };
        } finally {
          inFlight--;
        }
      },
      probe: () => Promise.reject(new Error('nobody tries the address of the simulated service')),
    };
  }

  async #answer(
    answer: Answer,
    sent: {
      readonly body: Request;
      readonly timeoutMs: number;
      readonly signal: AbortSignal;
    },
  ): Promise<PushResult> {
    const { body, timeoutMs, signal } = sent;
    const silence = { outcome: 'unknown', maybeTaken: true, detail: `no answer within ${timeoutMs / 1000} s` } as const;
    switch (answer.kind) {
      case 'taken':
        await this.#clock.sleep(answer.afterMs, signal);
        this.#land(body);
        return { outcome: 'acknowledged', status: 200, maybeTaken: false };
      case 'unanswered':
        this.#land(body);
        await this.#clock.sleep(timeoutMs, signal);
        return silence;
      case 'late': {
        await this.#clock.sleep(timeoutMs, signal);
        const late = { lateMs: answer.afterMs, isOrphan: body.plug.isPulled };
        void this.#clock.sleep(answer.afterMs, this.#forever).then(() => this.#land(body, late));
        return silence;
      }
      case 'dropped':
        await this.#clock.sleep(1000, signal);
        return { outcome: 'unknown', maybeTaken: true, detail: 'the connection was reset' };
      case 'unreachable':
        return { outcome: 'unreachable', maybeTaken: false, detail: 'the connection was refused' };
      case 'status':
        if (answer.isTaken) this.#land(body);
        return resultOf(answer.status, answer.retryAfterMs);
    }
  }

  #land({ plug, ...body }: Request, late: Pick<Landing, 'lateMs' | 'isOrphan'> = inTime(plug)): void {
    this.#listener.landed({ ...body, atMs: this.#clock.monotonicMs(), ...late });
  }
}

const inTime = ({ isPulled }: Plug) => ({ lateMs: 0, isOrphan: isPulled });

/** What a status means for a push, as docs/SERVICE.md has it. */
function resultOf(status: number, retryAfterMs: number | undefined): PushResult {
  const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
  const detail = `the service answered ${status}`;
  if (status === 408 || status === 503) {
    return { outcome: 'unreachable', status, detail, maybeTaken: true, ...asked };
  }
  if (status === 425 || status === 429) return { outcome: 'unreachable', status, detail, maybeTaken: false, ...asked };
  if (status >= 500) return { outcome: 'unknown', status, detail, maybeTaken: true, ...asked };
  return { outcome: 'refused', status, detail, maybeTaken: status < 300, ...asked };
}

async function textOf(body: SnapshotBody): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
