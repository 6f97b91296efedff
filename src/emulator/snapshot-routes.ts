/** Controls of snapshots: `/_emulator/snapshots` and `/_emulator/forks`. */
import { z } from 'zod';
import { actingOn } from './control-body.ts';
import { answerJson } from './answers.ts';
import { route } from './routes.ts';
import type { App, Handler } from './routes.ts';
import { notFound, Refusal } from './routing/refusal.ts';
import { answerOf } from './routing/wire.ts';
import type { Snapshots } from './snapshots.ts';

/** Other emulators that began with what this one held. */
export interface Forks {
  /** Starts one that listens, and returns its address. */
  start(snapshot?: string): Promise<string>;
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
    POST: ({ req }) =>
      actingOn(
        req.raw,
        async (body) => {
          const { snapshot } = forkSchema.parse(body);
          if (service.forks === undefined) throw new Refusal(501, { error: 'this emulator does not listen' });
          return { url: await service.forks.start(snapshot) };
        },
        '{}',
      ),
  });
  route(app, '/_emulator/forks/:port', { DELETE: ({ req }) => endFork(service.forks, req.param('port') ?? '') });
}

async function endFork(forks: Forks | undefined, port: string): Promise<Response> {
  if ((await forks?.end(Number(port))) === true) return new Response(null, { status: 204 });
  return answerOf(notFound(`no fork listens at port ${port}`));
}

/** Acts on the snapshot in the path, and answers 204. */
function named(act: (name: string) => void): Handler {
  return (context) => {
    try {
      act(context.req.param('name') ?? '');
    } catch (error) {
      return answerOf(error);
    }
    return new Response(null, { status: 204 });
  };
}
