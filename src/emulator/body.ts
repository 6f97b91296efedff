/** Receives a request's body in a stream: decoded, counted, hashed, and never longer than it may be. */
import { createHash, hash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { refuse } from './answers.ts';
import { ConnectionDropped } from './connection.ts';

export interface ReceivedBody {
  /** Decoded bytes, as far as they were received. */
  readonly bytes: number;
  /** sha256 (hex) of those bytes, on demand: of a small body it takes as long as the rest of receiving it. */
  readonly sha256: () => string;
  /** The answer if the body cannot be received: 400, 413 or 415. */
  readonly refusal?: Response;
}

export interface Receiving {
  /** Longest decoded body. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  /** How fast it is read. Default: as fast as it arrives. */
  readonly bytesPerSecond?: number | undefined;
  /** The answer to a body that cannot be decoded. Default: one line. */
  readonly unreadable?: ((problem: string) => Response) | undefined;
  /** Takes the decoded bytes in order, at most 1 MiB at once. */
  readonly take: (chunk: Uint8Array) => void;
}

/** A body that arrives as one piece is processed in steps of this size. */
const stepBytes = 1024 * 1024;

/** A body whose declared length is at most this is received as a whole. */
const smallBytesMax = 64 * 1024;

/** @throws ConnectionDropped when the client left or the emulator is closed before the body ended. */
export async function receiveBody(request: Request, receiving: Receiving): Promise<ReceivedBody> {
  const coding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  const isGzip = coding === 'gzip' || coding === 'x-gzip';
  const declaredBytes = Number(request.headers.get('content-length') ?? 0);
  const isPlain = coding === 'identity' || coding === '';
  const isSmall = declaredBytes > 0 && declaredBytes <= smallBytesMax;
  if (isPlain && isSmall && receiving.bytesPerSecond === undefined) return receiveWhole(request, receiving);
  const reception = new Reception(receiving);
  if (!isGzip && !isPlain) {
    return reception.end(
      refuse(415, `content-encoding ${coding} is not known`, { headers: { 'accept-encoding': 'gzip' } }),
    );
  }
  // Refused before it is received: its declared length is too long.
  if (isPlain && declaredBytes > receiving.bytesMax) return reception.end(tooLarge(receiving.bytesMax));
  if (request.body === null) return reception.end();
  try {
    if (isGzip) await expand(request.body, receiving, (chunks) => reception.consume(chunks));
    else await reception.consume(readChunks(request.body, receiving));
  } catch (error) {
    if (error === reception.failure) throw error;
    if (error instanceof BodyTooLarge) return reception.end(tooLarge(receiving.bytesMax));
    if (isZlibError(error)) {
      const { unreadable = (problem) => refuse(400, problem) } = receiving;
      return reception.end(unreadable(`content-encoding says gzip, but: ${error.message}`));
    }
    throw new ConnectionDropped('before the body ended', { cause: error });
  }
  return reception.end();
}

/** Receives a small body without a stream and a running hash, which would cost more than the body. */
async function receiveWhole(request: Request, { bytesMax, signal, take }: Receiving): Promise<ReceivedBody> {
  // GET and HEAD have no body, whatever length the header declares.
  const hasNone = request.method === 'GET' || request.method === 'HEAD';
  const whole = hasNone ? new Uint8Array() : await readWhole(request, signal);
  const received = { bytes: whole.length, sha256: digestOf(whole) };
  // The length in the header is unchecked when the request did not come over a network.
  if (whole.length > bytesMax) return { ...received, refusal: tooLarge(bytesMax) };
  for (let at = 0; at < whole.length; at += stepBytes) take(whole.subarray(at, at + stepBytes));
  return received;
}

/** A body that is kept until somebody asks is a small one. */
const hashedLaterBytesMax = 16 * 1024;

function digestOf(whole: Uint8Array): () => string {
  if (whole.length <= hashedLaterBytesMax) return () => hash('sha256', whole);
  const digest = hash('sha256', whole);
  return () => digest;
}

/** Ends at once when the signal aborts. `request.arrayBuffer` alone would go on waiting for a silent client. */
async function readWhole(request: Request, signal: AbortSignal): Promise<Uint8Array> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  try {
    signal.throwIfAborted();
    signal.addEventListener('abort', abort);
    return new Uint8Array(await Promise.race([request.arrayBuffer(), aborted]));
  } catch (error) {
    throw new ConnectionDropped('before the body ended', { cause: error });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

type Reading = Pick<Receiving, 'signal' | 'bytesPerSecond'>;

type Consumer = (chunks: AsyncIterable<Uint8Array>) => Promise<void>;

async function expand(body: ReadableStream<Uint8Array>, reading: Reading, consume: Consumer): Promise<void> {
  const failed = new AbortController();
  const chunks = readChunks(body, { ...reading, signal: AbortSignal.any([reading.signal, failed.signal]) });
  const stop = (error: unknown): never => {
    // Ends the source too: the pipeline waits for it, and the source may wait for a silent client.
    failed.abort(error);
    throw error;
  };
  const gunzip = createGunzip();
  gunzip.once('error', (error) => failed.abort(error));
  await pipeline(chunks, gunzip, (expanded) => consume(expanded).catch(stop));
}

/** Ends at once when the signal aborts. The stream's own iterator would go on waiting for a silent client. */
async function* readChunks(
  body: ReadableStream<Uint8Array>,
  { signal, bytesPerSecond }: Reading,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = body.getReader();
  // Ends a read that is waiting. If cancelling fails, the stream has failed already and the read throws that.
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener('abort', cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      yield value;
      if (bytesPerSecond !== undefined) await sleep((value.length / bytesPerSecond) * 1_000, undefined, { signal });
    }
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

class Reception {
  /** The error that `take` threw, to tell it from a failure of the connection. */
  failure: unknown;
  readonly #receiving: Receiving;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  constructor(receiving: Receiving) {
    this.#receiving = receiving;
  }

  async consume(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of chunks) this.take(chunk);
  }

  take(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#receiving.bytesMax) throw new BodyTooLarge();
    this.#hash.update(chunk);
    try {
      for (let at = 0; at < chunk.length; at += stepBytes) this.#receiving.take(chunk.subarray(at, at + stepBytes));
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }

  end(refusal?: Response): ReceivedBody {
    const digest = this.#hash.digest('hex');
    return { bytes: this.#bytes, sha256: () => digest, ...(refusal && { refusal }) };
  }
}

class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

function tooLarge(bytesMax: number): Response {
  return refuse(413, `the body is longer than ${bytesMax} bytes`);
}

function isZlibError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_');
}
