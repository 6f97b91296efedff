/** Controls of the emulator itself: the request log, faults and reset. */
import { z } from 'zod';
import { answerJson, refuse, summaryOf } from './answers.ts';
import { actingOn, bodyOf, orRefusal } from './control-body.ts';
import { faultSchema, faultScriptSchema } from '../contract/fault-script.ts';
import type { Fault } from '../contract/fault-script.ts';
import type { FaultQueue } from './faults.ts';
import { Issues } from './issues.ts';
import type { RequestLog } from './request-log.ts';
import { route } from './routes.ts';
import type { App } from './routes.ts';
import { answerOf } from './routing/wire.ts';

interface Controlled {
  readonly log: RequestLog;
  readonly faults: FaultQueue;
  reset(): void;
  load(fixtures: unknown): void;
}

export function serveControls(app: App, controlled: Controlled): void {
  const { log, faults } = controlled;
  const pending = (): Response => Response.json({ faults: faults.pending });
  route(app, '/_emulator/requests', { GET: () => Response.json({ requests: log.all() }) });
  route(app, '/_emulator/faults', {
    GET: pending,
    POST: async ({ req }) => (await addFaults(faults, req.raw).catch(answerOf)) ?? pending(),
    DELETE: () => {
      faults.clear();
      return pending();
    },
  });
  const one = (id: string): Fault => faults.placed(id).queued.fault;
  route(app, '/_emulator/faults/:id', {
    GET: ({ req }) => orRefusal(() => answerJson(one(req.param('id') ?? ''))),
    PATCH: ({ req }) =>
      actingOn(req.raw, (body) => {
        const id = req.param('id') ?? '';
        faults.change(id, changesSchema.parse(body));
        return one(id);
      }),
    DELETE: ({ req }) =>
      orRefusal(() => {
        faults.remove(req.param('id') ?? '');
        return pending();
      }),
  });
  route(app, '/_emulator/fixtures', {
    POST: ({ req }) =>
      actingOn(req.raw, (body) => {
        controlled.load(body);
        return {};
      }),
  });
  route(app, '/_emulator/reset', {
    POST: () => {
      controlled.reset();
      return new Response(null, { status: 204 });
    },
  });
}

const changesSchema = z.record(z.string(), z.unknown());

/** Adds one fault or a list of them, or plays a script, all or none. Returns the refusal if the body does not fit. @throws Refusal 400 */
async function addFaults(faults: FaultQueue, request: Request): Promise<Response | undefined> {
  const body = await bodyOf(request);
  const read = schemaFor(body).safeParse(body);
  if (!read.success) {
    const issues = new Issues();
    issues.addAll([], read.error.issues);
    return refuse(400, summaryOf(issues.list), { issues: issues.list });
  }
  const ordered = read.data;
  if ('faults' in ordered) faults.play(ordered);
  else faults.add(Array.isArray(ordered) ? ordered : [ordered]);
  return undefined;
}

function schemaFor(body: unknown) {
  if (Array.isArray(body)) return z.array(faultSchema);
  return typeof body === 'object' && body !== null && 'faults' in body ? faultScriptSchema : faultSchema;
}
