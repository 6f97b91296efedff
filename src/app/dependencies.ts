/** Everything that a pass works with. `compose/` makes one of real parts; tests make one of theirs. */
import type { SourceSettings, Settings } from '../core/settings.ts';
import type { Clock, Destination, Log, Lookups, Schedule, Source } from '../core/ports.ts';
import type { LocalBuffer } from '../core/buffer.ts';
import type { Archive, Ledger } from '../core/ledger.ts';
import type { Outlets } from '../core/telling/notice.ts';

export interface Dependencies {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly log: Log;
  /** At least 0 and less than 1. */
  readonly random: () => number;
  readonly buffer: LocalBuffer;
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly destination: Destination;
  /** Where agents share a ledger: makes sure that this one still leads, before the last bytes of a push. */
  readonly confirm?: (() => Promise<void>) | undefined;
  /** @throws AgentError `state.lost` where the files that the agent has open are no longer those of its state directory */
  readonly confirmState?: (() => void) | undefined;
  /** Who is told of what is wrong. */
  readonly outlets: Outlets;
  /** What acknowledged snapshots belong to: the destination's address, or `emulator`. */
  readonly address: string;
  openSource(settings: SourceSettings): Source;
  /** @throws AgentError `source.unreadable` or `part.unreadable` where a table cannot be read */
  readLookups(settings: SourceSettings, signal: AbortSignal): Promise<Lookups>;
  /** Is told how far a pass is: for progress on a terminal, for `status --live`, and for tests that pull the plug. */
  readonly observe: (event: PassEvent) => void;
}

export type PassEvent =
  | { readonly kind: 'source.listed'; readonly source: string; readonly parts: number }
  | {
      readonly kind: 'part.reading';
      readonly source: string;
      readonly part: string;
      readonly rows: number;
      readonly share: number | undefined;
    }
  | { readonly kind: 'part.folded' | 'part.swapped'; readonly source: string; readonly part: string }
  | { readonly kind: 'read.judged' }
  | { readonly kind: 'snapshot.written'; readonly digest: string }
  | { readonly kind: 'push.begun'; readonly push: number; readonly bytes: number }
  | { readonly kind: 'push.sending'; readonly sent: number; readonly bytes: number }
  /** `broken`: it came to no end that could be recorded, as where another agent leads meanwhile. */
  | { readonly kind: 'push.answered' | 'push.recorded' | 'push.broken'; readonly push: number }
  | { readonly kind: 'waiting'; readonly ms: number; readonly why: string };
