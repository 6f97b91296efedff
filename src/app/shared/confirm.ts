/** What is begun in one term is not confirmed by the next, though the same agent has it. */
import type { Lead } from '../../core/election/lead.ts';

/** Makes sure that the agent leads still, in the term that it has now. */
export function confirmIn(lead: Pick<Lead, 'signal' | 'confirm'>): () => Promise<void> {
  const { signal } = lead;
  return async () => {
    signal.throwIfAborted();
    await lead.confirm();
    signal.throwIfAborted();
  };
}
