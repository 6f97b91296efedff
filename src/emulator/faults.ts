/** Faults on demand. They queue up; each meets the next requests that it is for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { faultSchema, isAimedAt, isForTask } from '../contract/fault-script.ts';
import type { Delay, Fault, FaultScript } from '../contract/fault-script.ts';
import { refuse } from './answers.ts';
import { ConnectionDropped } from './connection.ts';
import { Dice } from './dice.ts';
import { invalidAt, notFound } from './routing/refusal.ts';
import type { Ending } from './routing/tasks.ts';

/** A fault for one request, with its delay drawn. */
export type DrawnFault = Omit<Fault, 'delayMs'> & { readonly delayMs: number };

/** The faults that wait, and the chances of what follows. */
export interface QueueState {
  readonly queue: readonly Queued[];
  readonly dice: Dice;
}

/** A fault that waits has a name. */
export interface WaitingFault extends Fault {
  readonly id: string;
}

/** A fault in its place, to be put back there. */
export interface PlacedFault {
  readonly queued: Queued;
  readonly index: number;
}

interface Queued {
  readonly fault: WaitingFault;
  /** UNIX ms by the clock of the queue. */
  readonly orderedMs: number;
}

/** What a fault may be for. */
interface Arrived {
  readonly method: string;
  readonly path: string;
}

export class FaultQueue {
  readonly #nowMs: () => number;
  #queue: readonly Queued[] = [];
  #dice = new Dice(1);
  /** Those that have no name are numbered in the order in which they came. */
  #numbered = 0;

  /** @param nowMs the time that `fromSeconds` and `untilSeconds` go by. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** In the order of use. */
  get pending(): readonly WaitingFault[] {
    this.#dropPassed();
    return this.#queue.map(({ fault }) => fault);
  }

  /** Behind those that wait; one whose name waits already takes the place of that one. */
  add(faults: readonly Fault[]): void {
    const orderedMs = this.#nowMs();
    const queue = new Map(this.#queue.map((queued) => [queued.fault.id, queued]));
    for (const { id = this.#freeNumber(queue), ...fault } of faults) {
      queue.set(id, { fault: { id, ...fault }, orderedMs });
    }
    this.#queue = [...queue.values()];
  }

  /** @throws Refusal 404 */
  placed(id: string): PlacedFault {
    this.#dropPassed();
    const index = this.#queue.findIndex(({ fault }) => fault.id === id);
    const queued = this.#queue[index];
    if (queued === undefined) throw notFound(`no fault ${id} waits`);
    return { queued, index };
  }

  /** Merges changes into a fault that waits; null removes a key. Its moments stay. @throws Refusal 400, 404; ZodError */
  change(id: string, changes: Readonly<Record<string, unknown>>): void {
    const { queued, index } = this.placed(id);
    if (changes['id'] !== undefined && changes['id'] !== id) throw invalidAt(['id'], 'cannot be changed');
    const merged = Object.entries({ ...queued.fault, ...changes }).filter(([, value]) => value !== null);
    const fault = faultSchema.parse(Object.fromEntries(merged));
    this.#queue = this.#queue.with(index, { ...queued, fault: { ...fault, id } });
  }

  /** @throws Refusal 404 */
  remove(id: string): void {
    const { index } = this.placed(id);
    this.#queue = this.#queue.toSpliced(index, 1);
  }

  /** Takes a change or a removal back: in the place of the fault with its name, or else where it was. */
  putBack({ queued, index }: PlacedFault): void {
    const present = this.#queue.findIndex(({ fault }) => fault.id === queued.fault.id);
    this.#queue = present === -1 ? this.#queue.toSpliced(index, 0, queued) : this.#queue.with(present, queued);
  }

  /** Puts a script in the place of all faults. */
  play({ seed, faults }: FaultScript): void {
    this.clear();
    this.#dice = new Dice(seed);
    this.add(faults);
  }

  clear(): void {
    this.#queue = [];
    this.#dice = new Dice(1);
  }

  /** What there is now, to go back to. */
  get state(): QueueState {
    return { queue: this.#queue, dice: this.#dice };
  }

  restore({ queue, dice }: QueueState): void {
    this.#queue = queue;
    this.#dice = dice;
  }

  /** Takes the first fault for this request and uses it up by one. */
  take(arrived: Arrived): DrawnFault | undefined {
    const fault = this.#takeFirst((queued) => !isForTask(queued) && isFor(queued, arrived));
    return fault && { ...fault, delayMs: drawDelay(fault.delayMs, this.#dice) };
  }

  /** How a fault wants the task of this request to end; uses the fault up by one. */
  takeEnding(arrived: Arrived): Ending | undefined {
    const fault = this.#takeFirst((queued) => isForTask(queued) && isFor(queued, arrived));
    if (fault === undefined) return undefined;
    const { failureCode, failure } = fault;
    if (failureCode === undefined) return { status: 'CANCELLED' };
    return { status: 'FAILED', failureCode, failure: failure ?? `a fault that fails with ${failureCode}` };
  }

  #takeFirst(isWanted: (fault: Fault) => boolean): Fault | undefined {
    if (this.#queue.length === 0) return undefined;
    this.#dropPassed();
    const nowMs = this.#nowMs();
    for (const [index, { fault, orderedMs }] of this.#queue.entries()) {
      if (!isWanted(fault) || nowMs < orderedMs + fault.fromSeconds * 1_000) continue;
      // A fault that is certain draws nothing, so it does not change the chances of others.
      if (fault.probability < 1 && this.#dice.roll() >= fault.probability) continue;
      const { times } = fault;
      if (times === 'always') return fault;
      const left = times > 1 ? [{ fault: { ...fault, times: times - 1 }, orderedMs }] : [];
      this.#queue = this.#queue.toSpliced(index, 1, ...left);
      return fault;
    }
    return undefined;
  }

  #freeNumber(queue: ReadonlyMap<string, Queued>): string {
    do this.#numbered++;
    while (queue.has(String(this.#numbered)));
    return String(this.#numbered);
  }

  #dropPassed(): void {
    const nowMs = this.#nowMs();
    this.#queue = this.#queue.filter(
      ({ fault: { untilSeconds }, orderedMs }) =>
        untilSeconds === undefined || nowMs < orderedMs + untilSeconds * 1_000,
    );
  }
}

function isFor(fault: Fault, { method, path }: Arrived): boolean {
  if (fault.method !== undefined && fault.method !== method) return false;
  return fault.path === undefined || isAimedAt(fault.path, path);
}

function drawDelay(delay: Delay, dice: Dice): number {
  if (typeof delay === 'number') return delay;
  if ('uniform' in delay) {
    const { minMs, maxMs } = delay.uniform;
    return minMs + Math.floor(dice.roll() * (maxMs - minMs + 1));
  }
  const { medianMs, sigma, maxMs } = delay.logNormal;
  return Math.min(maxMs, Math.round(medianMs * Math.exp(sigma * dice.rollNormal())));
}

export interface Play {
  /** Applies the request and answers it. */
  readonly act: () => Response | Promise<Response>;
  /** Aborted when the client leaves. */
  readonly left: () => AbortSignal;
  /** Aborted, with what the request then fails with, when the emulator is closed or what it holds is replaced. */
  readonly ending: AbortSignal;
}

/** Answers a request as its fault says. @throws ConnectionDropped where the fault allows no answer, or nobody waits for it any more. */
export async function playFault(fault: DrawnFault | undefined, play: Play): Promise<Response> {
  if (fault === undefined) return play.act();
  const response = await answerUnder(fault, play);
  if (play.left().aborted) throw new ConnectionDropped('by its client, before the answer');
  return response;
}

async function answerUnder(fault: DrawnFault, { act, left, ending }: Play): Promise<Response> {
  if (fault.delayMs > 0) await wait(fault.delayMs, ending);
  const { status, hang, drop, reset, redirect, apply } = fault;
  const severed = drop ?? reset;
  const how = reset === undefined ? 'closed' : 'reset';
  if (severed === 'before') throw new ConnectionDropped('by a fault, before the request was applied', { how });
  const isNormal = [status, hang, severed, redirect].every((end) => end === undefined);
  if (isNormal) return act();
  if (apply || severed === 'after') await act();
  if (severed === 'after') throw new ConnectionDropped('by a fault, after the request was applied', { how });
  if (redirect !== undefined) return new Response(null, { status: 307, headers: { location: redirect } });
  if (status !== undefined) return answerOf(fault, status);
  await aborted(AbortSignal.any([left(), ending]));
  throw new ConnectionDropped('after a fault that hangs');
}

async function wait(ms: number, ending: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: ending }).catch(() => ending.throwIfAborted());
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function answerOf({ body, contentType, retryAfter, headers }: DrawnFault, status: number): Response {
  // Names are the same in upper and lower case, and each is sent once.
  const named = new Headers();
  for (const [name, value] of Object.entries(headers ?? {})) named.set(name, value);
  if (retryAfter !== undefined) named.set('retry-after', String(retryAfter));
  if (contentType !== undefined) named.set('content-type', contentType);
  const extra = Object.fromEntries(named);
  const isBodiless = status === 204 || status === 205 || status === 304;
  if (body === undefined && status >= 400) return refuse(status, `a fault that answers ${status}`, { headers: extra });
  if (body === undefined || isBodiless)
    return new Response(null, { status, headers: { 'content-length': '0', ...extra } });
  return new Response(body, { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...extra } });
}
