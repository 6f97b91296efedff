/** What goes wrong on demand: the next requests that a fault is for get it instead of their answer, or before it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { refuse } from './answers.ts';
import { ConnectionDropped } from './connection.ts';
import type { Ending } from './routing/tasks.ts';

/** RFC 9110, 5.1 and 5.5: what a header can be sent with; other letters than ASCII would not arrive as they are. */
const headerNameSchema = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is no name of a header');
const headerValueSchema = z.string().regex(/^[\t -~]*$/, 'cannot be sent in a header');

const pathPattern = /^\/[^?#*]*\*?$/;

export const faultSchema = z
  .strictObject({
    path: z.string().regex(pathPattern, 'must begin with "/", and may end with "*"').optional(),
    times: z.int().positive().default(1),
    delayMs: z
      .int()
      .nonnegative()
      .max(2 ** 31 - 1)
      .default(0),
    status: z.int().min(200).max(599).optional(),
    retryAfter: z.union([headerValueSchema, z.int().nonnegative()]).optional(),
    headers: z.record(headerNameSchema, headerValueSchema).optional(),
    body: z.string().optional(),
    contentType: headerValueSchema.optional(),
    hang: z.literal(true).optional(),
    drop: z.enum(['before', 'after']).optional(),
    apply: z.literal(true).optional(),
    failureCode: z.string().min(1).max(200).optional(),
    failure: z.string().max(1_000).optional(),
    cancelled: z.literal(true).optional(),
  })
  .refine((fault) => {
    const ends = [fault.status, fault.hang, fault.drop].filter((end) => end !== undefined).length;
    return ends === 1 || (ends === 0 && fault.delayMs > 0) || isForTask(fault);
  }, 'must have one of status, hang and drop, or a delayMs alone')
  .refine((fault) => {
    const { status, hang, drop, delayMs, failureCode, failure, cancelled } = fault;
    const isOfRequest = [status, hang, drop].some((end) => end !== undefined) || delayMs > 0;
    const isOfTask = failureCode === undefined ? failure === undefined : cancelled === undefined;
    return isOfTask && !(isOfRequest && isForTask(fault));
  }, 'of a task must have failureCode, with or without failure, or cancelled, and only path and times beside it')
  .refine(
    ({ status, retryAfter, headers, body, contentType }) =>
      status !== undefined || [retryAfter, headers, body, contentType].every((part) => part === undefined),
    'retryAfter, headers, body and contentType need a status',
  )
  .refine(({ apply, status, hang }) => !apply || status !== undefined || hang, 'apply needs a status or hang');

/**
 * - `path`: only requests to this path, or with `*` at its end to all that begin so; default: any of the service's paths.
 * - `times`: so many requests; default 1.
 * - `delayMs`: a wait between the last byte of the request and everything else. A request whose client has left in the
 *   meantime is still applied: a late landing.
 * - `status`, with `retryAfter`, `headers`, `body`, `contentType`: is answered, and nothing applied.
 * - `hang`: no answer before the client leaves or the emulator is closed, and nothing applied.
 * - `drop`: the connection ends without an answer, before or after the request was applied.
 * - `apply`: with `status` or `hang`: the request is applied all the same, if it is valid.
 * - `failureCode`, with `failure` as its text: the next task that is created ends so; the request itself is answered as
 *   ever. `cancelled`: it ends cancelled, as by someone in the service's console. `path` and `times` go by the requests
 *   that create tasks.
 */
export type FaultInput = z.input<typeof faultSchema>;
export type Fault = z.output<typeof faultSchema>;

export class FaultQueue {
  #faults: Fault[] = [];

  /** In the order in which they will be used. */
  get pending(): readonly Fault[] {
    return this.#faults;
  }

  add(faults: readonly Fault[]): void {
    this.#faults.push(...faults);
  }

  clear(): void {
    this.#faults = [];
  }

  /** The first fault for a request to this path, used up by one. */
  take(path: string): Fault | undefined {
    return this.#takeFirst((fault) => !isForTask(fault) && isFor(fault, path));
  }

  /** How a task that a request to this path has created is to end, where a fault says so; it is used up by one. */
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

interface TaskFault {
  readonly failureCode?: string | undefined;
  readonly cancelled?: true | undefined;
}

function isForTask({ failureCode, cancelled }: TaskFault): boolean {
  return failureCode !== undefined || cancelled !== undefined;
}

function isFor(fault: Fault, path: string): boolean {
  if (fault.path === undefined) return true;
  return fault.path.endsWith('*') ? path.startsWith(fault.path.slice(0, -1)) : fault.path === path;
}

export interface Play {
  /** Does what the request asks for, and answers it. */
  readonly act: () => Response | Promise<Response>;
  /** Aborted when the client leaves. */
  readonly left: () => AbortSignal;
  /** Aborted when the emulator is closed. */
  readonly closing: AbortSignal;
}

/** Answers a request as its fault says. @throws ConnectionDropped where that is no answer at all. */
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
