/** What the status page is given of the agent. `compose/` makes it of a thread's own look at the state. */
import type { AgentSigns, BrokenPass } from '../app/ask/status-report.ts';
import type { Dependencies } from '../app/dependencies.ts';
import type { Settings } from '../core/settings.ts';

export interface Watched {
  readonly version: string;
  /** As the agent has them, without secrets and without what only reading takes. */
  readonly settings: Settings;
  readonly notes: PassNotes;
  signs(): Promise<AgentSigns>;
  /** Makes sure that the agent still holds its state directory. @throws AgentError `state.lost`, `state.unwritable` */
  confirmHeld(): void;
  /** Until when the loop may be silent, in ms since 1970; `undefined` where it never moved. */
  silentUntilMs(): number | undefined;
  /** Opens the stores for one look at them. @throws AgentError of `state.` */
  open<T>(look: (deps: Dependencies) => Promise<T>): Promise<T>;
}

/** What is known of the passes since the agent was started. */
export interface PassNotes {
  /** How long the last one took that ended; `undefined`: none has ended yet. */
  readonly lastMs: number | undefined;
  /** Why the last pass ended before it had an outcome. Of the agent itself: its heartbeat may be what cannot be written. */
  readonly broken?: BrokenPass | undefined;
  /** When each source could last be read, in ms since 1970. */
  readonly readAtMs: Readonly<Record<string, number>>;
}
