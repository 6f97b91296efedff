/** A receiver of snapshots that shares nothing with the agent or its emulator: it keeps what it gets and answers as told. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Post {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** sha256 (hex) of the body as it came. */
  readonly digest: string;
}

/** A status, more of an answer, a connection that is cut (`late`: and `land` applies the request), or no answer until `release`. */
export type Answer =
  | number
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly text?: string }
  | 'drop'
  | 'late'
  | 'hold';

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Whole requests, oldest first. */
  readonly posts: readonly Post[];
  /** The next requests get these, one each; those after them 200. */
  answer(...answers: readonly Answer[]): void;
  /** Whoever asks from now on gets 200, whatever was said before. */
  calm(): void;
  /** Resolves with the request of that number, counted from 1, when it has come whole. */
  post(number: number): Promise<Post>;
  /** Applies the requests that were answered `late`. */
  land(): void;
  /** What the service holds: the request that was applied last. */
  holds(): Post | undefined;
  /** Answers what is held. */
  release(answer: Exclude<Answer, 'hold'>): void;
}

/** Listens on a free port of loopback, or on this one, and keeps the bodies of so many requests, the newest ones. */
export async function openReceiver({ port = 0, bodiesMax = Infinity } = {}): Promise<Receiver> {
  const posts: Post[] = [];
  const waiting: Answer[] = [];
  const held: { readonly response: ServerResponse; readonly post: Post }[] = [];
  const late: Post[] = [];
  let applied: Post | undefined;
  let came = Promise.withResolvers<void>();
  const end = (response: ServerResponse, post: Post, answer: Exclude<Answer, 'hold'>): void => {
    if (statusOf(answer) === 200) applied = post;
    if (answer === 'late') late.push(post);
    give(response, answer);
  };
  const server = createServer((request, response) => {
    const receive = async (): Promise<void> => {
      const bytes = await buffer(request);
      const { method = '', url = '', headers } = request;
      const digest = createHash('sha256').update(bytes).digest('hex');
      const post = { method, url, headers, body: bytes.toString(), digest };
      posts.push(post);
      const older = posts.length - 1 - bodiesMax;
      if (older >= 0) posts[older] = { ...(posts[older] as Post), body: '' };
      const next = waiting.shift() ?? 200;
      if (next === 'hold') held.push({ response, post });
      else end(response, post, next);
      came.resolve();
      came = Promise.withResolvers();
    };
    // A request that broke off does not count.
    receive().catch(() => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    answer: (...answers) => void waiting.push(...answers),
    calm: () => void waiting.splice(0),
    async post(number) {
      for (;;) {
        const found = posts[number - 1];
        if (found !== undefined) return found;
        await within(came.promise, () => `only ${posts.length} requests came`);
      }
    },
    land: () => void (applied = late.splice(0).at(-1) ?? applied),
    holds: () => applied,
    release(answer) {
      for (const { response, post } of held.splice(0)) end(response, post, answer);
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function statusOf(answer: Answer): number | undefined {
  if (typeof answer === 'string') return undefined;
  return typeof answer === 'number' ? answer : answer.status;
}

function give(response: ServerResponse, answer: Exclude<Answer, 'hold'>): void {
  if (answer === 'drop' || answer === 'late') return void response.destroy();
  const { status, headers, text } = typeof answer === 'number' ? { status: answer } : { text: '', ...answer };
  response.writeHead(status, headers).end(text);
}

/** So often a second passes before a wait is in vain: a machine that stood still for minutes has passed one. */
const secondsMax = 120;

/** A test that waits in vain fails in its own words, before it is cut off and leaves its processes behind. */
export async function within<T>(promise: Promise<T>, complaint: () => string): Promise<T> {
  const late = Promise.withResolvers<never>();
  let seconds = 0;
  const timer = setInterval(() => {
    if (++seconds === secondsMax) late.reject(new Error(complaint()));
  }, 1_000);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearInterval(timer);
  }
}

/** What a snapshot holds: `{ driver: { '2026-01': '1.50' } }`. */
export function pointsOf({ body }: Post): Record<string, Record<string, string>> {
  const { extDrivers } = JSON.parse(body) as Snapshot;
  const month = (time: string): string => new Date(Number(time) * 1000).toISOString().slice(0, 7);
  return Object.fromEntries(
    extDrivers.map(({ id, timeSeries }) => [
      id,
      Object.fromEntries(timeSeries.map(({ time, value }) => [month(time), value])),
    ]),
  );
}

interface Snapshot {
  readonly shouldDeleteMissing: boolean;
  readonly extDrivers: readonly {
    readonly id: string;
    readonly path: readonly string[];
    readonly timeSeries: readonly { readonly time: string; readonly value: string }[];
  }[];
}
