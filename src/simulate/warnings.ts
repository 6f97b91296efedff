/** Settings that let a loss through: what they say is done, and a history may show what that costs. */
import type { Settings, SourceSettings } from '../core/settings.ts';

export interface Warning {
  /** The key of the config that it is about, such as `sources.revenue.removed`. */
  readonly path: string;
  readonly message: string;
}

const half = 500_000;

export function configWarnings(settings: Settings): readonly Warning[] {
  if (!settings.shouldDeleteMissing) return settings.sources.flatMap((source) => valueWarnings(settings, source));
  return [
    ...guardWarnings(settings),
    ...settings.sources.flatMap((source) => [...sourceWarnings(source), ...valueWarnings(settings, source)]),
    ...tellingWarnings(settings),
  ];
}

function guardWarnings({ guard }: Settings): readonly Warning[] {
  const { maxDeletes, values } = guard;
  const isOpen = maxDeletes.kind === 'share' && maxDeletes.millionths > half;
  const shown = maxDeletes.kind === 'share' ? `${maxDeletes.millionths / 10_000}%` : '';
  return [
    ...(isOpen
      ? [
          {
            path: 'guard.maxDeletes',
            message: `an export that ends half way deletes up to ${shown} of a source in one pass`,
          },
        ]
      : []),
    ...(values === 'hold'
      ? []
      : [
          {
            path: 'guard.values',
            message: 'numbers that are all a thousand times larger, or of another sign, are pushed',
          },
        ]),
  ];
}

function sourceWarnings({ name, removed, mayBeEmpty, kind }: SourceSettings): readonly Warning[] {
  const path = `sources.${name}`;
  const lineEnd = (kind as { readonly lineEnd?: unknown } | null)?.lineEnd;
  return [
    ...(removed === 'delete'
      ? [
          {
            path: `${path}.removed`,
            message: 'a file that is missing for a moment takes its numbers with it, as far as maxDeletes lets it',
          },
        ]
      : []),
    ...(mayBeEmpty
      ? [{ path: `${path}.mayBeEmpty`, message: 'an export that turns empty deletes all that the source had' }]
      : []),
    ...(lineEnd === 'any'
      ? [{ path: `${path}.lineEnd`, message: 'a file that is cut in the middle of a number is taken for a whole one' }]
      : []),
  ];
}

function valueWarnings({ guard }: Settings, { name, values }: SourceSettings): readonly Warning[] {
  if (values === undefined || values === 'hold' || guard.values !== 'hold') return [];
  return [{ path: `sources.${name}.values`, message: 'slips in its numbers are pushed' }];
}

function tellingWarnings({ notify, status }: Settings): readonly Warning[] {
  if (notify.length > 0) return [];
  const where = status === undefined ? '"driver-sync status"' : 'the status page';
  return [{ path: 'notify', message: `nobody is told of a hold: it lasts until somebody looks at ${where}` }];
}
