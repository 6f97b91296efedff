/** Candidates as a pass has them once all sources were read, in a buffer and a ledger in memory. */
import type { Dependencies, PassEvent } from '../../src/app/dependencies.ts';
import type { SourceRead } from '../../src/app/read/read-source.ts';
import { review } from '../../src/app/review/review.ts';
import type { WatchChanges } from '../../src/app/review/decide.ts';
import type { Verdict } from '../../src/app/review/verdict.ts';
import type { ReadKind } from '../../src/core/buffer.ts';
import type { Rule } from '../../src/core/model.ts';
import type { Settings, SourceSettings } from '../../src/core/settings.ts';
import { openLedger } from '../../src/edges/state/ledger.ts';
import { type HandClock, handClock } from './hand-clock.ts';
import { type KeptPart, keepRead, keptReads } from './kept-reads.ts';

export interface ReviewedSource extends Partial<SourceSettings> {
  readonly rules?: readonly Rule[];
}

export interface ReviewWorld extends AsyncDisposable {
  readonly deps: Dependencies;
  readonly clock: HandClock;
  readonly events: readonly PassEvent[];
  /** The sources that the config has from now on, in this order. */
  configure(sources: Readonly<Record<string, ReviewedSource>>, more?: Partial<Settings>): void;
  /** Makes a read of a source. @param basis what it was made from */
  keep(read: `${string} ${ReadKind}`, parts: Readonly<Record<string, KeptPart>>, basis?: string): void;
  /** Reviews what is there. @param unread sources that were not read, with the reason */
  review(options?: ReviewOptions): Promise<Readonly<Record<string, Verdict>>>;
  /** Approves what is held of a source. */
  approve(source: string): Promise<void>;
  /** Newest first: source, state and why. */
  approvals(): Promise<readonly (readonly [string | undefined, string, string | undefined])[]>;
  held(): Promise<readonly string[]>;
  /** By source, the drivers that it has accepted, with their values. */
  accepted(): Readonly<Record<string, readonly string[]>>;
}

export interface ReviewOptions {
  readonly unread?: Readonly<Record<string, string>>;
  readonly mayLag?: boolean;
  readonly watch?: WatchChanges;
}

/** Three deletes may go, or a tenth. It is 2026-03-15. */
const guard: Settings['guard'] = {
  maxDeletes: { kind: 'share', millionths: 100_000 },
  floor: 3,
  values: 'hold',
} as Settings['guard'];

export function reviewWorld(
  sources: Readonly<Record<string, ReviewedSource>>,
  more: Partial<Settings> = {},
): ReviewWorld {
  const buffer = keptReads({});
  buffer.setState({ id: 'buffer' });
  const ledger = openLedger(':memory:', 'migrate');
  const clock = handClock(new Date('2026-03-15T12:00:00Z'));
  const events: PassEvent[] = [];
  const readBy = { readings: 'r', rules: 'u', paths: 'p' };
  let settings: Settings;
  const configure: ReviewWorld['configure'] = (given, others = {}) => {
    const common = { guard, shouldDeleteMissing: true, stamp: 'middle', timezone: 'UTC', lastClose: undefined };
    const all = Object.entries(given).map(([name, { rules = ['last'], ...keys }]) => {
      const mapping = { drivers: rules.map((rule) => ({ rule })) };
      return { name, mapping, removed: 'carry', history: 'replace', mayBeEmpty: false, values: undefined, ...keys };
    });
    settings = { ...common, ...more, ...others, sources: all } as unknown as Settings;
  };
  configure(sources);
  const deps = {
    buffer,
    ledger,
    clock,
    address: 'https://service',
    observe: (event: PassEvent) => void events.push(event),
    get settings() {
      return settings;
    },
  } as unknown as Dependencies;
  const readOf = (source: SourceSettings, { unread = {}, mayLag = false }: ReviewOptions): SourceRead => {
    const { [source.name]: reason } = unread;
    const read = { settings: source, state: 'read', mayLag, goneFiles: [], readBy: () => readBy, disappeared: [] };
    return (reason === undefined ? read : { settings: source, state: 'unread', reason, hint: 'mend it' }) as SourceRead;
  };
  return {
    deps,
    clock,
    events,
    configure,
    keep(read, parts, basis) {
      const [source, kind] = read.split(' ') as [string, ReadKind];
      keepRead(buffer, { source, kind, ...(basis !== undefined && { basis }) }, parts);
    },
    async review(options = {}) {
      const reads = settings.sources.map((source) => readOf(source, options));
      const forgotten = { names: new Map(), carryOut: async () => undefined, hasForgotten: () => false };
      const verdicts = await review(deps, { reads, forgotten }, options.watch);
      return Object.fromEntries(verdicts.map((verdict) => [verdict.source, verdict]));
    },
    async approve(source) {
      const held = (await ledger.holds.held()).find((one) => one.source === source);
      await ledger.holds.approve(held?.digest ?? '', source, clock.now().getTime());
    },
    approvals: async () => (await ledger.holds.approvals()).map(({ source, state, why }) => [source, state, why]),
    held: async () => (await ledger.holds.held()).map(({ source }) => source),
    accepted: () =>
      Object.fromEntries(
        buffer.reads.acceptedSources().map((source) => {
          return [source, [...buffer.reads.drivers(source, 'accepted')].map(({ id }) => id)];
        }),
      ),
    async [Symbol.asyncDispose]() {
      await ledger.close();
      buffer.close();
    },
  };
}

/** A part in which each of these drivers has a value in each of these months. */
export function grid(ids: readonly string[], months: readonly string[] = ['2026-01'], value = '1'): KeptPart {
  return {
    points: Object.fromEntries(ids.map((id) => [id, Object.fromEntries(months.map((month) => [month, value]))])),
  };
}
