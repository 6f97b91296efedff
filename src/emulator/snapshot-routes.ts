/** Controls of snapshots: `/_emulator/snapshots` and `/_emulator/forks`. */
import { z } from 'zod';
import { actingOn, orRefusal } from './control-body.ts';
import { answerJson } from './answers.ts';
import { originOf, route } from './routes.ts';
import type { App, Handler } from './routes.ts';
import { notFound, Refusal } from './routing/refusal.ts';
import { answerOf } from './routing/wire.ts';
import type { Snapshots } from './snapshots.ts';

/** A fork, whatever the name at which clients find it. */
export interface Fork {
  readonly port: number;
  /** The snapshot that it began with; null: what was held then. */
  readonly snapshot: string | null;
  /** When it was started, ISO 8601, UTC. */
  readonly at: string;
}

export interface ForkView extends Fork {
  /** Where those find it who found its parent at the address in question. */
  readonly url: string;
}

/** Other emulators that began with what this one held. */
export interface Forks {
  /** Oldest first. */
  list(): Fork[];
  /** Starts one that listens. @throws Refusal 404 for a snapshot that is not known, 503 where no port is free. */
  start(snapshot?: string): Promise<Fork>;
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
    GET: (context) => answerJson({ forks: viewForks(service.forks, originOf(context)) }),
    POST: (context) =>
      actingOn(
        context.req.raw,
        async (body) => {
          const { snapshot } = forkSchema.parse(body);
          const { port } = await startFork(service.forks, snapshot);
          return { url: forkUrl(originOf(context), port) };
        },
        '{}',
      ),
  });
  route(app, '/_emulator/forks/:port', { DELETE: ({ req }) => endFork(service.forks, req.param('port') ?? '') });
}

/** Oldest first. @param origin where the parent was found */
export function viewForks(forks: Forks | undefined, origin: string): ForkView[] {
  return (forks?.list() ?? []).map((fork) => ({ url: forkUrl(origin, fork.port), ...fork }));
}

/**
 * A fork is where its parent is, at its own port. It has no TLS: a proxy that adds it to the parent knows nothing of the fork.
 */
export function forkUrl(origin: string, port: number): string {
  return `http://${new URL(origin).hostname}:${port}`;
}

/** @throws Refusal as `Forks.start`; 501 where there is nothing that listens. */
export async function startFork(forks: Forks | undefined, snapshot?: string): Promise<Fork> {
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
