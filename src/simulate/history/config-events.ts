/** Configs that say something else, as somebody might change them while the agent runs. */
import type { Settings, SourceSettings } from '../../core/settings.ts';
import type { Entropy } from '../entropy.ts';
import type { World } from '../world/world.ts';
import type { EventKind } from './events.ts';
import type { Doing } from './world-events.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

export const configEvents: Readonly<Partial<Record<EventKind, Doing>>> = {
  async reload(world, draw) {
    const { settings, says } = otherSettings(world, draw);
    world.reload(settings);
    return `the config is loaded again: ${says}`;
  },
  async settings(world, draw) {
    const ofAgent = Object.entries(agentChanges).map(([key, change]) => ({ says: `${key} is another one`, change }));
    const { name } = draw.pick(world.settings.sources, 'source');
    const ofSource = Object.entries(sourceChanges).map(([key, change]) => ({
      says: `${name} has another ${key}`,
      change: (settings: Settings): Settings => ({
        ...settings,
        sources: settings.sources.map((one) =>
          one.name === name ? { ...one, ...change(one, draw), digest: `${one.digest}-${key}` } : one,
        ),
      }),
    }));
    const { says, change } = draw.pick([...ofAgent, ...ofSource], 'what');
    const settings = change(world.settings, draw);
    world.reload({ ...settings, digest: `${settings.digest}-${draw.between(0, 9999, 'digest')}` });
    return `the config is loaded again: ${says}`;
  },
};

type Change<Of> = (before: Of, draw: Entropy) => Of;

/** By the setting that is another one then. */
const agentChanges: Readonly<Record<string, Change<Settings>>> = {
  shouldDeleteMissing: (before) => ({ ...before, shouldDeleteMissing: !before.shouldDeleteMissing }),
  'guard.values': ({ guard, ...before }, draw) => ({
    ...before,
    guard: { ...guard, values: draw.pick(['hold', 'warn', 'off'] as const, 'values') },
  }),
  'guard.floor': ({ guard, ...before }, draw) => ({
    ...before,
    guard: { ...guard, floor: draw.pick([0, 10, 1000], 'floor') },
  }),
  refresh: (before, draw) => ({
    ...before,
    refreshMs: draw.between(60, 48 * 60, 'refresh') * minuteMs,
  }),
  keep: (before, draw) => ({ ...before, keepMs: draw.between(1, 40, 'keep') * dayMs }),
  stamp: (before) => ({ ...before, stamp: before.stamp === 'middle' ? 'end' : 'middle' }),
  lastClose: (before, draw) => ({
    ...before,
    lastClose: before.lastClose === undefined ? { kind: 'day', day: draw.between(1, 28, 'day') } : undefined,
  }),
};

const sourceChanges: Readonly<Record<string, Change<SourceSettings>>> = {
  removed: (before) => ({ ...before, removed: before.removed === 'carry' ? 'delete' : 'carry' }),
  history: (before) => ({ ...before, history: before.history === 'carry' ? 'replace' : 'carry' }),
  mayBeEmpty: (before) => ({ ...before, mayBeEmpty: !before.mayBeEmpty }),
  'guard.values': (before, draw) => ({
    ...before,
    values: draw.pick(['hold', 'warn', 'off', undefined] as const, 'values'),
  }),
};

function otherSettings(
  { stage, settings }: World,
  draw: Entropy,
): { readonly settings: Settings; readonly says: string } {
  const all = stage.settings.sources;
  const digest = `${stage.settings.digest}-${draw.between(0, 9999, 'digest')}`;
  // Chance alone does it too rarely, and all that was left out meanwhile is judged then.
  if (!settings.shouldDeleteMissing && draw.isIn(0.3, 'deletes'))
    return { settings: { ...settings, shouldDeleteMissing: true, digest }, says: 'shouldDeleteMissing is true' };
  if (settings.sources.length < all.length)
    return { settings: { ...settings, sources: all, digest }, says: 'all sources are back' };
  const what = draw.pick(['source', 'guard', 'pushOnChange'] as const, 'what');
  if (what === 'source' && all.length > 1) {
    const gone = draw.pick(all, 'gone').name;
    return {
      settings: { ...settings, sources: all.filter(({ name }) => name !== gone), digest },
      says: `${gone} is not in it`,
    };
  }
  if (what === 'guard') {
    const maxDeletes = { kind: 'share', millionths: draw.between(1, 30, 'share') * 10_000 } as const;
    return {
      settings: { ...settings, guard: { ...settings.guard, maxDeletes }, digest },
      says: 'maxDeletes is another one',
    };
  }
  return {
    settings: { ...settings, pushOnChangeMs: draw.between(1, 60, 'minutes') * minuteMs, digest },
    says: 'pushOnChange is another one',
  };
}
