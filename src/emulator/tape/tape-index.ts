/** Where a recording has its answers: of each exchange a digest and a place are in memory, and not the exchange. */
import { hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { TapeError } from './tape-error.ts';
import { bytesOf, exchangeSchema, keyOf, recordedBytesMax } from './tape.ts';
import type { TapeBody, TapedExchange } from './tape.ts';

/** A line of the file, without its end. */
interface Place {
  readonly at: number;
  readonly bytes: number;
}

const hint = 'record one with --record';
const newline = 10;
/** How every exchange begins that a recorder has written. */
const beginning = '{"method":"';

export class TapeIndex implements AsyncDisposable {
  readonly #file: FileHandle;
  /** By digests of requests, in the order of the file. */
  readonly #answers = new Map<string, Place[]>();
  /** How many exchanges go to a method and path. */
  readonly #alike = new Map<string, number>();
  #bodyBytesMax = recordedBytesMax;
  readonly #leftOut: number[] = [];

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @throws TapeError for a file that cannot be read or is none of exchanges. */
  static async of(path: string): Promise<TapeIndex> {
    const unreadable = (cause: unknown): TapeError =>
      new TapeError(`${path} cannot be read: ${(cause as Error).message}`, hint, { cause });
    const file = await open(path).catch((cause: unknown) => Promise.reject(unreadable(cause)));
    const index = new TapeIndex(file);
    try {
      let number = 0;
      for await (const place of placesOf(file)) {
        number += 1;
        if (place.bytes === 0) continue;
        const exchange = await index.#read(place, `${path} line ${number}`);
        if (exchange === undefined) index.#leftOut.push(number);
        else index.#add(exchange, place);
      }
      return index;
    } catch (error) {
      await file.close();
      throw error instanceof TapeError ? error : unreadable(error);
    }
  }

  /** The next answer to this request, and the last one again and again; undefined where there is none. */
  async next(method: string, path: string, body: TapeBody | null): Promise<TapedExchange['answer'] | undefined> {
    const left = this.#answers.get(digestOf(method, path, body));
    const place = left !== undefined && left.length > 1 ? left.shift() : left?.[0];
    return place && (await this.#read(place, 'the recording has changed, and a line of it'))?.answer;
  }

  /** How many exchanges there are with this method and path, whatever their bodies. */
  alike(method: string, path: string): number {
    return this.#alike.get(`${method} ${path}`) ?? 0;
  }

  /** Bytes up to which a request may be one that was recorded whole. */
  get bodyBytesMax(): number {
    return this.#bodyBytesMax;
  }

  /** Numbers of the lines that break off, as one does when a recorder is killed while it writes. */
  get leftOut(): readonly number[] {
    return this.#leftOut;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  #add({ method, path, body }: TapedExchange, place: Place): void {
    this.#bodyBytesMax = Math.max(this.#bodyBytesMax, bytesOf(body)?.length ?? 0);
    const digest = digestOf(method, path, body);
    const known = this.#answers.get(digest);
    if (known === undefined) this.#answers.set(digest, [place]);
    else known.push(place);
    this.#alike.set(`${method} ${path}`, this.alike(method, path) + 1);
  }

  /** Undefined for a line that breaks off. @throws TapeError for one that is something else */
  async #read({ at, bytes }: Place, name: string): Promise<TapedExchange | undefined> {
    const buffer = Buffer.alloc(bytes);
    await this.#file.read(buffer, 0, bytes, at);
    const line = buffer.toString('utf8');
    try {
      return exchangeSchema.parse(JSON.parse(line));
    } catch (cause) {
      if (cause instanceof SyntaxError && (line.startsWith(beginning) || beginning.startsWith(line))) return undefined;
      throw new TapeError(`${name} is no exchange`, hint, { cause });
    }
  }
}

function digestOf(method: string, path: string, body: TapeBody | null): string {
  return hash('sha256', keyOf(method, path, body));
}

async function* placesOf(file: FileHandle): AsyncGenerator<Place, void, void> {
  let [at, end] = [0, 0];
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Buffer>) {
    for (let next = chunk.indexOf(newline); next >= 0; next = chunk.indexOf(newline, next + 1)) {
      yield { at, bytes: end + next - at };
      at = end + next + 1;
    }
    end += chunk.length;
  }
  if (end > at) yield { at, bytes: end - at };
}
