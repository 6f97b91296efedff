/** `approve`: takes effect in the agent's next pass, which it wakes. */
import { openAsked, wakeAgent } from '../compose/state.ts';
import { AgentError } from '../core/errors.ts';
import type { Decided, HeldCandidate, Ledger } from '../core/ledger.ts';
import { showTime } from '../core/time/spoken.ts';
import { type Context, answer, loadSettings, nextStep } from './context.ts';
import { decidedBy, showDecided } from './decided.ts';

const digestMin = 8;

/** Approves what is held under a digest, or a unique prefix of it. */
export async function approve(
  context: Context,
  digest: string,
  { reason }: { readonly reason?: string } = {},
): Promise<number> {
  const said = decidedBy(context, reason);

  const settings = loadSettings(context, 'optional');
  const { ledger, clock } = await openAsked(settings);
  try {
    const { source, digest: found } = await findHeld(ledger, digest);
    const earlier = await ledger.holds.approve(found, source, clock.now().getTime(), said);
    wakeAgent(settings);
    const { rolledBack } = await ledger.state();
    const when =
      rolledBack === undefined
        ? nextStep(settings)
        : `rolled back to push ${rolledBack.push}: the pass that goes on from the sources takes it up`;
    if (earlier === undefined) {
      answer(context, { approved: found, source, ...said }, () => [`approved ${source} ${showDecided(said)}; ${when}`]);
      return 0;
    }
    const given: Decided = { by: earlier.by, as: earlier.as, reason: earlier.reason };
    const at = showTime(earlier.atMs, { nowMs: clock.now().getTime(), timezone: settings.timezone });
    const approvedAt = new Date(earlier.atMs).toISOString();
    answer(context, { approved: found, source, ...given, approvedAt }, () => [
      `${source} was approved already (${at}) ${showDecided(given)}; ${when}`,
    ]);
    return 0;
  } finally {
    await ledger.close();
  }
}

async function findHeld(ledger: Ledger, digest: string): Promise<HeldCandidate> {
  const held = await ledger.holds.held();
  const wanted = digest.toLowerCase();
  const found = wanted.length < digestMin ? [] : held.filter((one) => one.digest.startsWith(wanted));
  const [one] = found;
  if (one === undefined || found.length > 1) throw notHeld(digest, held);
  if (one.approvable) return one;
  const isPending = (await ledger.holds.approvals()).some(
    ({ state, source }) => state === 'pending' && source === one.source,
  );
  if (isPending) {
    throw new AgentError('usage', `${one.source} is approved already and waits: ${one.reason}`, { hint: one.hint });
  }
  throw new AgentError('usage', `${one.source} cannot be approved: ${one.reason}`, { hint: one.hint });
}

function notHeld(digest: string, held: readonly HeldCandidate[]): AgentError {
  const hint =
    held.length === 0
      ? 'nothing is held now'
      : `held are ${held.map((one) => `${one.digest.slice(0, 12)} (${one.source})`).join(', ')}`;
  if (digest.length < digestMin) {
    return new AgentError(
      'usage',
      `"${digest}" is too short for a digest: its first ${digestMin} characters are needed`,
      {
        hint,
      },
    );
  }
  const matches = held.filter((one) => one.digest.startsWith(digest.toLowerCase())).length;
  const fact = matches > 1 ? 'several held candidates have' : 'no held candidate has';
  return new AgentError('usage', `${fact} the digest ${digest}`, { hint });
}
