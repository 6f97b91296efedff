/** Pages that are open, and are told that there is news: they ask for themselves again then. */
import type { ServerResponse } from 'node:http';

/** Beyond it the one that is open the longest has to ask anew. */
const openMax = 50;
/** A comment now and then finds out who has left, and keeps proxies from giving up. */
const beatMs = 25_000;

export class OpenPages implements Disposable {
  readonly #open = new Set<ServerResponse>();
  #beat: NodeJS.Timeout | undefined;

  /** @param headers of every answer */
  add(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
    this.#beat ??= setInterval(() => this.#write(':\n\n'), beatMs).unref();
    const [oldest] = this.#open;
    if (oldest !== undefined && this.#open.size >= openMax) oldest.end();
    this.#open.add(response);
    response.on('close', () => this.#open.delete(response));
    // `no` keeps nginx from gathering what is sent.
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    response.write('retry: 2000\n\n');
  }

  tell(): void {
    this.#write('event: news\ndata: {}\n\n');
  }

  #write(text: string): void {
    for (const response of this.#open) response.write(text);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#beat);
    for (const response of this.#open) response.destroy();
  }
}
