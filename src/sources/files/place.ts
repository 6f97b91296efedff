/** Where the files of a source are. */
import type { Clock } from '../../core/ports.ts';
import type { Mapping } from '../../core/settings.ts';
import type { SourceContext } from '../kind.ts';
import { Copies } from './copies.ts';
import { remotesOf } from '../remote/open.ts';
import type { RemoteFiles } from '../remote/store.ts';
import { type Glob, parseGlob } from './glob.ts';
import type { FileSettings } from './keys.ts';
import { type PartNames, partNames } from './part-names.ts';

/** Where a source's files are. */
export interface FilePlace {
  readonly globs: readonly Glob[];
  /** On other machines. */
  readonly remotes: readonly RemoteFiles[];
  readonly copies: Copies;
  /** Globs of members of zip archives that are parts; `undefined` where an archive is a file like any other. */
  readonly members: readonly string[] | undefined;
  readonly names: PartNames;
  readonly forbidden: readonly string[];
  /** `undefined` for files beside a source: maps and calendars. */
  readonly mapping: Mapping | undefined;
  readonly newestOnly: boolean;
  readonly settleMs: number;
  /** The most bytes that a compressed file may expand to. */
  readonly expandedMax: number;
  readonly clock: Clock;
}

/** The part of a source's context that a place needs; maps and calendars have no mapping. */
export type PlaceContext = Pick<SourceContext, 'baseDir' | 'clock' | 'forbidden' | 'state' | 'naming'> & {
  readonly mapping?: Mapping;
};

export function placeOf(settings: FileSettings, context: PlaceContext): FilePlace {
  const { baseDir, clock, state, naming } = context;
  const { files } = settings;
  const { settle: settleMs, expandedMax: bytesMax } = settings;
  const all = files.map((file) => (typeof file === 'string' ? parseGlob(baseDir, file) : file));
  const globs = all.filter((pattern) => 'text' in pattern);
  const remotes = all.filter((pattern) => 'protocol' in pattern);
  const names = partNames(baseDir, { globs, remotes, all }, naming);
  return {
    globs,
    remotes: remotesOf(remotes, settings, { baseDir, clock }),
    members: settings.members,
    copies: new Copies({ settleMs, bytesMax, clock, state, names }),
    names,
    forbidden: context.forbidden ?? [],
    mapping: context.mapping,
    newestOnly: settings.parts === 'newest',
    settleMs: settings.settle,
    expandedMax: settings.expandedMax,
    clock: context.clock,
  };
}
