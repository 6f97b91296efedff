/** What an emulator begins with: drivers, routers, credits, time, catalog and faults, as one object. */
import { z } from 'zod';
import type { Driver } from '../contract/driver-push.ts';
import type { FaultQueue } from './faults.ts';
import { FixturesError } from './fixtures-error.ts';
import { parseFixtures } from './fixtures-schema.ts';
import { parseCatalog } from './routing/catalog.ts';
import { Refusal } from './routing/refusal.ts';
import type { BodyIssue } from './routing/refusal.ts';
import type { Routing } from './routing/routing.ts';

interface Filled {
  readonly routing: Routing;
  readonly faults: FaultQueue;
  /** Adds drivers, as a push would. */
  readonly push: (drivers: readonly Driver[]) => void;
}

/**
 * Adds them to what there is. The time is set first, so that it can be in the past of an emulator that is new.
 * @throws ZodError, or a Refusal whose `issues` say where in the fixtures
 */
export function loadFixtures({ routing, faults, push }: Filled, given: unknown): void {
  const { drivers, routers, credits, now, speed, catalog, faults: script } = parseFixtures(given, routing);
  at(['now'], () => routing.setClock({ nowMs: now === undefined ? undefined : Date.parse(now), speed }));
  if (catalog !== undefined) at(['catalog'], () => (routing.catalog = parseCatalog(catalog, routing.catalog)));
  if (credits !== undefined) routing.account.setCredits(credits);
  for (const [index, router] of routers.entries()) at(['routers', index], () => routing.routers.create(router));
  if (drivers.length > 0) push(drivers);
  if (script !== undefined) faults.play(script);
}

/** Says of what is wrong where in the fixtures it is. */
function at(place: readonly PropertyKey[], act: () => void): void {
  const inPlace = <Issue extends { readonly path: readonly PropertyKey[] }>(issue: Issue) => ({
    ...issue,
    path: [...place, ...issue.path],
  });
  try {
    act();
  } catch (error) {
    if (error instanceof z.ZodError) throw new z.ZodError(error.issues.map(inPlace));
    if (!(error instanceof Refusal)) throw error;
    const { status, body, headers } = error;
    throw new Refusal(status, { ...body, issues: issuesOf(error).map(inPlace) }, headers);
  }
}

/** Why fixtures cannot be loaded; errors of other kinds, such as a full disk, are returned as they are. */
export function asFixturesError(error: unknown): unknown {
  if (!(error instanceof z.ZodError || error instanceof Refusal)) return error;
  const [first] = error instanceof Refusal ? issuesOf(error) : error.issues;
  return new FixturesError(first?.path ?? [], first?.message ?? error.message, error);
}

function issuesOf({ body, message }: Refusal): readonly BodyIssue[] {
  const { issues } = body;
  return Array.isArray(issues) ? (issues as BodyIssue[]) : [{ code: 'custom', path: [], message }];
}
