/** `approve`, `forget` and `rollback`: what they say takes effect in the agent's next pass, which they wake. */
import { createInterface } from 'node:readline/promises';
import { type OpenState, openAsked, openScratch, openState, runningAgent, wakeAgent } from '../app/compose.ts';
import { rollBackRequested } from '../app/pass.ts';
import type { PushReport } from '../app/push.ts';
import { acceptedDrivers } from '../app/push.ts';
import { pushSummary } from '../app/report.ts';
import { checkForget, findRollback, forget as forgetNow } from '../app/requests.ts';
import { type Changes, countChanges, diffDrivers } from '../core/diff.ts';
import { AgentError } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import type { HeldCandidate, Ledger } from '../core/stores.ts';
import { type Context, answer, commandLog, loadSettings, say } from './context.ts';
import { withAgent } from './sync.ts';
import { count, showChanges } from './text.ts';

const digestMin = 8;

/** Approves what is held under a digest, or a unique prefix of it. */
export function approve(context: Context, digest: string): number {
  const settings = loadSettings(context, 'optional');
  const ledger = openAsked(settings);
  try {
    const { source, digest: found } = findHeld(ledger, digest);
    ledger.approve(found, source, Date.now());
    wakeAgent(settings);
    answer(context, { approved: found, source }, () => `approved ${source}; ${nextStep(settings)}`);
    return 0;
  } finally {
    ledger.close();
  }
}

function findHeld(ledger: Ledger, digest: string): HeldCandidate {
  const held = ledger.held();
  const wanted = digest.toLowerCase();
  const found = wanted.length < digestMin ? [] : held.filter((one) => one.digest.startsWith(wanted));
  const [one] = found;
  if (one === undefined || found.length > 1)
    throw notHeld(
      digest,
      held.map((other) => other.digest),
    );
  if (one.approvable) return one;
  throw new AgentError('usage', `${one.source} cannot be approved: ${one.reason}`, { hint: one.hint });
}

function notHeld(digest: string, held: readonly string[]): AgentError {
  const hint = held.length === 0 ? 'nothing is held now' : `held are ${held.map((one) => one.slice(0, 12)).join(', ')}`;
  if (digest.length < digestMin) return new AgentError('usage', `"${digest}" is too short for a digest`, { hint });
  const matches = held.filter((one) => one.startsWith(digest.toLowerCase())).length;
  const fact = matches > 1 ? 'several held candidates have' : 'no held candidate has';
  return new AgentError('usage', `${fact} the digest ${digest}`, { hint });
}

function nextStep(settings: Settings): string {
  return runningAgent(settings)?.command === 'run' ? 'the agent takes it up now' : 'the next sync takes it up';
}

/** Drops what is carried for a part or a source that is gone for good. */
export async function forget(
  context: Context,
  target: { source: string; part?: string | undefined },
  yes: boolean,
): Promise<number> {
  const settings = loadSettings(context, 'optional');
  let changes: Changes;
  {
    using state = openState(settings, commandLog(context));
    checkForget(state.world, target);
    changes = forgottenChanges(settings, context, target);
  }
  const { drivers, points } = changes;
  const what = `forgetting this deletes ${count(drivers.delete, 'driver')} and ${count(points.delete, 'point')} at the next push`;
  if (!yes && !(await isConfirmed(what))) {
    throw new AgentError('usage', `${what}; nothing was forgotten`, { hint: 'say --yes to do it without being asked' });
  }
  using state = openState(settings, commandLog(context));
  state.world.ledger.request({ kind: 'forget', source: target.source, part: target.part }, Date.now());
  wakeAgent(settings);
  answer(context, { forgotten: target, changes }, () => `${what}; ${nextStep(settings)}\n${showChanges(changes)}`);
  return 0;
}

function forgottenChanges(
  settings: Settings,
  context: Context,
  target: { source: string; part?: string | undefined },
): Changes {
  using scratch = openScratch(settings, commandLog(context));
  using state = openState(settings, commandLog(context));
  forgetNow(scratch.world, target);
  return countChanges(diffDrivers(acceptedDrivers(state.world), acceptedDrivers(scratch.world)));
}

async function isConfirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question}. Go on? [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

const retryForMs = 60_000;
const waitForAgentMs = 180_000;

interface RollbackAnswer {
  readonly outcome: PushReport['outcome'] | 'superseded';
  readonly reason?: string | undefined;
  readonly push?: object | undefined;
}

/** Pushes an acknowledged snapshot again; by the agent where one runs. */
export async function rollback(context: Context, push: string): Promise<number> {
  const settings = loadSettings(context, 'required');
  const id = Number(push);
  {
    using state = openState(settings, commandLog(context));
    findRollback(state.world, push);
    if (!settings.shouldDeleteMissing)
      say('note: with shouldDeleteMissing: false a rollback cannot take later points away');
  }
  const isAgentRunning = runningAgent(settings)?.command === 'run';
  const result = isAgentRunning ? await askAgent(context, settings, id) : await rollBackHere(context, settings, id);
  const exit = rollbackExit(result.outcome);
  const text =
    exit === 0
      ? `rolled back to push ${id}; nothing else is pushed until "driver-sync sync", SIGUSR2 or a changed config`
      : `${result.outcome}: ${result.reason ?? ''}`;
  answer(context, { ...result, exit }, () => text);
  return exit;
}

function rollbackExit(outcome: RollbackAnswer['outcome']): number {
  if (outcome === 'acknowledged') return 0;
  return outcome === 'refused' ? 5 : 75;
}

/** Asks first and then does it: should this be killed in the middle, the next agent finishes it. */
async function rollBackHere(context: Context, settings: Settings, id: number): Promise<RollbackAnswer> {
  return withAgent(context, settings, 'rollback', async ({ world }, signal) => {
    const request = world.ledger.request({ kind: 'rollback', push: id }, Date.now());
    const report = await rollBackRequested(world, retryForMs, signal);
    if (report === undefined) {
      const { reason } = JSON.parse(world.ledger.requestResult(request) ?? '{}') as Partial<RollbackAnswer>;
      throw new AgentError('snapshot.damaged', reason ?? 'the rollback was given up', {
        hint: 'name another push: see "driver-sync history"',
      });
    }
    const { outcome, reason, push } = report;
    return { outcome, reason, push: push && pushSummary(push) };
  });
}

async function askAgent(context: Context, settings: Settings, id: number): Promise<RollbackAnswer> {
  using state: OpenState = openState(settings, commandLog(context));
  const { ledger, clock } = state.world;
  const request = ledger.request({ kind: 'rollback', push: id }, Date.now());
  wakeAgent(settings);
  const untilMs = clock.monotonicMs() + waitForAgentMs;
  while (clock.monotonicMs() < untilMs) {
    const result = ledger.requestResult(request);
    if (result !== undefined) return JSON.parse(result) as RollbackAnswer;
    await clock.sleep(100, new AbortController().signal);
  }
  return { outcome: 'unknown', reason: 'the agent has not answered yet; "driver-sync status" will say' };
}
