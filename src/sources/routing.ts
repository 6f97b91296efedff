/** `type: routing`: what the routers of the service spent, from its own routing log. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AgentError } from '../core/errors.ts';
import { asColumns } from '../core/mapping/row-coder.ts';
import type { Content, Part, RowBatch } from '../core/model.ts';
import type { Clock, Source } from '../core/ports.ts';
import { oneLine } from '../http/masking.ts';
import { numberColumns } from './formats/field-numbers.ts';
import { type SourceContext, defineKind, freshVersion, needsOf } from './kind.ts';
import { type FirstPage, type RoutedRequest, type Router, RoutingApi } from './routing/api.ts';
import { type Outcome, columns, columnsText, rowOf } from './routing/rows.ts';
import { type WebPlace, accessKeys, checkWeb, urlKey, webPlaceOf } from './web/keys.ts';

const batchRows = 1000;
/** Each task is a request of its own; so many run at once, so that years of a log take minutes and not hours. */
const tasksAtOnce = 8;
/** So many ended tasks are remembered between reads, in about 10 MB: what a task cost never changes. */
const rememberedMax = 50_000;
/** The task of a younger request may still be unknown to a part of the service. */
const settledAfterMs = 3_600_000;

const schema = z
  .strictObject({
    url: urlKey
      .refine((text) => !text.includes('?'), 'a query in the address')
      .refine((text) => !/\/v1\/*$/.test(text), '/v1 in the address: leave it out, it is appended')
      .describe('The address of the service. `/v1/routers` and the like are appended.'),
    ...accessKeys,
    routers: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        `Slugs or ids of the routers whose log is read; default: all. Each router is one part, and each of its requests a row. Columns: ${columnsText}.`,
      ),
    modalities: z
      .record(z.string(), z.enum(['video', 'image', 'audio']))
      .prefault({})
      .describe('The modality of models that are too new to be known, by their id.'),
  })
  .superRefine(checkWeb);

type RoutingSettings = z.output<typeof schema>;

/** The default of `drivers`, as a person would write it. */
const routingDrivers = [
  {
    id: 'routing/{router}/{modality}/{model|default:none}/credits',
    path: ['AI spending', '{router}', '{modality}', '{model|default:none}', 'Credits'],
    time: '{createdAt}',
    value: '{credits}',
    collapse: 'sum',
  },
  {
    id: 'routing/{router}/{modality}/{model|default:none}/generations',
    path: ['AI spending', '{router}', '{modality}', '{model|default:none}', 'Generations'],
    time: '{createdAt}',
    value: '{generations}',
    collapse: 'count',
  },
] as const;

const numbers = numberColumns(columns.map((column) => column === 'credits' || column === 'estimatedCredits'));

/** By the settings of a source, which stay the same object until the config is read again. */
const memories = new WeakMap<RoutingSettings, Map<string, Outcome>>();

function openRouting(settings: RoutingSettings, context: SourceContext): Source {
  const memory = memories.get(settings) ?? new Map<string, Outcome>();
  memories.set(settings, memory);
  const log = new RoutingLog(settings, { place: webPlaceOf(settings, context.baseDir), clock: context.clock, memory });
  return {
    isExpensive: true,
    parts: (signal) => log.parts(signal),
    rows: (part, signal) => asColumns(log.rows(part, signal), needsOf(context)),
  };
}

export const routing = defineKind(schema, openRouting, { drivers: routingDrivers });

interface Surroundings {
  readonly place: WebPlace;
  readonly clock: Clock;
  /** What became of tasks that have ended, by id. */
  readonly memory: Map<string, Outcome>;
}

class RoutingLog {
  readonly #settings: RoutingSettings;
  readonly #place: WebPlace;
  readonly #clock: Clock;
  readonly #memory: Map<string, Outcome>;

  constructor(settings: RoutingSettings, { place, clock, memory }: Surroundings) {
    this.#settings = settings;
    this.#place = place;
    this.#clock = clock;
    this.#memory = memory;
  }

  async parts(signal: AbortSignal): Promise<readonly Part[]> {
    const api = await RoutingApi.open(this.#place, signal);
    try {
      const parts: Part[] = [];
      for (const router of await this.#routers(api)) {
        const page = await api.firstPage(router);
        parts.push({
          name: router.slug,
          version: firstPageVersion(page),
          revisedAtMs: this.#revisedAtMs(page.requests),
        });
      }
      return parts;
    } finally {
      api.destroy();
    }
  }

  async *rows(part: Part, signal: AbortSignal): AsyncGenerator<RowBatch, Content, void> {
    const api = await RoutingApi.open(this.#place, signal);
    try {
      const router = findRouter(await api.routers(), part.name);
      const requests = (await api.requests(router)).toSorted(byAge);
      const outcomes = await this.#outcomes(api, requests);
      const hash = createHash('sha256').update(`${JSON.stringify(columns)}\n`);
      for (let at = 0; at === 0 || at < requests.length; at += batchRows) {
        signal.throwIfAborted();
        const batch = requests.slice(at, at + batchRows);
        const rows = batch.map((request) =>
          rowOf(router, request, outcomes.get(request.id), this.#settings.modalities),
        );
        hash.update(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
        yield { columns, rows, share: (at + rows.length) / Math.max(1, requests.length), ...numbers };
      }
      // While a task is under way its cost changes, and the log does not.
      const isSettled = requests.every((request) => this.#isSettled(request, outcomes.get(request.id)));
      return {
        hash: hash.digest('hex'),
        version: isSettled ? versionOf(requests) : freshVersion(),
        revisedAtMs: this.#revisedAtMs(requests),
      };
    } finally {
      api.destroy();
    }
  }

  async #routers(api: RoutingApi): Promise<readonly Router[]> {
    const there = await api.routers();
    const { routers } = this.#settings;
    if (routers !== undefined) return [...new Set(routers.map((wanted) => findRouter(there, wanted)))];
    if (there.length > 0) return there;
    throw new AgentError('source.unreadable', 'the service has no router', {
      hint: 'a log belongs to a router: create one, or check url and token',
    });
  }

  async #outcomes(api: RoutingApi, requests: readonly RoutedRequest[]): Promise<ReadonlyMap<string, Outcome>> {
    const outcomes = new Map<string, Outcome>();
    const queue: RoutedRequest[] = [];
    for (const request of requests) {
      const known = this.#memory.get(request.taskId ?? '');
      if (known !== undefined) outcomes.set(request.id, known);
      else if (request.taskId) queue.push(request);
    }
    const work = async (): Promise<void> => {
      for (let request = queue.pop(); request !== undefined; request = queue.pop()) {
        const taskId = request.taskId as string;
        const outcome = (await api.task(taskId)) ?? 'gone';
        outcomes.set(request.id, outcome);
        const isFull = this.#memory.size >= rememberedMax;
        if (!isFull && this.#isSettled(request, outcome)) this.#memory.set(taskId, outcome);
      }
    };
    const workers = Array.from({ length: tasksAtOnce }, async () => {
      try {
        await work();
      } catch (error) {
        // The other workers end after their present request.
        queue.length = 0;
        throw error;
      }
    });
    await Promise.allSettled(workers);
    await Promise.all(workers);
    return outcomes;
  }

  /** Whether nothing about it can still change. */
  #isSettled({ createdAt }: RoutedRequest, outcome: Outcome): boolean {
    if (outcome === 'gone') return this.#clock.now().getTime() - Date.parse(createdAt) > settledAfterMs;
    return outcome === undefined || outcome.credits !== undefined;
  }

  #revisedAtMs(requests: readonly RoutedRequest[]): number {
    const newest = newestOf(requests);
    return newest === undefined ? this.#clock.now().getTime() : Date.parse(newest.createdAt);
  }
}

/** By slug (the name of the part) or by id. */
function findRouter(there: readonly Router[], wanted: string): Router {
  const found = there.find(({ slug, id }) => slug === wanted || id === wanted);
  if (found !== undefined) return found;
  const slugs = there.map(({ slug }) => oneLine(slug, []));
  const known = slugs.length === 0 ? 'the service has no router' : `there are ${slugs.slice(0, 10).join(', ')}`;
  throw new AgentError('source.unreadable', `there is no router "${wanted}"`, {
    hint: `${known}${slugs.length > 10 ? ' and others' : ''}`,
  });
}

/** The oldest first; requests of one moment by id, so that the order is always the same. */
function byAge(a: RoutedRequest, b: RoutedRequest): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.id < b.id ? -1 : 1);
}

function newestOf(requests: readonly RoutedRequest[]): RoutedRequest | undefined {
  return requests.reduce<RoutedRequest | undefined>(
    (best, request) => (best === undefined || byAge(best, request) < 0 ? request : best),
    undefined,
  );
}

/** A log only grows: its newest request identifies its content. */
function versionOf(requests: readonly RoutedRequest[]): string {
  return `log-${newestOf(requests)?.id ?? 'empty'}`;
}

/** The service does not promise that the newest requests come first. Where they do not, one page cannot tell what is new. */
function firstPageVersion({ requests, isAll }: FirstPage): string {
  const [first, last] = [requests[0], requests.at(-1)];
  const isNewestFirst =
    first !== undefined && last !== undefined && Date.parse(first.createdAt) > Date.parse(last.createdAt);
  return isAll || isNewestFirst ? versionOf(requests) : freshVersion();
}
