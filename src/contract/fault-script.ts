/**
 * Faults of the service, one by one or as a script: what goes wrong, for which requests, when, how often, and how likely. The same
 * seed and the same requests give the same faults.
 */
import { z } from 'zod';
import { modalities } from './routing-settings.ts';

/** Names and values that a header can carry (RFC 9110, 5.1 and 5.5). Letters other than ASCII would arrive changed. */
const headerNameSchema = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/);
/** What frames an answer follows from its body: another value would make it one that no server can send. */
const framing = /^(?:content-length|trailer|transfer-encoding)$/i;
const headerValueSchema = z.string().regex(/^[\t -~]*$/, 'cannot be sent in a header');

const headersSchema = z
  .record(headerNameSchema, headerValueSchema, {
    error: ({ code }) => (code === 'invalid_key' ? 'is not a valid header name' : undefined),
  })
  .superRefine((headers, context) => {
    for (const name of Object.keys(headers).filter((each) => framing.test(each))) {
      const message = 'is set by the emulator itself: truncate sends less than an answer declares';
      context.addIssue({ code: 'custom', path: [name], message });
    }
  });

const pathPattern = /^\/[^?#*]*\*?$/;

/** What a timer can wait. */
const delayMsMax = 2 ** 31 - 1;
const ms = z.int().nonnegative().max(delayMsMax);

/** A fixed time, one between two, or one of a log-normal distribution: most near the median, a few much longer. */
const delaySchema = z.union(
  [
    ms,
    z
      .strictObject({ uniform: z.strictObject({ minMs: ms, maxMs: ms }) })
      .refine(({ uniform }) => uniform.minMs <= uniform.maxMs, 'minMs must not be above maxMs'),
    z.strictObject({
      logNormal: z.strictObject({ medianMs: ms, sigma: z.number().min(0).max(5), maxMs: ms.default(600_000) }),
    }),
  ],
  'must be whole milliseconds, or {"uniform": {minMs, maxMs}} or {"logNormal": {medianMs, sigma}}',
);
export type Delay = z.output<typeof delaySchema>;

const momentSchema = z.number().nonnegative();

/** Which requests meet a fault. */
const aimShape = {
  path: z.string().regex(pathPattern, 'must begin with "/", and may end with "*"').optional(),
  method: z.enum(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE']).optional(),
  times: z.union([z.int().positive(), z.literal('always')], 'must be a whole number above 0, or "always"').default(1),
  probability: z.number().positive().max(1).default(1),
  fromSeconds: momentSchema.default(0),
  untilSeconds: momentSchema.optional(),
};

/** How an answer is sent, or a request is read. They may be combined, and go with `status` too. */
const mannerShape = {
  delayMs: delaySchema.default(0),
  truncate: z.int().nonnegative().optional(),
  trickle: z.strictObject({ bytes: z.int().positive(), everyMs: ms }).optional(),
  slowRead: z.strictObject({ bytesPerSecond: z.int().positive() }).optional(),
};

/** It is a part of addresses, in which `.` and `..` mean something else. */
const idPattern = /^(?!\.{1,2}$)[\w.-]{1,100}$/;

export const faultSchema = z
  .strictObject({
    id: z.string().regex(idPattern, 'has 1 to 100 of letters, digits, "_", "." and "-"').optional(),
    ...aimShape,
    ...mannerShape,
    status: z.int().min(200).max(599).optional(),
    retryAfter: z
      .union([headerValueSchema, z.int().nonnegative()], 'must be whole seconds, or a date as text')
      .optional(),
    headers: headersSchema.optional(),
    body: z.string().optional(),
    contentType: headerValueSchema.optional(),
    redirect: headerValueSchema.min(1).optional(),
    hang: z.literal(true).optional(),
    drop: z.enum(['before', 'after']).optional(),
    reset: z.enum(['before', 'after']).optional(),
    apply: z.literal(true).optional(),
    failureCode: z.string().min(1).max(200).optional(),
    failure: z.string().max(1_000).optional(),
    cancelled: z.literal(true).optional(),
  })
  .superRefine((fault, context) => {
    const message = mistakeOfEnds(fault);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .superRefine((fault, context) => {
    const issue = isForTask(fault) ? mistakeOfTaskAim(fault) : undefined;
    if (issue !== undefined) context.addIssue({ code: 'custom', ...issue });
  })
  .refine(
    ({ status, retryAfter, headers, body, contentType }) =>
      status !== undefined || [retryAfter, headers, body, contentType].every((part) => part === undefined),
    'retryAfter, headers, body and contentType need a status',
  )
  .refine(({ apply, status, hang }) => !apply || status !== undefined || hang, 'apply needs a status or hang')
  .refine(
    ({ fromSeconds, untilSeconds }) => untilSeconds === undefined || fromSeconds < untilSeconds,
    'untilSeconds must be after fromSeconds',
  );

/**
 * - `id`: its name, by which it is changed and taken away. One that waits under this name is replaced. Default: a number.
 *
 * Which requests meet it:
 * - `path`: requests to this path; with `*` at its end all paths that begin so. Default: every path of the service.
 * - `method`: requests with this method. Default: any.
 * - `times`: for how many requests, or `always`. Default 1.
 * - `probability`: for which share of them, drawn with the script's seed. Default 1.
 * - `fromSeconds`, `untilSeconds`: between these moments after it was ordered, by the time of model routing.
 *
 * How the request ends:
 * - `status`, with `retryAfter`, `headers`, `body`, `contentType`: this answer is sent, and nothing is applied. `retryAfter` and
 *   `contentType` go before a header of that name.
 * - `redirect`: 307 to this address, and nothing is applied.
 * - `hang`: no answer until the client leaves or the emulator is closed; nothing is applied.
 * - `drop`: the connection is closed in order without an answer, before or after the request is applied.
 * - `reset`: the same with a reset (RST).
 * - `apply`, with `status` or `hang`: a valid request is applied nevertheless.
 *
 * What else happens, also alone:
 * - `delayMs`: a wait after the last byte of the request. If the client leaves meanwhile, the request is still applied: a
 *   late landing.
 * - `slowRead`: the body of the request is read at this speed.
 * - `trickle`: the answer is sent in pieces of so many bytes.
 * - `truncate`: the connection is closed after so many bytes of the answer's body.
 *
 * Or how a task ends: with `failureCode` and `failure` as its text the next task that is created fails; with `cancelled` it ends
 * cancelled. The request that creates the task is answered as usual.
 */
export type FaultInput = z.input<typeof faultSchema>;
export type Fault = z.output<typeof faultSchema>;

/** Faults with the seed of their chances. */
export const faultScriptSchema = z.strictObject({
  seed: z.int().min(0).max(0xffff_ffff).default(1),
  faults: z.array(faultSchema),
});
export type FaultScriptInput = z.input<typeof faultScriptSchema>;
export type FaultScript = z.output<typeof faultScriptSchema>;

/** Requests to these create tasks. */
const taskPaths = modalities.map((modality) => `/v1/generate/${modality}`);

interface Aim {
  readonly path?: string | undefined;
  readonly method?: string | undefined;
}

/** Whether a fault is for requests to this path. */
export function isAimedAt(aimed: string, path: string): boolean {
  return aimed.endsWith('*') ? path.startsWith(aimed.slice(0, -1)) : aimed === path;
}

/** Why no task would ever meet it. */
function mistakeOfTaskAim({ path, method }: Aim): { path: string[]; message: string } | undefined {
  if (method !== undefined && method !== 'POST') {
    return {
      path: ['method'],
      message: `${method} creates no task, so no task would meet this fault: leave method out`,
    };
  }
  if (path === undefined || taskPaths.some((one) => isAimedAt(path, one))) return undefined;
  const hint = `leave path out, or name ${taskPaths.join(', ')} or /v1/generate/*`;
  return { path: ['path'], message: `no request to it creates a task, so no task would meet this fault: ${hint}` };
}

/** How a request, or the task that it creates, ends. */
const ends = ['status', 'redirect', 'hang', 'drop', 'reset', 'failureCode', 'cancelled'] as const;
const allEnds = `${ends.slice(0, -1).join(', ')} and ${ends.at(-1)}`;

type Ended = Manners & TaskFault & { readonly [Key in (typeof ends)[number] | 'failure']?: unknown };

function mistakeOfEnds(fault: Ended): string | undefined {
  const given = ends.filter((end) => fault[end] !== undefined);
  if (given.length > 1) return `has ${given.join(' and ')}, and must have exactly one of ${allEnds}`;
  if (fault.failure !== undefined && fault.failureCode === undefined) return 'failure needs a failureCode';
  if (isForTask(fault) && hasManner(fault)) {
    return 'for a task can have no delayMs, truncate, trickle and slowRead: another fault can have them';
  }
  if (given.length > 0 || hasManner(fault)) return undefined;
  return `must have one of ${allEnds}, or a delayMs, truncate, trickle or slowRead alone`;
}

interface Manners {
  readonly delayMs: Delay;
  readonly truncate?: number | undefined;
  readonly trickle?: object | undefined;
  readonly slowRead?: object | undefined;
}

function hasManner({ delayMs, truncate, trickle, slowRead }: Manners): boolean {
  return delayMs !== 0 || [truncate, trickle, slowRead].some((manner) => manner !== undefined);
}

interface TaskFault {
  readonly failureCode?: string | undefined;
  readonly cancelled?: true | undefined;
}

/** Whether a fault decides how a task ends, instead of how a request is answered. */
export function isForTask({ failureCode, cancelled }: TaskFault): boolean {
  return failureCode !== undefined || cancelled !== undefined;
}
