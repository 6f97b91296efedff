/** The service's interface, as far as its routing log needs it (SPEC A3, A5; pages as service-facts 2.2). */
import { z } from 'zod';
import { AgentError } from '../../core/errors.ts';
import { oneLine } from '../../http/masking.ts';
import { readJson } from '../web/json.ts';
import type { WebPlace } from '../web/keys.ts';
import { Web, type WebAnswer } from '../web/web.ts';

/** The only version there is (service-facts 1). */
const version = '2024-11-06';
/** The most that the service gives at once. */
const pageRows = 100;
/** Half a million rows: more than a log of years. */
const pagesMax = 5_000;

const router = z.object({ id: z.string().min(1), slug: z.string().min(1) });
export type Router = z.output<typeof router>;

const text = z.string().nullish();

const routedRequest = z.object({
  id: z.string().min(1),
  requestId: text,
  status: z.string(),
  model: text,
  provider: text,
  reasonCode: text,
  /** Decimal text. */
  estimatedCredits: text,
  taskId: text,
  createdAt: z.string().refine((moment) => !Number.isNaN(Date.parse(moment))),
  pipeline: z.array(
    z.object({ type: z.string(), filter: z.string().nullish(), models: z.array(z.string()).nullish() }),
  ),
});
export type RoutedRequest = z.output<typeof routedRequest>;

const task = z.object({ status: z.string(), cost: z.object({ credits: z.string() }).nullish() });

/** What became of a task; `credits` is decimal text, and there only once nothing more will change. */
export interface TaskEnd {
  readonly status: string;
  readonly credits: string | undefined;
}

export interface FirstPage {
  readonly requests: readonly RoutedRequest[];
  /** There is no other page. */
  readonly isAll: boolean;
}

interface Page<Row> {
  readonly data: readonly Row[];
  /** There is more, from here on. */
  readonly nextCursor: string | undefined;
}

function pageOf<Row extends z.ZodType>(row: Row): z.ZodType<Page<z.output<Row>>> {
  return z
    .object({ data: z.array(row), hasMore: z.boolean().nullish(), nextCursor: text })
    .refine(({ hasMore, nextCursor }) => hasMore !== true || Boolean(nextCursor))
    .transform(({ data, hasMore, nextCursor }) => ({
      data,
      nextCursor: hasMore === false || !nextCursor ? undefined : nextCursor,
    }));
}

const routerPage = pageOf(router);
const requestPage = pageOf(routedRequest);

/** One look at the service: `destroy` when done. */
export class RoutingApi {
  readonly #web: Web;
  readonly #base: string;
  readonly #signal: AbortSignal;

  private constructor(web: Web, base: string, signal: AbortSignal) {
    this.#web = web;
    this.#base = base;
    this.#signal = signal;
  }

  static async open(place: WebPlace, signal: AbortSignal): Promise<RoutingApi> {
    signal.throwIfAborted();
    return new RoutingApi(await Web.open(place, signal), place.url.href.replace(/\/+$/, ''), signal);
  }

  destroy(): void {
    this.#web.destroy();
  }

  async routers(): Promise<readonly Router[]> {
    return await this.#all({ path: '/v1/routers', schema: routerPage, what: 'the list of routers' });
  }

  /** For a look at what is new. */
  async firstPage(of: Router): Promise<FirstPage> {
    const { data, nextCursor } = await this.#page(logOf(of), undefined);
    return { requests: data, isAll: nextCursor === undefined };
  }

  /** All of a router's log, each request once, as the service orders them. */
  async requests(of: Router): Promise<readonly RoutedRequest[]> {
    return await this.#all(logOf(of));
  }

  /** `undefined` for one that was deleted or cancelled: the service says no more of it. */
  async task(id: string): Promise<TaskEnd | undefined> {
    const answer = await this.#get(`/v1/tasks/${encodeURIComponent(id)}`, [200, 404]);
    if (answer.status === 404) {
      answer.body.destroy();
      return undefined;
    }
    const { status, cost } = await readJson(this.#web, answer, { schema: task, what: 'a task' }, this.#signal);
    return { status, credits: cost?.credits };
  }

  /** By cursor, so that rows which come meanwhile move none; a row that comes twice all the same counts once. */
  async #all<Row extends { readonly id: string }>(list: List<Row>): Promise<readonly Row[]> {
    const rows = new Map<string, Row>();
    let cursor: string | undefined;
    for (let pages = 1; ; pages++) {
      const { data, nextCursor } = await this.#page(list, cursor);
      for (const row of data) rows.set(row.id, row);
      if (nextCursor === undefined) return [...rows.values()];
      if (nextCursor === cursor || pages === pagesMax) {
        throw new AgentError('source.unreadable', `${list.what} did not end after ${pages} pages`, {
          hint: 'this is for the service to correct',
        });
      }
      cursor = nextCursor;
    }
  }

  async #page<Row>({ path, schema, what, gone }: List<Row>, cursor: string | undefined): Promise<Page<Row>> {
    const query = new URLSearchParams({ limit: String(pageRows), ...(cursor !== undefined && { cursor }) });
    const answer = await this.#get(`${path}?${query.toString()}`, gone === undefined ? [200] : [200, 404]);
    if (answer.status === 404) {
      answer.body.destroy();
      throw gone as AgentError;
    }
    return await readJson(this.#web, answer, { schema, what }, this.#signal);
  }

  async #get(path: string, statuses: readonly number[]): Promise<WebAnswer> {
    const headers = { accept: 'application/json', 'x-runway-version': version };
    return await this.#web.get(new URL(`${this.#base}${path}`), { headers, statuses }, this.#signal);
  }
}

interface List<Row> {
  readonly path: string;
  readonly schema: z.ZodType<Page<Row>>;
  /** For messages. */
  readonly what: string;
  /** What it means that there is none. */
  readonly gone?: AgentError;
}

function logOf({ id, slug }: Router): List<RoutedRequest> {
  const name = `router "${oneLine(slug, [])}"`;
  return {
    path: `/v1/routers/${encodeURIComponent(id)}/requests`,
    schema: requestPage,
    what: `the log of ${name}`,
    gone: new AgentError('source.unreadable', `${name} is gone`, {
      hint: 'it was deleted while its log was read: take it out of routers',
    }),
  };
}
