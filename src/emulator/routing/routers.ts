/** Routers: saved preferences that requests name by slug. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { RouterAnswer, RouterCreate, RouterUpdate } from '../../contract/routing-resources.ts';
import { defaultRouterSettings } from '../../contract/routing-settings.ts';
import type { RouterSettings, SettingsPatch } from '../../contract/routing-settings.ts';
import type { EmulatorClock } from './clock.ts';
import { isoOf } from './clock.ts';
import { invalid, notFound, Refusal } from './refusal.ts';
import type { RoutingStore, Shelf } from './store.ts';

export interface Router {
  readonly id: string;
  readonly seq: number;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly version: number;
  readonly settings: RouterSettings;
  /** UNIX ms by the emulator's clock. */
  readonly createdMs: number;
  readonly updatedMs: number;
}

export interface RoutersContext {
  readonly store: RoutingStore;
  readonly clock: EmulatorClock;
  /** Ids of the models that a router may name now. */
  readonly knownModels: () => readonly string[];
  /** What makes a new version: any update, as the service's guide says, or as the live service does it a change of settings. */
  readonly versioned: 'updates' | 'settings';
}

export class Routers {
  readonly #context: RoutersContext;
  readonly #shelf: Shelf<Router>;
  readonly #idsBySlug = new Map<string, string>();

  constructor(context: RoutersContext) {
    this.#context = context;
    this.#shelf = context.store.shelf<Router>('router');
    this.#rebuild();
    context.store.onRollback(() => this.#rebuild());
  }

  /** @throws Refusal 400 for a model that is not known, 409 for a slug in use. */
  create({ slug, name, description, settings = {} }: RouterCreate): Router {
    this.#checkModels(settings.models?.ids, []);
    if (this.#idsBySlug.has(slug)) throw slugInUse(slug);
    const { store, clock } = this.#context;
    const nowMs = clock.now();
    return store.change(() => {
      const router: Router = {
        id: randomUUID(),
        seq: store.nextSeq(),
        slug,
        name,
        description: description ?? null,
        version: 1,
        settings: mergeSettings(defaultRouterSettings, settings),
        createdMs: nowMs,
        updatedMs: nowMs,
      };
      this.#shelf.set(router);
      this.#idsBySlug.set(slug, router.id);
      return router;
    });
  }

  get isEmpty(): boolean {
    return this.#shelf.size === 0;
  }

  get count(): number {
    return this.#shelf.size;
  }

  /** Oldest first. */
  all(): Iterable<Router> {
    return this.#shelf.values();
  }

  bySlug(slug: string): Router | undefined {
    const id = this.#idsBySlug.get(slug);
    return id === undefined ? undefined : this.#shelf.get(id);
  }

  /** Ids come first, since a slug may look like an id. @throws Refusal 404 */
  byIdOrSlug(name: string): Router {
    const bySlug = this.#shelf.get(name) === undefined ? this.bySlug(name) : undefined;
    return bySlug ?? this.get(name);
  }

  find(id: string): Router | undefined {
    return this.#shelf.get(id);
  }

  /** @throws Refusal 404 */
  get(id: string): Router {
    const router = this.find(id);
    if (router === undefined) throw notFound('there is no router with this id');
    return router;
  }

  /**
   * Merges changes at any depth. Where updates make versions, one that names a field makes a new one, even with equal
   * values. Requests that were routed before keep their settings.
   * @throws Refusal 400 for a model that is not known and was not in the router before.
   */
  update(router: Router, change: RouterUpdate): Router {
    this.#checkModels(change.settings?.models?.ids, router.settings.models.ids);
    if (Object.keys(change).length === 0) return router;
    return this.#save(router, {
      name: change.name ?? router.name,
      description: change.description === undefined ? router.description : change.description,
      settings: mergeSettings(router.settings, change.settings ?? {}),
    });
  }

  /** As `update`, but settings that are left out go back to their defaults, as the agent tools do it. */
  replace(router: Router, change: RouterUpdate): Router {
    this.#checkModels(change.settings?.models?.ids, router.settings.models.ids);
    return this.#save(router, {
      name: change.name ?? router.name,
      description: change.description === undefined ? router.description : change.description,
      settings: mergeSettings(defaultRouterSettings, change.settings ?? {}),
    });
  }

  /** Deletes a router and frees its slug. Its tasks stay. */
  remove(router: Router): void {
    this.#context.store.change(() => {
      this.#shelf.delete(router.id);
      this.#idsBySlug.delete(router.slug);
    });
  }

  /** Takes a deletion back. @throws Refusal 409 for a slug that another router has now. */
  putBack(router: Router): void {
    if (this.#idsBySlug.has(router.slug)) throw slugInUse(router.slug);
    this.#context.store.change(() => {
      this.#shelf.putBack(router);
      this.#idsBySlug.set(router.slug, router.id);
    });
  }

  /** Within a change. */
  clear(): void {
    for (const { id } of this.#shelf.values()) this.#shelf.delete(id);
    this.#rebuild();
  }

  #save(router: Router, changed: Pick<Router, 'name' | 'description' | 'settings'>): Router {
    const { store, clock, versioned } = this.#context;
    const bySettings = versioned === 'settings';
    const isSame = bySettings && isDeepStrictEqual(changed.settings, router.settings);
    if (isSame && changed.name === router.name && changed.description === router.description) return router;
    const version = isSame ? router.version : router.version + 1;
    const updatedMs = clock.now();
    return store.change(() => {
      const next: Router = { ...router, ...changed, version, updatedMs };
      this.#shelf.set(next);
      return next;
    });
  }

  #checkModels(ids: readonly string[] | undefined, named: readonly string[]): void {
    if (ids === undefined) return;
    const known = this.#context.knownModels();
    const allowed = new Set([...known, ...named]);
    const issues = ids.flatMap((id, index) => {
      if (allowed.has(id)) return [];
      const message = `there is no model "${id}"; there are ${known.join(', ')}`;
      return [{ code: 'invalid_value', values: known, path: ['settings', 'models', 'ids', index], message }];
    });
    if (issues.length > 0) throw invalid(issues);
  }

  #rebuild(): void {
    this.#idsBySlug.clear();
    for (const { slug, id } of this.#shelf.values()) this.#idsBySlug.set(slug, id);
  }
}

export function viewRouter(router: Router): RouterAnswer {
  const { id, slug, name, description, version, settings, createdMs, updatedMs } = router;
  const [createdAt, updatedAt] = [isoOf(createdMs), isoOf(updatedMs)];
  return { id, slug, name, description, version, settings, createdAt, updatedAt };
}

function slugInUse(slug: string): Refusal {
  // The official client repeats a 409 unless it is told not to.
  return new Refusal(
    409,
    { error: `the slug "${slug}" is in use by another router`, code: 'slug_in_use' },
    { 'x-should-retry': 'false' },
  );
}

function mergeSettings(settings: RouterSettings, patch: SettingsPatch): RouterSettings {
  const ceilings = Object.entries({ ...settings.maxCreditsPerGeneration, ...patch.maxCreditsPerGeneration }).filter(
    ([, ceiling]) => ceiling !== null,
  );
  const onCapacity = patch.fallback?.onCapacity ?? settings.fallback?.onCapacity;
  return {
    schemaVersion: 1,
    optimizeFor: patch.optimizeFor ?? settings.optimizeFor,
    models: { mode: patch.models?.mode ?? settings.models.mode, ids: patch.models?.ids ?? settings.models.ids },
    ...(ceilings.length > 0 && { maxCreditsPerGeneration: Object.fromEntries(ceilings) }),
    ...(onCapacity !== undefined && { fallback: { onCapacity } }),
  };
}
