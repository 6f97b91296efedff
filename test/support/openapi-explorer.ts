/**
 * Sends requests that are made of the emulator's own description, follows its links, and holds every answer against it. Nothing
 * here knows an operation: what can be asked and answered is read from the document.
 */
import { z } from 'zod';
import type { Emulator } from '../../src/emulator/index.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import { Dice, spoilt, valueOf } from './json-values.ts';
import type { JsonSchema } from './json-values.ts';

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly { readonly $ref: string }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: JsonSchema } } };
  readonly responses: Readonly<Record<string, DescribedAnswer | { readonly $ref: string }>>;
}

interface DescribedAnswer {
  readonly content?: { readonly 'application/json': { readonly schema: JsonSchema } };
  readonly links?: Readonly<Record<string, DescribedLink>>;
}

interface DescribedLink {
  readonly operationId: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly 'x-bodyMembers'?: Readonly<Record<string, string>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly responses: Readonly<Record<string, DescribedAnswer>> };
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly described: Described;
}

export interface Report {
  readonly requests: number;
  /** How often an operation was answered with a status, such as `createRouter 200`. */
  readonly answers: Readonly<Record<string, number>>;
}

/** What is wrong with an answer. The message has the requests of the session as commands. */
export class Finding extends Error {
  override readonly name = 'Finding';
}

/** Values that links have given, by operation and parameter. */
type Known = Map<string, string[]>;

const valuesKept = 20;
const stepsPerSession = 150;

/** What a session's emulator is started with. */
const manners = [
  { speed: 0 },
  { speed: 0, strict: true },
  { speed: 0, token: 'key', tier: 1 },
  { speed: 0, credits: 300 },
  { speed: 1_000 },
] as const;

/** One session is one emulator. @throws Finding */
export async function exploreSession(seed: number, count: (answer: string) => void): Promise<void> {
  const dice = new Dice(seed);
  const manner = dice.one(manners);
  await using emulator = await startEmulator(manner);
  const session = new Session(emulator, dice, `seed ${seed}, ${JSON.stringify(manner)}`);
  await session.begin();
  for (let step = 0; step < stepsPerSession; step += 1) count(await session.step());
}

class Session {
  readonly #emulator: Emulator;
  readonly #dice: Dice;
  readonly #name: string;
  readonly #known: Known = new Map();
  readonly #sent: string[] = [];
  readonly #schemas = new Map<JsonSchema, z.ZodType>();
  #operations: readonly Operation[] = [];
  #shared: Document['components']['responses'] = {};

  constructor(emulator: Emulator, dice: Dice, name: string) {
    this.#emulator = emulator;
    this.#dice = dice;
    this.#name = name;
  }

  async begin(): Promise<void> {
    const document = (await (await this.#emulator.fetch('/_emulator/openapi.json')).json()) as Document;
    this.#shared = document.components.responses;
    this.#operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({ method: method.toUpperCase(), path, described })),
    );
  }

  /** Sends one request and returns how it was answered, as `operation status`. */
  async step(): Promise<string> {
    const dice = this.#dice;
    if (dice.isBelow(0.1)) this.#emulator.advance(dice.one([0, 1, 5, 60, 86_400]));
    // Deleting as often as creating would leave nothing to look at.
    const some = dice.isBelow(0.7) ? this.#operations.filter(({ method }) => method !== 'DELETE') : this.#operations;
    const operation = dice.one(some);
    const { operationId } = operation.described;
    const id = this.#valueFor(operationId, 'id') ?? dice.one(['x', 'a', '4d5c0d1e-8f2a-4f3b-9c57-1b2a3c4d5e6f', '%00']);
    const path = operation.path.replace('{id}', encodeURIComponent(id)) + this.#query(operation);
    const body = this.#body(operation);
    const headers = this.#headers(body !== undefined);
    const { method } = operation;
    this.#note(method, path, { body, headers });
    const response = await this.#emulator.fetch(path, { method, headers, ...(body !== undefined && { body }) });
    const text = await response.text();
    const { status } = response;
    const answer = this.#read(operation, status, text);
    if (status === 200) this.#follow(operation, { id, body: answer, request: body });
    return `${operationId} ${status}`;
  }

  #valueFor(operationId: string, name: string): string | undefined {
    const values = this.#known.get(`${operationId} ${name}`) ?? [];
    return values.length === 0 || this.#dice.isBelow(0.05) ? undefined : this.#dice.one(values);
  }

  #query({ described }: Operation): string {
    const isPaged = described.parameters?.some(({ $ref }) => $ref.endsWith('/limit')) ?? false;
    if (!isPaged || this.#dice.isBelow(0.4)) return '';
    const query = new URLSearchParams();
    if (this.#dice.isBelow(0.6)) query.set('limit', this.#dice.one(['1', '2', '100', '0', 'x', '1.5']));
    const cursor = this.#valueFor(described.operationId, 'cursor');
    if (cursor !== undefined) query.set('cursor', cursor);
    else if (this.#dice.isBelow(0.1)) query.set('cursor', this.#dice.one(['', 'x', 'MQ==']));
    return `?${query.toString()}`;
  }

  #body({ described }: Operation): string | undefined {
    const schema = described.requestBody?.content['application/json'].schema;
    if (schema === undefined) return undefined;
    const dice = this.#dice;
    const linked = Object.keys(schema.properties ?? {})
      .map((name) => [name, this.#valueFor(described.operationId, `body ${name}`)] as const)
      .filter(([, known]) => known !== undefined);
    let value: unknown = { ...(valueOf(schema, dice) as object), ...Object.fromEntries(linked) };
    if (dice.isBelow(0.25)) value = spoilt(value, dice);
    const text = JSON.stringify(value);
    return dice.isBelow(0.03) ? text.slice(0, dice.from(0, text.length)) : text;
  }

  #headers(hasBody: boolean): Record<string, string> {
    const dice = this.#dice;
    const headers: Record<string, string> = {};
    if (!dice.isBelow(0.03)) headers['authorization'] = 'Bearer key';
    if (!dice.isBelow(0.03)) headers['x-runway-version'] = dice.isBelow(0.02) ? '2023-01-01' : '2024-11-06';
    if (hasBody && dice.isBelow(0.02)) headers['content-encoding'] = dice.one(['br', 'gzip']);
    return headers;
  }

  /** The body, held against what the document says of this status. */
  #read({ described }: Operation, status: number, text: string): unknown {
    const given = described.responses[status];
    if (given === undefined) throw this.#finding(`${status} is not described: ${text.slice(0, 2_000)}`);
    const { content } = '$ref' in given ? (this.#shared[given.$ref.split('/').at(-1) ?? ''] ?? {}) : given;
    const schema = content?.['application/json'].schema;
    if (schema === undefined) {
      if (text !== '') throw this.#finding(`a body where ${status} has none: ${text.slice(0, 500)}`);
      return undefined;
    }
    let checker = this.#schemas.get(schema);
    if (checker === undefined) this.#schemas.set(schema, (checker = z.fromJSONSchema(schema as never)));
    const read = checker.safeParse(JSON.parse(text));
    if (!read.success)
      throw this.#finding(`an answer outside the schema: ${read.error.message}\n${text.slice(0, 2_000)}`);
    return JSON.parse(text);
  }

  /** Keeps what the links of the answer give to other operations. */
  #follow({ described }: Operation, exchange: { id: unknown; body: unknown; request: string | undefined }): void {
    const given = described.responses[200];
    for (const link of given !== undefined && 'links' in given ? Object.values(given.links ?? {}) : []) {
      const members = Object.entries(link['x-bodyMembers'] ?? {}).map(
        ([name, value]) => [`body ${name}`, value] as const,
      );
      for (const [name, expression] of [...Object.entries(link.parameters ?? {}), ...members]) {
        const value = valueAt(expression, exchange);
        if (typeof value !== 'string') continue;
        const key = `${link.operationId} ${name}`;
        this.#known.set(key, [...(this.#known.get(key) ?? []), value].slice(-valuesKept));
      }
    }
  }

  #note(method: string, path: string, sent: { body: string | undefined; headers: Record<string, string> }): void {
    const headers = Object.entries(sent.headers).map(([name, value]) => ` -H '${name}: ${value}'`);
    const data = sent.body === undefined ? '' : ` -d '${sent.body.replaceAll("'", String.raw`'\''`).slice(0, 5_000)}'`;
    this.#sent.push(`curl -X ${method}${headers.join('')}${data} '$URL${path}'`);
  }

  #finding(what: string): Finding {
    return new Finding(`${this.#name}: ${what}\nafter:\n${this.#sent.slice(-12).join('\n')}`);
  }
}

/** The value of a runtime expression of OpenAPI. */
function valueAt(expression: string, { id, body }: { readonly id: unknown; readonly body: unknown }): unknown {
  if (expression === '$request.path.id') return id;
  const [source, pointer = ''] = expression.split('#');
  if (source !== '$response.body') throw new Finding(`a link with ${expression}, which is not understood`);
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], body);
}

/** Sessions with rising seeds until `isOver`. @throws Finding */
export async function explore(firstSeed: number, isOver: (sessions: number) => boolean): Promise<Report> {
  const answers: Record<string, number> = {};
  let requests = 0;
  for (let sessions = 0; !isOver(sessions); sessions += 1) {
    await exploreSession(firstSeed + sessions, (answer) => {
      requests += 1;
      answers[answer] = (answers[answer] ?? 0) + 1;
    });
  }
  return { requests, answers };
}
