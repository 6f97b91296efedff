/** The faults that can be ordered. */
import { z } from 'zod';

/** Names and values that a header can carry (RFC 9110, 5.1 and 5.5). Letters other than ASCII would arrive changed. */
const headerNameSchema = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not a valid header name');
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
  }, 'for a task must have failureCode (and optionally failure) or cancelled, and besides only path and times')
  .refine(
    ({ status, retryAfter, headers, body, contentType }) =>
      status !== undefined || [retryAfter, headers, body, contentType].every((part) => part === undefined),
    'retryAfter, headers, body and contentType need a status',
  )
  .refine(({ apply, status, hang }) => !apply || status !== undefined || hang, 'apply needs a status or hang');

/**
 * - `path`: the fault is for requests to this path; with `*` at its end for all paths that begin so. Default: every path
 *   of the service.
 * - `times`: for how many requests. Default 1.
 * - `delayMs`: a wait after the last byte of the request. If the client leaves meanwhile, the request is still applied: a
 *   late landing.
 * - `status`, with `retryAfter`, `headers`, `body`, `contentType`: this answer is sent, and nothing is applied.
 * - `hang`: no answer until the client leaves or the emulator is closed; nothing is applied.
 * - `drop`: the connection ends without an answer, before or after the request is applied.
 * - `apply`, with `status` or `hang`: a valid request is applied nevertheless.
 * - `failureCode`, with `failure` as its text: the next task that is created fails with it. `cancelled`: it ends cancelled.
 *   The request that creates the task is answered as usual; `path` and `times` are about such requests.
 */
export type FaultInput = z.input<typeof faultSchema>;
export type Fault = z.output<typeof faultSchema>;

interface TaskFault {
  readonly failureCode?: string | undefined;
  readonly cancelled?: true | undefined;
}

/** Whether a fault decides how a task ends, instead of how a request is answered. */
export function isForTask({ failureCode, cancelled }: TaskFault): boolean {
  return failureCode !== undefined || cancelled !== undefined;
}
