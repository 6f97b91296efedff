/** Controls of the emulator itself: the request log, faults and reset. */
import { z } from 'zod';
import { refuse, summaryOf } from './answers.ts';
import { faultSchema } from './fault-schema.ts';
import type { FaultQueue } from './faults.ts';
import { Issues } from './issues.ts';
import type { RequestLog } from './request-log.ts';
import { route } from './routes.ts';
import type { App } from './routes.ts';

interface Controlled {
  readonly log: RequestLog;
  readonly faults: FaultQueue;
  reset(): void;
}

export function serveControls(app: App, controlled: Controlled): void {
  const { log, faults } = controlled;
  const pending = (): Response => Response.json({ faults: faults.pending });
  route(app, '/_emulator/requests', { GET: () => Response.json({ requests: log.all() }) });
  route(app, '/_emulator/faults', {
    GET: pending,
    POST: async (context) => (await addFaults(faults, context.req.raw)) ?? pending(),
    DELETE: () => {
      faults.clear();
      return pending();
    },
  });
  route(app, '/_emulator/reset', {
    POST: () => {
      controlled.reset();
      return new Response(null, { status: 204 });
    },
  });
}

/** Adds one fault or a list of them, all or none. Returns the refusal if the body does not fit. */
async function addFaults(faults: FaultQueue, request: Request): Promise<Response | undefined> {
  let body: unknown;
  try {
    body = JSON.parse(await request.text());
  } catch (error) {
    return refuse(400, `not JSON: ${(error as Error).message}`);
  }
  const read = Array.isArray(body) ? z.array(faultSchema).safeParse(body) : faultSchema.safeParse(body);
  if (!read.success) {
    const issues = new Issues();
    issues.addAll([], read.error.issues);
    return refuse(400, summaryOf(issues.list), { issues: issues.list });
  }
  faults.add(Array.isArray(read.data) ? read.data : [read.data]);
  return undefined;
}
