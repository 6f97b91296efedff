/** Tells pages that something has happened, so that they ask again. */
import { route } from '../routes.ts';
import type { App } from '../routes.ts';

/** Many things happen at once: a push, and the requests around it. */
const gatherMs = 250;
/** A comment now and then finds out who has left. */
const beatMs = 25_000;

export interface Newsworthy {
  /** Calls `happened` from now on; gives how to stop that. */
  onNews(happened: () => void): () => void;
  tellNews(): void;
}

export function serveEvents(app: App, shown: Newsworthy): void {
  route(app, '/console/events', {
    GET: () => {
      let leave = (): void => undefined;
      const body = new ReadableStream<string>({
        start(controller) {
          let timer: NodeJS.Timeout | undefined;
          const stop = shown.onNews(() => {
            timer ??= setTimeout(() => {
              timer = undefined;
              controller.enqueue('event: news\ndata: {}\n\n');
            }, gatherMs).unref();
          });
          const beat = setInterval(() => controller.enqueue(':\n\n'), beatMs).unref();
          leave = () => {
            stop();
            clearTimeout(timer);
            clearInterval(beat);
          };
          controller.enqueue('retry: 2000\n\n');
        },
        cancel: () => leave(),
      });
      const bytes = body.pipeThrough(new TextEncoderStream());
      return new Response(bytes, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
}
