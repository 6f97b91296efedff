/**
 * Model routing without HTTP. The REST routes, the agent tools and the console all call it. Refusals are thrown as
 * `Refusal`.
 */
import type { Database } from 'better-sqlite3';
import type { Organization, TaskAnswer } from '../../contract/routing-resources.ts';
import type { Modality } from '../../contract/routing-settings.ts';
import type { RoutingOptions } from '../options.ts';
import { StateError } from '../state-error.ts';
import { Account } from './account.ts';
import { builtInCatalog, parseCatalog } from './catalog.ts';
import type { Catalog, Model } from './catalog.ts';
import { EmulatorClock } from './clock.ts';
import { notFound, Refusal } from './refusal.ts';
import type { RoutingRequest } from './request.ts';
import { Routers } from './routers.ts';
import type { Router } from './routers.ts';
import { RoutingLog } from './routing-log.ts';
import { RoutingStore } from './store.ts';
import type { Kept, RoutingState, Shelf } from './store.ts';
import { Tasks, viewTask } from './tasks.ts';
import type { Task } from './tasks.ts';
import { Uploads } from './uploads.ts';

/** A catalog that was posted. */
interface KeptCatalog extends Kept, Catalog {}

/** How much there is at a moment. */
export interface RoutingContents {
  readonly routers: number;
  readonly tasks: number;
  readonly credits: number;
  readonly nowMs: number;
}

export class Routing {
  readonly strict: boolean;
  readonly clock: EmulatorClock;
  readonly store: RoutingStore;
  readonly routers: Routers;
  readonly tasks: Tasks;
  readonly account: Account;
  readonly log: RoutingLog;
  readonly uploads: Uploads;
  readonly #catalogShelf: Shelf<KeptCatalog>;
  #catalogAtStart: Catalog;
  #catalog: Catalog;
  #models: ReadonlyMap<string, Model> = new Map();

  /** @throws ZodError for an invalid catalog, RangeError for other options that are out of range. */
  constructor(database: Database | undefined, options: RoutingOptions) {
    const { speed, credits, tier, strict = false } = options;
    this.strict = strict;
    this.#catalogAtStart = options.catalog === undefined ? builtInCatalog : parseCatalog(options.catalog);
    const store = new RoutingStore(database);
    this.store = store;
    this.#catalogShelf = store.shelf<KeptCatalog>('catalog');
    if (options.catalog !== undefined) store.change(() => this.#catalogShelf.delete(catalogId));
    const kept = this.#catalogShelf.get(catalogId);
    this.#catalog = kept === undefined ? this.#catalogAtStart : readKept(kept);
    this.#indexModels();
    this.clock = new EmulatorClock({ store, speed });
    const { clock } = this;
    this.account = new Account({ store, credits, tier });
    this.tasks = new Tasks({
      store,
      clock,
      concurrencyMax: (model) => this.limitsOf(model).concurrency,
      refund: (task, ending, atMs) => this.account.refund(task, ending, atMs),
    });
    this.routers = new Routers({
      store,
      clock,
      knownModels: () => [...this.#models.keys()],
      versioned: strict ? 'settings' : 'updates',
    });
    this.log = new RoutingLog(store);
    this.uploads = new Uploads(store, clock);
  }

  get catalog(): Catalog {
    return this.#catalog;
  }

  /** Holds for requests from now on; tasks go on. */
  set catalog(catalog: Catalog) {
    this.store.change(() => {
      this.#catalogShelf.set({ id: catalogId, seq: 0, models: catalog.models });
      this.#takeCatalog(catalog);
    });
  }

  /** Goes on as if this had been the catalog of the start. */
  restartWith(catalog: Catalog): void {
    this.store.change(() => {
      const before = this.#catalogAtStart;
      this.store.onFailure(() => (this.#catalogAtStart = before));
      this.#catalogAtStart = catalog;
      this.#catalogShelf.delete(catalogId);
      this.#takeCatalog(catalog);
    });
  }

  /** What is to be routed when a router is asked for this input. */
  requestOf(router: Router, modality: Modality, input: RoutingRequest['input']): RoutingRequest {
    const ceilingPer = this.strict ? 'output' : 'generation';
    const costOutcomeOfOne = this.strict ? 'single_candidate' : 'cost';
    return { modality, input, settings: router.settings, configId: router.slug, ceilingPer, costOutcomeOfOne };
  }

  /** How many tasks of a model may run at once, and how many may begin within 24 hours (null: any number). */
  limitsOf(model: string): { concurrency: number; daily: number | null } {
    // A model that has left the catalog may still have tasks.
    const group = this.#models.get(model)?.concurrencyGroup ?? 'video';
    return { concurrency: this.account.concurrencyMax(group), daily: this.account.dailyMax(group) };
  }

  /** @throws Refusal 404 */
  task(id: string): Task {
    this.tasks.settle();
    const task = this.tasks.get(id);
    if (task === undefined) throw notFound('there is no task with this id, or it was cancelled or deleted');
    return task;
  }

  /** A settled task as clients see it; `origin` is the address at which they found the emulator. */
  viewTask(task: Task, origin: string): TaskAnswer {
    const nowMs = this.tasks.settledMs;
    return viewTask(task, nowMs, (output) => `${origin}${mediaPath(task, output)}?expires=${nowMs + mediaLifeMs}`);
  }

  organization(): Organization {
    this.tasks.settle();
    const nowMs = this.clock.now();
    const { models } = this.#catalog;
    return {
      tier: {
        maxMonthlyCreditSpend: this.account.monthlyCreditsMax,
        models: Object.fromEntries(
          models.map(({ id }) => {
            const { concurrency, daily } = this.limitsOf(id);
            return [id, { maxConcurrentGenerations: concurrency, maxDailyGenerations: daily }];
          }),
        ),
      },
      creditBalance: this.account.credits,
      usage: {
        models: Object.fromEntries(
          models.map(({ id }) => [id, { dailyGenerations: this.account.dailyGenerations(id, nowMs) }]),
        ),
      },
    };
  }

  advance(ms: number): void {
    this.clock.advance(ms);
    this.tasks.settle();
  }

  /**
   * Sets the time or its speed. The time goes back only where nothing has happened in model routing yet.
   * @throws Refusal 409, RangeError
   */
  setClock({ nowMs, speed }: { readonly nowMs?: number | undefined; readonly speed?: number | undefined }): void {
    if (nowMs !== undefined && nowMs < this.clock.now() && !this.#isUntouched()) {
      const hint = 'reset the emulator first, or advance it';
      throw new Refusal(409, { error: `the time cannot go back behind what has happened in model routing: ${hint}` });
    }
    if (speed !== undefined) this.clock.setSpeed(speed);
    if (nowMs !== undefined) this.clock.set(nowMs);
    this.tasks.settle();
  }

  #isUntouched(): boolean {
    return [this.routers, this.tasks, this.account, this.log, this.uploads].every((part) => part.isEmpty);
  }

  /** What there is now, to be restored. */
  freeze(): RoutingState {
    this.tasks.settle();
    this.clock.hold();
    return this.store.dump();
  }

  /** What a state of `freeze` holds. */
  contentsOf(state: RoutingState): RoutingContents {
    return {
      routers: state.get('router')?.length ?? 0,
      tasks: state.get('task')?.length ?? 0,
      credits: this.account.creditsIn(state),
      nowMs: this.clock.heldIn(state),
    };
  }

  /** Goes back to what `freeze` returned, at the time that it was then. */
  restore(state: RoutingState): void {
    this.store.change(() => {
      this.store.load(state);
      this.clock.resume();
      const kept = this.#catalogShelf.get(catalogId);
      this.#takeCatalog(kept === undefined ? this.#catalogAtStart : readKept(kept));
    });
  }

  /** Empties it and restores the balance and the catalog of the start. */
  reset(): void {
    this.store.change(() => {
      for (const part of [this.routers, this.tasks, this.account, this.log, this.uploads]) part.clear();
      this.#catalogShelf.delete(catalogId);
      this.clock.reset();
      this.#takeCatalog(this.#catalogAtStart);
    });
  }

  /** Within a change. */
  #takeCatalog(catalog: Catalog): void {
    const before = this.#catalog;
    this.store.onFailure(() => {
      this.#catalog = before;
      this.#indexModels();
    });
    this.#catalog = catalog;
    this.#indexModels();
    // A model may have moved to another group of limits.
    this.tasks.limitsChanged();
  }

  #indexModels(): void {
    this.#models = new Map(this.#catalog.models.map((model) => [model.id, model]));
  }
}

const catalogId = 'catalog';

/** @throws StateError for a catalog that another version wrote in another shape. */
function readKept({ models }: KeptCatalog): Catalog {
  try {
    return parseCatalog(models);
  } catch (cause) {
    throw new StateError('catalog', 'the state has kept a catalog that this version does not understand', {
      hint: 'name another with --catalog, which then takes its place, or use another directory',
      cause,
    });
  }
}

/** Links to outputs end after a day; reading the task again gives new ones. */
const mediaLifeMs = 24 * 60 * 60 * 1000;

const extensions = { video: 'mp4', image: 'png', audio: 'wav' } as const;

export function mediaPath(task: Task, output: number): string {
  return `/media/${task.id}/${output}.${extensions[task.modality]}`;
}
