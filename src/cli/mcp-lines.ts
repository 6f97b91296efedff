/** The lines of stdin that hold a message of JSON-RPC. Any other is answered as the protocol says: the SDK leaves such a line unanswered. */
import { Transform, type TransformCallback } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

type Answer = (message: object) => void;

/** In UTF-16 units. A line of a client is short: the tools take a few names. */
const lineMax = 1_000_000;

const parseError = { code: -32_700, message: 'Parse error' };
const invalidRequest = { code: -32_600, message: 'Invalid Request' };

export class MessageLines extends Transform {
  readonly #isMessage: (value: unknown) => boolean;
  readonly #answer: Answer;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #isSkipping = false;

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
    if (this.#isMessage(value)) this.push(`${line}\n`);
    else this.#refuse(invalidRequest, idOf(value));
  }

  #refuse(error: object, id: string | number | null = null): void {
    this.#answer({ jsonrpc: '2.0', id, error });
  }
}

function idOf(value: unknown): string | number | null {
  const id: unknown = typeof value === 'object' && value !== null && 'id' in value ? value.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
