/** What the agent does for parts that grew while it has nothing else to do. */
import { AgentError, isAgentError } from '../../core/errors.ts';
import type { PartRead } from '../../core/buffer.ts';
import type { ProvenBlocks } from '../../core/ports.ts';
import type { Dependencies } from '../dependencies.ts';
import { prove } from './grown-parts.ts';

/** More runs than these are made one: each of them is looked through for every driver. */
const runsMax = 8;
/** It rests for so many times as long as it hashed, so that nobody notices it. */
const restTimes = 3;
/** Without a reason of its own each `abort` makes an error with a stack. */
const stopped = new AgentError('aborted', 'a pass begins');

/** Runs between passes, and goes on behind the next pass where it was stopped. */
export class IdleWork {
  #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** How far the proof of a part has come. */
  #proven: { readonly part: number; readonly blocks: ProvenBlocks } | undefined;

  /** @param changed is told of sources with a part that has to be read whole */
  start(deps: Dependencies, changed: (source: string) => void): void {
    if (this.#running !== undefined) return;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.#running = this.#run(deps, changed, signal).catch((error: unknown) => {
      // A file that cannot be read now is the next pass's to tell.
      if (!signal.aborted && !isAgentError(error)) throw error;
    });
    // Awaited by `stop`, which may come much later.
    this.#running.catch(() => undefined);
  }

  /** Comes back when nothing of it runs any more. @throws what nobody foresaw */
  async stop(): Promise<void> {
    this.#stop.abort(stopped);
    const running = this.#running;
    this.#running = undefined;
    await running;
  }

  async #run(deps: Dependencies, changed: (source: string) => void, signal: AbortSignal): Promise<void> {
    for (const part of deps.buffer.growths.unproven()) {
      if (await this.#isDisproved(deps, part, signal)) changed(part.source);
    }
    await compactScattered(deps, signal);
  }

  async #isDisproved(deps: Dependencies, part: PartRead, signal: AbortSignal): Promise<boolean> {
    const { clock, settings } = deps;
    const source = settings.sources.find(({ name }) => name === part.source);
    if (source === undefined) return false;
    let fromMs = clock.monotonicMs();
    const pause = async (blocks: ProvenBlocks): Promise<void> => {
      this.#proven = { part: part.id, blocks };
      await clock.sleep(restTimes * (clock.monotonicMs() - fromMs), signal);
      fromMs = clock.monotonicMs();
    };
    const proven = this.#proven?.part === part.id ? this.#proven.blocks : undefined;
    return (await prove(deps, { source: deps.openSource(source), part, pause, proven }, signal)) === 'changed';
  }
}

/** Makes one run of parts that were made of many. The loop goes on meanwhile. */
export async function compactScattered({ buffer }: Pick<Dependencies, 'buffer'>, signal: AbortSignal): Promise<void> {
  for (const part of buffer.growths.scattered(runsMax)) {
    for (const _piece of buffer.growths.compact(part)) {
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) return;
    }
  }
}
