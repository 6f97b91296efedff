/** Faults on demand. They queue up; each meets the next requests that it is for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { refuse } from './answers.ts';
import { ConnectionDropped } from './connection.ts';
import { isForTask } from './fault-schema.ts';
import type { Fault } from './fault-schema.ts';
import type { Ending } from './routing/tasks.ts';

export class FaultQueue {
  #faults: Fault[] = [];

  /** In the order of use. */
  get pending(): readonly Fault[] {
    return this.#faults;
  }

  add(faults: readonly Fault[]): void {
    this.#faults.push(...faults);
  }

  clear(): void {
    this.#faults = [];
  }

  /** Takes the first fault for a request to this path and uses it up by one. */
  take(path: string): Fault | undefined {
    return this.#takeFirst((fault) => !isForTask(fault) && isFor(fault, path));
  }

  /** How a fault wants the task of a request to this path to end; uses the fault up by one. */
  takeEnding(path: string): Ending | undefined {
    const fault = this.#takeFirst((queued) => isForTask(queued) && isFor(queued, path));
    if (fault === undefined) return undefined;
    const { failureCode, failure } = fault;
    if (failureCode === undefined) return { status: 'CANCELLED' };
    return { status: 'FAILED', failureCode, failure: failure ?? `a fault that fails with ${failureCode}` };
  }

  #takeFirst(isWanted: (fault: Fault) => boolean): Fault | undefined {
    const index = this.#faults.findIndex(isWanted);
    const fault = this.#faults[index];
    if (fault === undefined) return undefined;
    const left = fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : [];
    this.#faults.splice(index, 1, ...left);
    return fault;
  }
}

function isFor(fault: Fault, path: string): boolean {
  if (fault.path === undefined) return true;
  return fault.path.endsWith('*') ? path.startsWith(fault.path.slice(0, -1)) : fault.path === path;
}

export interface Play {
  /** Applies the request and answers it. */
  readonly act: () => Response | Promise<Response>;
  /** Aborted when the client leaves. */
  readonly left: () => AbortSignal;
  /** Aborted when the emulator is closed. */
  readonly closing: AbortSignal;
}

/** Answers a request as its fault says. @throws ConnectionDropped where the fault allows no answer. */
export async function playFault(fault: Fault | undefined, { act, left, closing }: Play): Promise<Response> {
  if (fault === undefined) return act();
  if (fault.delayMs > 0) await delay(fault.delayMs, closing);
  const { status, hang, drop, apply } = fault;
  if (drop === 'before') throw new ConnectionDropped('by a fault, before the request was applied');
  const isNormal = status === undefined && hang === undefined && drop === undefined;
  if (isNormal) return act();
  if (apply || drop === 'after') await act();
  if (drop === 'after') throw new ConnectionDropped('by a fault, after the request was applied');
  if (status !== undefined) return answerOf(fault, status);
  await aborted(AbortSignal.any([left(), closing]));
  throw new ConnectionDropped('after a fault that hangs');
}

async function delay(ms: number, closing: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal: closing });
  } catch (cause) {
    throw new ConnectionDropped('the emulator was closed', { cause });
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function answerOf({ body, contentType, retryAfter, headers }: Fault, status: number): Response {
  const extra: Record<string, string> = { ...headers };
  if (retryAfter !== undefined) extra['retry-after'] = String(retryAfter);
  const isBodiless = status === 204 || status === 205 || status === 304;
  if (body === undefined && status >= 400) return refuse(status, `a fault that answers ${status}`, { headers: extra });
  if (body === undefined || isBodiless)
    return new Response(null, { status, headers: { 'content-length': '0', ...extra } });
  return new Response(body, {
    status,
    headers: { 'content-type': contentType ?? 'text/plain; charset=utf-8', ...extra },
  });
}
