/** The lines of stdin that hold a message of JSON-RPC. Any other is answered as the protocol says: the SDK leaves such a line unanswered. */
import { Transform, type TransformCallback } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

type Answer = (message: object) => void;

/** In UTF-16 units. A line of a client is short: the tools take a few names. */
const lineMax = 1_000_000;

const parseError = { code: -32_700, message: 'Parse error' };
const invalidRequest = { code: -32_600, message: 'Invalid Request' };

type Id = string | number;

/** Ends only when every request that was read is answered: whoever closed stdin may have asked before. */
export class MessageLines extends Transform {
  readonly #isMessage: (value: unknown) => boolean;
  readonly #answer: Answer;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #isSkipping = false;
  readonly #unanswered = new Set<Id>();
  #end: (() => void) | undefined;

  /** @param isMessage whether a value is a message of the protocol @param answer sends one */
  constructor(isMessage: (value: unknown) => boolean, answer: Answer) {
    super();
    this.#isMessage = isMessage;
    this.#answer = answer;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
    if (this.#rest.length > lineMax) {
      if (!this.#isSkipping) this.#refuse(parseError);
      this.#isSkipping = true;
      this.#rest = '';
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#take(this.#rest + this.#decoder.end());
    this.#end = done;
    this.#endIfAnswered();
  }

  /** Called with each message that was sent. */
  sent(message: object): void {
    const id = 'method' in message ? null : idOf(message);
    if (id !== null) this.#settle(id);
  }

  #read(message: object): void {
    const method = fieldOf(message, 'method');
    const id = idOf(message);
    // A subscription has no answer.
    if (typeof method === 'string' && id !== null && method !== 'subscriptions/listen') this.#unanswered.add(id);
    // Nor has what was called off.
    const calledOff = method === 'notifications/cancelled' ? idOf(fieldOf(message, 'params'), 'requestId') : null;
    if (calledOff !== null) this.#settle(calledOff);
  }

  #settle(id: Id): void {
    this.#unanswered.delete(id);
    this.#endIfAnswered();
  }

  #endIfAnswered(): void {
    if (this.#unanswered.size > 0) return;
    this.#end?.();
    this.#end = undefined;
  }

  #take(line: string): void {
    // The end of one that is too long, and was answered.
    if (this.#isSkipping) {
      this.#isSkipping = false;
      return;
    }
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.#refuse(parseError);
      return;
    }
    if (!this.#isMessage(value)) {
      this.#refuse(invalidRequest, idOf(value));
      return;
    }
    this.#read(value as object);
    this.push(`${line}\n`);
  }

  #refuse(error: object, id: Id | null = null): void {
    this.#answer({ jsonrpc: '2.0', id, error });
  }
}

function idOf(value: unknown, key = 'id'): Id | null {
  const id = fieldOf(value, key);
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
