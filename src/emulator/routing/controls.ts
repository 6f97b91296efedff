/** Controls of model routing: its time, and reading and changing the catalog. */
import { z } from 'zod';
import { clockSchema } from '../clock-schema.ts';
import { actingOn } from '../control-body.ts';
import { route } from '../routes.ts';
import type { App } from '../routes.ts';
import { catalogView, parseCatalog } from './catalog.ts';
import { isoOf } from './clock.ts';
import type { Routing } from './routing.ts';

/** A hundred years. */
const secondsMax = 3_155_760_000;

export const advanceSchema = z.strictObject({ seconds: z.number().nonnegative().max(secondsMax) });

export function serveRoutingControls(app: App, routing: Routing): void {
  route(app, '/_emulator/catalog', {
    GET: () => Response.json(catalogView(routing.catalog)),
    POST: ({ req }) =>
      actingOn(req.raw, (body) => {
        routing.catalog = parseCatalog(body, routing.catalog);
        return catalogView(routing.catalog);
      }),
  });
  const showTime = (): object => ({ now: isoOf(routing.clock.now()) });
  const showClock = (): object => ({ ...showTime(), speed: routing.clock.speed });
  route(app, '/_emulator/health', { GET: () => Response.json({ status: 'ok', ...showClock() }) });
  route(app, '/_emulator/clock', {
    GET: () => Response.json(showClock()),
    POST: ({ req }) =>
      actingOn(req.raw, (body) => {
        const { now, speed } = clockSchema.parse(body);
        routing.setClock({ nowMs: now === undefined ? undefined : Date.parse(now), speed });
        return showClock();
      }),
  });
  route(app, '/_emulator/advance', {
    POST: ({ req }) =>
      actingOn(req.raw, (body) => {
        routing.advance(advanceSchema.parse(body).seconds * 1_000);
        return showTime();
      }),
  });
}
