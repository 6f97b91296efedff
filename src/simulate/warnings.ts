/** Settings that let a loss through: what they say is done, and a history shows what that costs. */
import type { Settings, SourceSettings } from '../core/settings.ts';
import { accumulates } from '../core/guard/guard.ts';
import type { EventKind } from './history/events.ts';

/** By type of source: texts that come whole in every history. */
const wholeHere: Readonly<Record<string, string>> = {
  command: 'the output of a program',
  http: 'the answer of an address',
};

export interface Warning {
  /** The key of the config that it is about, such as `sources.revenue.removed`. */
  readonly path: string;
  readonly message: string;
}

/** A setting that lets something through, and what is needed to show it. */
export interface LooseSetting extends Warning {
  /** The same settings with what is usual in its place. */
  tighten(settings: Settings): Settings;
  /** What is done then, where the agent need not stop for it. */
  readonly instead?: string;
  /** The sources that it is about; without: all of them. */
  readonly sources?: readonly string[];
  /** What happens in histories that are to show it. */
  readonly kinds: readonly EventKind[];
  /** Why no history can show it. */
  readonly whyNotPlayed?: string;
  /**
   * `lost`: numbers that go, or become wrong, though nobody meant it; `left`: numbers that nobody has any more and that stay at the
   * service; `others`: drivers that somebody else keeps at the service; `short`: numbers that lack what was booked.
   */
  readonly counts: 'lost' | 'left' | 'others' | 'short';
}

const usualShare = { kind: 'share', millionths: 100_000 } as const;
const usualFloor = 5;
/** Up to so many times of what is usual an allowance is a small one. */
const smallMax = 2;
/** Beyond so many points an allowance by count is no small one. */
const muchPoints = 100;
const cuts: readonly EventKind[] = ['half', 'empty', 'vanish', 'badCells'];

export function looseSettings(settings: Settings): readonly LooseSetting[] {
  const { sources, shouldDeleteMissing } = settings;
  return [
    ...(shouldDeleteMissing ? guardSettings(settings) : [staysForever]),
    ...valueSettings(settings),
    ...rejectSettings(settings),
    ...sources.flatMap((source) => [
      ...(shouldDeleteMissing ? sourceSettings(source) : []),
      ...sourceValues(settings, source),
      ...repeatedRows(source),
    ]),
    ...(shouldDeleteMissing ? firstPush(settings) : []),
  ];
}

const withGuard = (settings: Settings, guard: Partial<Settings['guard']>): Settings => ({
  ...settings,
  guard: { ...settings.guard, ...guard },
});

const withSource =
  (name: string, change: (source: SourceSettings) => Partial<SourceSettings>) =>
  (settings: Settings): Settings => ({
    ...settings,
    sources: settings.sources.map((source) => (source.name === name ? { ...source, ...change(source) } : source)),
  });

const staysForever: LooseSetting = {
  path: 'destination.shouldDeleteMissing',
  message: 'what is taken out of an export stays at the service: nothing there is ever deleted',
  tighten: (settings) => ({ ...settings, shouldDeleteMissing: true }),
  instead: 'what no source has any more is deleted, as far as the guard lets it',
  kinds: ['goneItem', 'rolling', 'approve', 'month'],
  counts: 'left',
};

function guardSettings({ guard: { maxDeletes, floor } }: Settings): readonly LooseSetting[] {
  const shown =
    maxDeletes.kind === 'share' ? `${maxDeletes.millionths / 10_000}%` : `${maxDeletes.count} drivers or points`;
  const isOpen =
    maxDeletes.kind === 'share'
      ? maxDeletes.millionths > smallMax * usualShare.millionths
      : maxDeletes.count > muchPoints;
  return [
    ...(isOpen
      ? [
          {
            path: 'guard.maxDeletes',
            message: `an export that ends half way deletes up to ${shown} of a source in one pass`,
            tighten: (settings: Settings) => withGuard(settings, { maxDeletes: usualShare }),
            kinds: cuts,
            counts: 'lost' as const,
          },
        ]
      : []),
    ...(floor > smallMax * usualFloor
      ? [
          {
            path: 'guard.floor',
            message: `a source may lose up to ${floor} drivers or points in one pass, as far as that is half of it`,
            tighten: (settings: Settings) => withGuard(settings, { floor: usualFloor }),
            kinds: cuts,
            counts: 'lost' as const,
          },
        ]
      : []),
  ];
}

function valueSettings({ guard }: Settings): readonly LooseSetting[] {
  if (guard.values === 'hold') return [];
  return [
    {
      path: 'guard.values',
      message: 'numbers that are all a thousand times larger, or of another sign, are pushed',
      tighten: (settings) => withGuard(settings, { values: 'hold' }),
      kinds: ['slip', 'thin'],
      counts: 'lost',
    },
  ];
}

/** A row that cannot be read takes nothing with it but its own number, unless that is a share of a total. */
function rejectSettings({ guard, sources }: Settings): readonly LooseSetting[] {
  const { maxRejects } = guard;
  const isNone =
    maxRejects === undefined || (maxRejects.kind === 'count' ? maxRejects.count : maxRejects.millionths) === 0;
  const adding = sources.filter(({ mapping }) => accumulates(mapping)).map(({ name }) => name);
  if (isNone || adding.length === 0) return [];
  return [
    {
      path: 'guard.maxRejects',
      message: 'a row that cannot be read is left out of its total, unseen',
      tighten: (settings) => withGuard(settings, { maxRejects: undefined }),
      sources: adding,
      kinds: ['badCells'],
      counts: 'lost',
    },
  ];
}

function sourceValues({ guard }: Settings, { name, values }: SourceSettings): readonly LooseSetting[] {
  if (values === undefined || values === 'hold' || guard.values !== 'hold') return [];
  return [
    {
      path: `sources.${name}.guard.values`,
      message: 'slips in its numbers are pushed',
      tighten: withSource(name, () => ({ values: 'hold' })),
      sources: [name],
      kinds: ['slip', 'thin'],
      counts: 'lost',
    },
  ];
}

/** Formats of a single day, `iso` not among them: it reads months too. */
const dayFormats = new Set(['unix', 'unix-ms', 'excel-serial']);

function showsDays(format: string): boolean {
  return dayFormats.has(format) || /d/.test(format.replaceAll(/'[^']*'|decimal-month|fiscal-\w+/g, ''));
}

/** Rows of single days, of which the last or the first of a month counts. */
function repeatedRows({ name, mapping }: SourceSettings): readonly LooseSetting[] {
  const isLoose = ({ rule, time }: SourceSettings['mapping']['drivers'][number]): boolean =>
    (rule === 'last' || rule === 'first') && time.format.formats.some(showsDays);
  const looseEntries = mapping.drivers.map(isLoose);
  if (mapping.unpivot !== undefined || !looseEntries.includes(true)) return [];
  // In the simulated world plain rows may take the place of the user's, under the rule of the first entry.
  const added = ({ mapping: played }: SourceSettings): Partial<SourceSettings> => {
    const drivers = played.drivers.map((entry, at) => (looseEntries[at] ? { ...entry, rule: 'sum' as const } : entry));
    return { mapping: { ...played, drivers } };
  };
  return [
    {
      path: `sources.${name}.drivers`,
      message:
        'its rows are of days, and of several in a month one counts: right for balances; bookings take collapse: sum',
      tighten: withSource(name, added),
      instead: 'all of them are added up',
      sources: [name],
      kinds: ['booking'],
      counts: 'short',
    },
  ];
}

function sourceSettings({ name, type, removed, mayBeEmpty, kind }: SourceSettings): readonly LooseSetting[] {
  const path = `sources.${name}`;
  const loose: LooseSetting[] = [];
  if (removed === 'delete')
    loose.push({
      path: `${path}.removed`,
      message: 'a file that is missing for a moment takes its numbers with it, as far as maxDeletes lets it',
      tighten: withSource(name, () => ({ removed: 'carry' })),
      instead: 'the numbers of a file that is gone stay',
      sources: [name],
      kinds: ['vanish'],
      counts: 'lost',
    });
  if (mayBeEmpty)
    loose.push({
      path: `${path}.mayBeEmpty`,
      message: 'an export that turns empty deletes all that the source had',
      tighten: withSource(name, () => ({ mayBeEmpty: false })),
      sources: [name],
      kinds: ['empty'],
      counts: 'lost',
    });
  if ((kind as { readonly lineEnd?: unknown } | null)?.lineEnd === 'any')
    loose.push({
      path: `${path}.lineEnd`,
      message: 'a file that is cut in the middle of a number is taken for a whole one',
      tighten: withSource(name, () => ({ kind: { ...(kind as object), lineEnd: undefined } })),
      sources: [name],
      kinds: ['cut'],
      counts: 'lost',
      ...(wholeHere[type] && { whyNotPlayed: `${wholeHere[type]} is never cut in a history` }),
    });
  return loose;
}

function firstPush({ guard }: Settings): readonly LooseSetting[] {
  if (guard.firstPush === 'approve') return [];
  return [
    {
      path: 'guard.firstPush',
      message: 'the first push deletes every driver of the service that is not in these sources, and asks nobody',
      tighten: (settings) => withGuard(settings, { firstPush: 'approve' }),
      kinds: [],
      counts: 'others',
    },
  ];
}
