/** The requests that reading a routing log needs: routers, the pages of their logs, and tasks. */
import { z } from 'zod';
import { AgentError } from '../../core/errors.ts';
import { oneLine } from '../../http/masking.ts';
import { readJson } from '../web/json.ts';
import type { WebPlace } from '../web/keys.ts';
import { Web, type WebAnswer } from '../web/web.ts';

/** The service knows only this version. */
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

/** What became of a task. `credits` is decimal text, and missing until it is final. */
export interface TaskEnd {
  readonly status: string;
  readonly credits: string | undefined;
}

export interface FirstPage {
  readonly requests: readonly RoutedRequest[];
  /** Whether this is the only page. */
  readonly isAll: boolean;
}

interface Page<Row> {
  readonly data: readonly Row[];
  /** Where the next page begins; missing on the last one. */
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

/** Requests of one read of the service; destroy it after that. */
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

  /** The newest requests: enough to see whether the log has grown. */
  async firstPage(of: Router): Promise<FirstPage> {
    const { data, nextCursor } = await this.#page(logOf(of), undefined);
    return { requests: data, isAll: nextCursor === undefined };
  }

  /** All of a router's log, each request once, as the service orders them. */
  async requests(of: Router): Promise<readonly RoutedRequest[]> {
    return await this.#all(logOf(of));
  }

  /** `undefined` for a task that was deleted or cancelled: the service no longer knows it. */
  async task(id: string): Promise<TaskEnd | undefined> {
    const answer = await this.#get(`/v1/tasks/${encodeURIComponent(id)}`, [200, 404]);
    if (answer.status === 404) {
      answer.body.destroy();
      return undefined;
    }
    const { status, cost } = await readJson(this.#web, answer, { schema: task, what: 'a task' }, this.#signal);
    return { status, credits: cost?.credits };
  }

  /** Pages by cursor, so that new rows shift no page. A row that comes twice counts once. */
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
  /** The failure where the answer is 404. */
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
