/** What supervisors ask: whether the loop moves, and whether the agent has done its work once. */
import { isAgentError } from '../core/errors.ts';
import { type Answer, textAnswer } from './answer.ts';
import type { Watched } from './watched.ts';

/**
 * 200 while the agent holds its state directory and its loop moves, as `status --live`. An agent without its lock is found by no
 * command, and starting it anew mends that. Without its ledger it is live: the next one would begin one that knows no rollback and no push.
 */
export async function livez(agent: Watched): Promise<Answer> {
  try {
    agent.confirmHeld();
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return textAnswer(503, `the agent does not hold its state directory: ${error.message}`);
  }
  const untilMs = agent.silentUntilMs();
  if (untilMs === undefined) return textAnswer(503, 'the loop has not moved yet');
  if (Date.now() <= untilMs) return textAnswer(200, 'the loop moves');
  return textAnswer(503, `the loop has not moved for too long: it was to move by ${new Date(untilMs).toISOString()}`);
}

/** 200 once a pass has ended and while the stores answer. */
export async function readyz(agent: Watched): Promise<Answer> {
  const { broken } = await agent.signs();
  if (broken !== undefined) return textAnswer(503, `the last pass broke: ${broken.reason}`);
  if (agent.notes.lastMs === undefined) return textAnswer(503, 'no pass has ended since the agent was started');
  try {
    await agent.open(async ({ ledger, buffer }) => {
      await ledger.head();
      buffer.reads.revision();
    });
    return textAnswer(200, 'a pass has ended, and the stores answer');
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return textAnswer(503, `the stores do not answer: ${error.message}`);
  }
}
