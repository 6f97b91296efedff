/** What the loop asks of the agent that it runs in. `compose/agent.ts` makes it of real parts. */
import type { AgentError } from '../../core/errors.ts';
import type { Lead } from '../../core/election/lead.ts';
import type { Settings } from '../../core/settings.ts';
import type { Dependencies } from '../dependencies.ts';

/** An agent that holds its state directory. */
export interface Agent extends AsyncDisposable {
  readonly deps: Dependencies;
  /** Present where agents on several machines share a ledger. */
  readonly shared?: Shared | undefined;
  /** Uses other settings from now on; the state directory stays. */
  reconfigure(settings: Settings): Promise<void>;
  /** Moves a damaged buffer aside and starts a new one from the archive. */
  rebuildBuffer(): void;
  /** Gives back what a pass needed and waiting does not. */
  releaseMemory(): Promise<void>;
  /** Another one where the token file was written anew: a refused push is worth another try then. */
  tokenVersion(): string | undefined;
  /** Says that the loop moves, and until when it may be silent. */
  beat(allowanceMs: number): void;
  /** Keeps in mind, for `status`, that the last pass broke and why, or that it did not. */
  noteBroken(failure: AgentError | undefined): void;
}

export interface Shared {
  readonly lead: Lead;
  /** While another agent leads: what reads and judges, and writes nothing to the ledger. */
  readonly following: Dependencies;
}
