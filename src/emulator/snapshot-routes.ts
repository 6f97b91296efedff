/** Controls of snapshots: `/_emulator/snapshots` and `/_emulator/forks`. */
import { z } from 'zod';
import { actingOn, orRefusal } from './control-body.ts';
import { answerJson } from './answers.ts';
import { route } from './routes.ts';
import type { App, Handler } from './routes.ts';
import { notFound, Refusal } from './routing/refusal.ts';
import { answerOf } from './routing/wire.ts';
import type { Snapshots } from './snapshots.ts';

export interface ForkView {
  readonly url: string;
  readonly port: number;
  /** The snapshot that it began with; null: what was held then. */
  readonly snapshot: string | null;
  /** When it was started, ISO 8601, UTC. */
  readonly at: string;
}

/** Other emulators that began with what this one held. */
export interface Forks {
  /** Oldest first. */
  list(): ForkView[];
  /** Starts one that listens. */
  start(snapshot?: string): Promise<ForkView>;
  /** Ends the one at this port, if there is one. */
  end(port: number): Promise<boolean>;
}

interface Snapshotted {
  readonly snapshots: Snapshots;
  restore(name: string): void;
  readonly forks: Forks | undefined;
}

const snapshotSchema = z.strictObject({ name: z.string() });
const forkSchema = z.strictObject({ snapshot: z.string().optional() });

export function serveSnapshots(app: App, service: Snapshotted): void {
  const { snapshots } = service;
  route(app, '/_emulator/snapshots', {
    GET: () => answerJson({ snapshots: snapshots.list() }),
    POST: ({ req }) => actingOn(req.raw, (body) => snapshots.take(snapshotSchema.parse(body).name)),
  });
  route(app, '/_emulator/snapshots/:name', {
    DELETE: named((name) => snapshots.remove(name)),
  });
  route(app, '/_emulator/snapshots/:name/restore', {
    POST: named((name) => service.restore(name)),
  });
  route(app, '/_emulator/forks', {
    GET: () => answerJson({ forks: service.forks?.list() ?? [] }),
    POST: ({ req }) =>
      actingOn(
        req.raw,
        async (body) => {
          const { snapshot } = forkSchema.parse(body);
          const { url } = await startFork(service.forks, snapshot);
          return { url };
        },
        '{}',
      ),
  });
  route(app, '/_emulator/forks/:port', { DELETE: ({ req }) => endFork(service.forks, req.param('port') ?? '') });
}

/** @throws Refusal 404 for a snapshot that is not known. */
export async function startFork(forks: Forks | undefined, snapshot?: string): Promise<ForkView> {
  if (forks === undefined) throw new Refusal(501, { error: 'this emulator does not listen' });
  return forks.start(snapshot);
}

async function endFork(forks: Forks | undefined, port: string): Promise<Response> {
  if ((await forks?.end(Number(port))) === true) return new Response(null, { status: 204 });
  return answerOf(notFound(`no fork listens at port ${port}`));
}

/** Acts on the snapshot in the path, and answers 204. */
function named(act: (name: string) => void): Handler {
  return ({ req }) =>
    orRefusal(() => {
      act(req.param('name') ?? '');
      return new Response(null, { status: 204 });
    });
}
