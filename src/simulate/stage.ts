/** Makes the stage for the histories of a config: a table for each source, and settings that a simulated agent can run with. */
import type { Schedule } from '../core/ports.ts';
import type { Settings, SourceSettings } from '../core/settings.ts';
import { parseTemplate } from '../core/mapping/template.ts';
import { plainDecimal } from '../core/numbers/decimal.ts';
import { Entropy } from './entropy.ts';
import { familiesOf } from './rows/family.ts';
import { fittingGrid } from './rows/fitting.ts';
import type { Grid } from './rows/grid.ts';
import type { OpenLead } from './machines/shared-part.ts';
import { memoryState } from './world/memory-state.ts';
import type { PlaceKind } from './world/place.ts';
import { type Stage, startMs } from './world/world.ts';

const itemsMax = 16;
/** Polls are rare in the simulated world: most of them find nothing, and each costs as much as a pass that does. */
const pollMs = 12 * 3_600_000;
const textTypes = new Set(['csv', 'tsv', 'fixed', 'json', 'jsonl']);
const delimitedTypes = new Set(['csv', 'tsv']);
const serverTypes = new Set(['postgres', 'mysql', 'clickhouse']);
/** What gives an answer, and no files that somebody writes, renames or loses. */
const askedTypes = new Set([...serverTypes, 'duckdb', 'sqlite', 'http', 'routing', 'command']);

export interface Warning {
  /** The key of the config that it is about. */
  readonly path: string;
  readonly message: string;
}

export function stageFor(
  user: Settings,
  schedule: Schedule,
  openLead: OpenLead,
): { readonly stage: Stage; readonly warnings: readonly Warning[] } {
  const grids = new Map<string, Grid>();
  const warnings: Warning[] = [];
  const sources = user.sources.map((source): SourceSettings => {
    const made = gridOf(source, user.timezone);
    const { grid, mapping } = made;
    grids.set(source.name, grid);
    if (made.why !== undefined) {
      const message = `its rows cannot be made up (${made.why}): plain rows take their place`;
      warnings.push({ path: `sources.${source.name}`, message });
    }
    return { ...source, mapping, poll: { kind: 'every', ms: pollMs }, lookups: { maps: {}, calendar: undefined } };
  });
  if (sources.length > castMax) {
    const message = `each history has ${castMax} of the ${sources.length} sources, others in each: with all of them it would take hours`;
    warnings.push({ path: 'sources', message });
  }
  const isOften = isOftener(schedule, user);
  if (isOften) {
    const message =
      'it is played as one of every ten minutes: in between nothing would happen, and it would take hours';
    warnings.push({ path: 'schedule', message });
  }
  const destination = {
    url: 'https://service.simulated',
    token: undefined,
    headers: {},
    timeoutMs: user.destination === 'emulator' ? 60_000 : user.destination.timeoutMs,
    compress: 'none',
    caFile: undefined,
  } as const;
  const settings: Settings = { ...user, sources, destination, notify: [], heartbeat: undefined, status: undefined };
  return {
    stage: {
      settings,
      schedule: remembered(isOften ? seldom(schedule) : schedule),
      grids,
      families: familiesOf(grids),
      kinds: kindsOf(user),
      openState: memoryState,
      openLead,
    },
    warnings,
  };
}

/** The same world for other settings of the same sources, whose mappings stay. */
export function stageWith(stage: Stage, settings: Settings): Stage {
  return { ...stage, settings, kinds: kindsOf(settings) };
}

/** A part of the sources in the same world, in their order. */
export function withSources(stage: Stage, names: ReadonlySet<string>): Stage {
  const { settings } = stage;
  const grids = new Map([...stage.grids].filter(([name]) => names.has(name)));
  const sources = settings.sources.filter(({ name }) => names.has(name));
  return { ...stageWith(stage, { ...settings, sources }), grids, families: familiesOf(grids) };
}

/** How many sources a history has at most: the time that it takes grows with them, and what happens to each does not change. */
export const castMax = 24;

/** The sources of one history: of many, some that stand together in the config. */
export function castFor(stage: Stage, seed: number): Stage {
  const names = stage.settings.sources.map(({ name }) => name);
  if (names.length <= castMax) return stage;
  const from = new Entropy(seed).between(0, names.length - castMax, 'cast');
  return withSources(stage, new Set(names.slice(from, from + castMax)));
}

/** The same world where somebody has approved the first push: nobody is there in it to do so, and without a push nothing can be lost. */
export function withFirstPush(stage: Stage): Stage {
  const { settings } = stage;
  return stageWith(stage, { ...settings, guard: { ...settings.guard, firstPush: 'allow' } });
}

function kindsOf({ sources }: Settings): Stage['kinds'] {
  return new Map(sources.map((source) => [source.name, kindOf(source)]));
}

function kindOf({ type, kind, mapping }: SourceSettings): PlaceKind {
  const keys = (typeof kind === 'object' && kind !== null ? kind : {}) as Readonly<Record<string, unknown>>;
  const isFile = !askedTypes.has(type);
  return {
    nature: isFile ? (textTypes.has(type) ? 'text' : 'bytes') : 'server',
    isText: textTypes.has(type) && keys['lineEnd'] !== 'any',
    isExpensive: !isFile,
    isNewestOnly: keys['parts'] === 'newest',
    mayLag: serverTypes.has(type),
    isDated: typeof keys['changed'] === 'string',
    mayGrow: delimitedTypes.has(type) && Number(keys['footer'] ?? 0) === 0 && mapping.fillDown.length === 0,
  };
}

function gridOf(
  { name, mapping }: SourceSettings,
  timezone: string,
): { readonly grid: Grid; readonly mapping: SourceSettings['mapping']; readonly why?: string } {
  const grid = fittingGrid(mapping, itemsMax, timezone);
  if (!('why' in grid)) return { grid, mapping };
  const plain = plainMapping(name, mapping);
  const plainGrid = fittingGrid(plain, itemsMax, timezone);
  if ('why' in plainGrid) throw new Error(`plain rows cannot be made up: ${plainGrid.why}`);
  return { grid: plainGrid, mapping: plain, why: grid.why };
}

/** Rows of any shape, under the same rules, of drivers that no other source has. */
function plainMapping(source: string, mapping: SourceSettings['mapping']): SourceSettings['mapping'] {
  const template = (text: string) => {
    const parsed = parseTemplate(text);
    if ('problem' in parsed) throw new Error(parsed.problem);
    return parsed.template;
  };
  const time = { formats: ['iso'], locales: ['en'], timezone: undefined, fiscalYear: undefined };
  const drivers = mapping.drivers.slice(0, 1).map(({ rule }) => ({
    id: template(`${source}/{name}`),
    path: [template(source), template('{name}')],
    time: { from: template('{time}'), format: time },
    value: { from: template('{value}'), format: plainDecimal },
    spread: undefined,
    rule,
  }));
  return { where: [], missing: [''], fillDown: [], unpivot: undefined, maps: {}, drivers };
}

/** Between two pushes that come oftener nothing happens in a history, and each costs as much as a pass that finds something. */
const oftenMs = 600_000;

/** @returns whether a schedule has several times within `oftenMs` */
function isOftener(schedule: Schedule, { schedule: expression, timezone }: Settings): boolean {
  const first = schedule.nextDue(expression, timezone, new Date(startMs));
  return schedule.nextDue(expression, timezone, first).getTime() - first.getTime() < oftenMs;
}

/** The first time of each ten minutes that have one. */
function seldom(schedule: Schedule): Schedule {
  const beginOf = (date: Date): number => Math.floor(date.getTime() / oftenMs) * oftenMs;
  const firstFrom = (expression: string, timezone: string, beginMs: number): Date =>
    schedule.nextDue(expression, timezone, new Date(beginMs - 1));
  return {
    nextDue(expression, timezone, after) {
      const first = firstFrom(expression, timezone, beginOf(after));
      return first > after ? first : firstFrom(expression, timezone, beginOf(after) + oftenMs);
    },
    previousDue(expression, timezone, before) {
      for (let due = schedule.previousDue(expression, timezone, before); due !== undefined;) {
        const first = firstFrom(expression, timezone, beginOf(due));
        if (first < before) return first;
        due = schedule.previousDue(expression, timezone, first);
      }
      return undefined;
    },
  };
}

const dayMs = 86_400_000;

/** Asking when a cron expression is due costs as much as a pass; between two due times the answer is the same, in all histories. */
function remembered(schedule: Schedule): Schedule {
  const known = new Map<string, { fromMs: number; readonly due: Date }[]>();
  return {
    ...schedule,
    nextDue(expression, timezone, after) {
      const afterMs = after.getTime();
      const key = `${Math.floor(afterMs / dayMs)} ${expression} ${timezone}`;
      const spans = known.get(key) ?? [];
      known.set(key, spans);
      const span = spans.find(({ fromMs, due }) => fromMs <= afterMs && after < due);
      if (span !== undefined) return span.due;
      const due = schedule.nextDue(expression, timezone, after);
      const same = spans.find((one) => one.due.getTime() === due.getTime());
      if (same === undefined) spans.push({ fromMs: afterMs, due });
      else same.fromMs = Math.min(same.fromMs, afterMs);
      return due;
    },
  };
}
