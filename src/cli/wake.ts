/** `sync --wake`: the pass that a running daemon makes when it is asked, and what it came to. */
import type { Dependencies } from '../app/dependencies.ts';
import { stalledSinceMs } from '../compose/stalled.ts';
import { heartbeatOf, openState, runningAgent } from '../compose/state.ts';
import { AgentError } from '../core/errors.ts';
import type { Ledger } from '../core/ledger.ts';
import type { PassReport } from '../core/report.ts';
import type { Settings } from '../core/settings.ts';
import { type Context, commandLog } from './context.ts';
import { say } from './output.ts';

/** How long a command waits for the end of a pass. The daemon goes on with it. */
const waitMs = 900_000;
const lookMs = 200;

/**
 * Wakes the daemon and waits for the end of the pass that it makes for that.
 * @throws AgentError `state.locked` where it cannot be woken, `aborted` where its pass broke or takes too long
 */
export async function wakeAndWait(context: Context, settings: Settings, pid: number): Promise<PassReport> {
  await using state = await openState(settings, commandLog(context));
  const { ledger, clock } = state.deps;
  const wokenMs = clock.now().getTime();
  const holder = runningAgent(settings);
  refuseStalled(holder, heartbeatOf(settings));
  signal(pid);
  say(`woke the agent with pid ${pid}; waiting for the end of its pass, for ${waitMs / 60_000} minutes at most`);
  const alive = (): void => {
    const heartbeat = heartbeatOf(settings);
    const broken = heartbeat?.broken;
    if (broken !== undefined && Date.parse(broken.at) >= wokenMs)
      throw new AgentError('aborted', `the pass of the agent broke: ${broken.reason}`, { hint: broken.hint });
    if (!isAlive(pid)) throw new AgentError('aborted', `the agent with pid ${pid} has ended`);
    refuseStalled(holder, heartbeat);
  };
  return await waitForPass({ ledger, clock }, { wokenMs, alive, agent: `the agent with pid ${pid}` });
}

/** One that does not move makes no pass. @throws AgentError `aborted` */
export function refuseStalled(
  holder: ReturnType<typeof runningAgent>,
  heartbeat: ReturnType<typeof heartbeatOf>,
): void {
  const sinceMs = stalledSinceMs(holder, heartbeat, Date.now());
  if (sinceMs === undefined) return;
  const message = `the agent with pid ${holder?.pid} makes no pass: its loop was to move by ${new Date(sinceMs).toISOString()} and has not`;
  throw new AgentError('aborted', message, { hint: '"driver-sync status" says what to do' });
}

/**
 * The same for the agent that leads, wherever it is.
 * @throws AgentError `ledger.led` where nobody leads, `aborted` where its pass takes too long
 */
export async function wakeLeaderAndWait(context: Context, settings: Settings): Promise<PassReport> {
  await using state = await openState(settings, commandLog(context));
  const { ledger, clock } = state.deps;
  const first = await leaderOf(ledger);
  if (first === undefined) {
    const hint = 'start an agent, or leave --wake out: then this command leads for one pass';
    throw new AgentError('ledger.led', 'no agent leads, so that none can be woken', { hint });
  }
  const { wakeSharedLeader } = await import('../compose/shared.ts');
  const wokenMs = await wakeSharedLeader(settings.ledger!);
  say(`woke ${first.name}; waiting for the end of its pass`);
  let woken = first;
  const alive = async (): Promise<void> => {
    // One that is gone leads until its time is over: the next one has not heard of this.
    const leader = await leaderOf(ledger);
    if (leader === undefined || leader.lead === woken.lead) return;
    woken = leader;
    await wakeSharedLeader(settings.ledger!);
    say(`${leader.name} leads now and was woken, too`);
  };
  return await waitForPass({ ledger, clock }, { wokenMs, alive, agent: 'the agent that leads' });
}

async function leaderOf(ledger: Ledger): Promise<{ readonly name: string; readonly lead: string } | undefined> {
  const { leader, term } = (await ledger.agents?.()) ?? {};
  return leader && { name: `the agent on ${leader.host}, pid ${leader.pid}`, lead: `${term} ${leader.id}` };
}

async function waitForPass(
  { ledger, clock }: Pick<Dependencies, 'ledger' | 'clock'>,
  {
    wokenMs,
    alive,
    agent,
  }: { readonly wokenMs: number; readonly alive: () => void | Promise<void>; readonly agent: string },
): Promise<PassReport> {
  const untilMs = clock.monotonicMs() + waitMs;
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void =>
    stop.abort(new AgentError('aborted', `stopped by ${name}; the agent goes on with its pass`));
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, onSignal);
  try {
    while (clock.monotonicMs() < untilMs) {
      const { askedPass } = await ledger.state();
      if (askedPass?.begunAt !== undefined && Date.parse(askedPass.begunAt) >= wokenMs) return askedPass;
      await alive();
      await clock.sleep(lookMs, stop.signal);
    }
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.removeListener(name, onSignal);
  }
  throw new AgentError('aborted', `the pass of ${agent} has not ended after ${waitMs / 60_000} minutes`, {
    hint: 'it goes on; "driver-sync status" says how it ended',
  });
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGUSR2');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (typeof code !== 'string') throw cause;
    const hint =
      code === 'EPERM'
        ? 'run this as the user of the agent, or as root'
        : 'it reads by itself when a file changes, and at each poll';
    throw new AgentError('state.locked', `the agent with pid ${pid} cannot be woken (${code})`, { cause, hint });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
