/** HTTP of model routing: JSON in and out, refusals as answers, and the version header. */
import type { Context } from 'hono';
import type { z } from 'zod';
import { answerJson, refuse } from '../answers.ts';
import { JsonError } from '../drivers/byte-input.ts';
import { parseText } from '../drivers/json-slice.ts';
import type { Exchange } from '../exchange.ts';
import { answer, originOf } from '../routes.ts';
import type { App, EmulatorEnv, Handler } from '../routes.ts';
import { invalid, Refusal } from './refusal.ts';

/** Room for sixteen references of 5 MiB, written as JSON. */
const jsonBytesMax = 96 * 1024 * 1024;

/** The only version there is. */
const versionHeader = 'x-runway-version';
const version = '2024-11-06';

/** A request to model routing whose body was received. */
export class Call {
  readonly exchange: Exchange;
  readonly #context: Context<EmulatorEnv>;
  readonly #text: string | undefined;

  constructor(context: Context<EmulatorEnv>, text: string | undefined) {
    this.exchange = context.get('exchange');
    this.#context = context;
    this.#text = text;
  }

  get origin(): string {
    return originOf(this.#context);
  }

  param(name: string): string {
    return this.#context.req.param(name) ?? '';
  }

  query(name: string): string | undefined {
    return this.#context.req.query(name);
  }

  /** The body as JSON, whatever its content type says. @throws Refusal 400 */
  json(): unknown {
    if (this.#text === undefined) throw new Refusal(400, { error: 'the body is not UTF-8' });
    const bytesBefore = this.#text.startsWith(byteOrderMark) ? Buffer.byteLength(byteOrderMark) : 0;
    const text = bytesBefore === 0 ? this.#text : this.#text.slice(byteOrderMark.length);
    if (text.trim() === '') throw new Refusal(400, { error: 'the body is empty: it must be JSON' });
    try {
      return parseText(text, bytesBefore);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      throw new Refusal(400, { error: `the body is not JSON: ${error.message} at byte ${error.offset}` });
    }
  }

  /** The body, parsed by `schema`; an empty body counts as `{}`. @throws Refusal 400 */
  body<Schema extends z.ZodType>(schema: Schema): z.output<Schema> {
    const read = schema.safeParse(this.#text === '' ? {} : this.json());
    if (read.success) return read.data;
    const refusal = invalid(read.error.issues);
    if (this.#text !== '') throw refusal;
    throw new Refusal(400, { ...refusal.body, error: `${refusal.body.error}: the body is empty` });
  }

  /** Records that the change that the request asks for was carried out. */
  applied(): void {
    this.exchange.record.applied = true;
  }
}

/** Serves an operation whose body, if any, is JSON. A `Refusal` that `act` throws becomes the answer. */
export function acting(act: (call: Call) => Response): Handler {
  return arriving((call) => () => act(call));
}

/**
 * As `acting`, in two steps: `arrive` reads the state when the request has arrived, and the function that it returns acts
 * on it, which a fault may delay.
 */
export function arriving(arrive: (call: Call) => () => Response): Handler {
  return async (context) => {
    const exchange = context.get('exchange');
    const { text, refusal } = await receiveText(exchange);
    if (refusal !== undefined) return exchange.settle(() => refusal);
    const arrived = refusing(() => arrive(new Call(context, text)));
    return exchange.settle(() => (arrived instanceof Response ? arrived : refusing(arrived)));
  };
}

function refusing<Result>(act: () => Result): Result | Response {
  try {
    return act();
  } catch (error) {
    return answerOf(error);
  }
}

/** The answer for a `Refusal`. @throws other errors. */
export function answerOf(error: unknown): Response {
  if (!(error instanceof Refusal)) throw error;
  return answerJson(error.body, { status: error.status, headers: error.headers });
}

async function receiveText(exchange: Exchange): Promise<{ text: string | undefined; refusal: Response | undefined }> {
  const chunks: Uint8Array[] = [];
  const refusal = await exchange.receive((chunk) => chunks.push(chunk), { bytesMax: jsonBytesMax });
  return { text: refusal === undefined ? decode(chunks) : undefined, refusal };
}

const byteOrderMark = '\uFEFF';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(chunks: readonly Uint8Array[]): string | undefined {
  const [only] = chunks;
  try {
    return decoder.decode(chunks.length === 1 ? only : Buffer.concat(chunks));
  } catch {
    // Invalid UTF-8, or longer than a string can be.
    return undefined;
  }
}

/** Refuses other versions of the interface and, with `strict`, requests without a version. */
export function checkVersion(app: App, { strict }: { readonly strict: boolean }): void {
  app.use('/v1/*', async (context, next) => {
    const given = context.req.header(versionHeader);
    if (given === version || (given === undefined && !strict)) return next();
    const error =
      given === undefined ? 'the header X-Runway-Version is required' : 'this X-Runway-Version is not known';
    return answer(context, () => refuse(400, `${error}: send ${version}`));
  });
}
