/** `rollback`: carried out by the agent where one runs, else here. */

import { findRollback, rollBackRequested } from '../app/prepare/requests.ts';
import type { PushReport } from '../app/push/push-report.ts';
import { waitThatWasAsked } from '../app/push/retrying.ts';
import { openReadable } from '../app/push/retention.ts';
import { pushSummary } from '../app/report.ts';
import { closedChanges } from '../app/review/values.ts';
import type { OpenState } from '../compose/look.ts';
import { heartbeatOf, openState, runningAgent, wakeAgent } from '../compose/state.ts';
import { AgentError, type ErrorCode, isAgentError } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import type { Decided, Request, Snapshot } from '../core/ledger.ts';
import type { PackedPoints } from '../core/series/packing.ts';
import { type Context, answer, commandLog, loadBesideAgent, loadSettings } from './context.ts';
import { decidedBy } from './decided.ts';
import { openStop } from './ending.ts';
import { say } from './output.ts';
import { withAgent } from './sync.ts';
import { refuseStalled } from './wake.ts';

const retryForMs = 60_000;
const waitForAgentMs = 180_000;
const lookMs = 100;

interface AskedRollback {
  readonly request: Extract<Request, { kind: 'rollback' }>;
  readonly said: Decided;
}

interface RollbackAnswer {
  readonly outcome: PushReport['outcome'] | 'superseded';
  /** It cannot be carried out, now or later. */
  readonly code?: ErrorCode | undefined;
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
  readonly push?: object | undefined;
}

/** Pushes an acknowledged snapshot again; by the agent where one runs. */
export async function rollback(
  context: Context,
  push: string,
  options: { readonly force?: boolean; readonly reason?: string } = {},
): Promise<number> {
  const said = decidedBy(context, options.reason);
  const settings = loadBesideAgent(context)?.settings ?? loadSettings(context, 'required');
  const request = { kind: 'rollback', push: Number(push), isForced: options.force === true } as const;
  let asked: PushReport | undefined;
  let isLed = false;
  {
    await using state = await openState(settings, commandLog(context));
    const { snapshot } = await findRollback(state.deps, push);
    await sayClosed(state.deps, snapshot);
    isLed = (await state.deps.ledger.agents?.())?.leader !== undefined;
    if (!request.isForced) asked = await waitThatWasAsked(state.deps, `driver-sync rollback ${push} --force`);
    if (!settings.shouldDeleteMissing)
      say('note: with shouldDeleteMissing: false a rollback cannot take later points away');
  }
  const carryOut = (): Promise<RollbackAnswer> =>
    isLed || runningAgent(settings)?.command === 'run'
      ? askAgent(context, settings, { request, said })
      : rollBackHere(context, { request, said });
  // A longer wait than a command tries for: nothing is asked for, so that nothing happens later unseen.
  const isTooLong = (asked?.retry?.askedMs ?? 0) > retryForMs;
  const result: RollbackAnswer = asked !== undefined && isTooLong ? asked : await carryOut();
  const { code, reason: why = 'the rollback was given up' } = result;
  if (code !== undefined) throw new AgentError(code, why, { hint: result.hint });
  const exit = rollbackExit(result.outcome);
  const text =
    exit === 0
      ? `rolled back to push ${request.push}; nothing else is pushed until "driver-sync sync", SIGUSR2 or a changed config`
      : `${result.outcome}: ${result.reason ?? ''}`;
  const { outcome, reason, hint, push: pushed } = result;
  answer(context, { outcome, reason, hint, push: pushed, exit }, () => [
    text,
    ...(hint === undefined ? [] : [`  ${hint}`]),
  ]);
  return exit;
}

/** A person decides on a rollback, and should know that it goes back over what was closed. */
async function sayClosed(deps: OpenState['deps'], snapshot: Snapshot): Promise<void> {
  if (deps.settings.lastClose === undefined) return;
  const last = await deps.ledger.pushes.lastAcknowledged(deps.address);
  // What cannot be read is no reason to stay with it.
  const now = last && (await openReadable(deps, last.digest));
  if (now === undefined) return;
  const before = (): Iterable<PackedPoints> => now.readPoints(snapshot.blocks());
  const { text } = closedChanges(deps, { before, after: () => snapshot.readPoints(now.blocks()) });
  if (text !== '') say(`note: ${text}`);
}

function rollbackExit(outcome: RollbackAnswer['outcome']): number {
  if (outcome === 'acknowledged') return 0;
  return outcome === 'refused' ? 5 : 75;
}

/** Records the request first: should this process be killed, the next agent carries it out. */
async function rollBackHere(context: Context, { request: asked, said }: AskedRollback): Promise<RollbackAnswer> {
  // Those of above may be without secrets: an agent ran then, or another one might have led.
  const settings = loadSettings(context, 'required');
  return withAgent(context, settings, 'rollback', async ({ deps }, signal) => {
    const request = await deps.ledger.requests.add(asked, deps.clock.now().getTime(), said);
    const report = await rollBackRequested(deps, retryForMs, signal).catch((error: unknown) => {
      if (!isAgentError(error, 'aborted')) throw error;
      throw stillAsked(error, '"driver-sync run" carries it out, "driver-sync sync" drops it');
    });
    if (report === undefined) return JSON.parse((await deps.ledger.requests.result(request)) ?? '{}') as RollbackAnswer;
    const { outcome, reason, hint, push } = report;
    return { outcome, reason, hint, push: push && pushSummary(push) };
  });
}

/** Whoever stops the command must not take that for the end of what it asked for. */
function stillAsked(cause: AgentError, then: string): AgentError {
  return new AgentError('aborted', `${cause.message}; the rollback is asked for all the same`, {
    cause,
    hint: `${then}; "driver-sync status" says what it came to`,
  });
}

async function askAgent(
  context: Context,
  settings: Settings,
  { request: asked, said }: AskedRollback,
): Promise<RollbackAnswer> {
  using stop = openStop();
  await using state: OpenState = await openState(settings, commandLog(context));
  const { ledger, clock } = state.deps;
  const holder = settings.ledger === undefined ? runningAgent(settings) : undefined;
  refuseStalled(holder, heartbeatOf(settings));
  const request = await ledger.requests.add(asked, clock.now().getTime(), said);
  wakeAgent(settings);
  const untilMs = clock.monotonicMs() + waitForAgentMs;
  while (clock.monotonicMs() < untilMs) {
    const result = await ledger.requests.result(request);
    if (result !== undefined) return JSON.parse(result) as RollbackAnswer;
    try {
      await clock.sleep(lookMs, stop.signal);
      refuseStalled(holder, heartbeatOf(settings));
    } catch (error) {
      throw isAgentError(error, 'aborted') ? stillAsked(error, 'the agent carries it out') : error;
    }
  }
  return {
    outcome: 'unknown',
    reason: 'the agent has not rolled back yet and goes on trying',
    hint: '"driver-sync status" says how its last push ended',
  };
}
