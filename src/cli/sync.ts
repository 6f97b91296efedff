import type { Agent } from '../app/loop/agent.ts';
import { openAgent } from '../compose/agent.ts';
import { type PassOptions, runPassOrRebuild } from '../app/pass.ts';
import { beginToLead } from '../app/shared/take-over.ts';
import { tellOnce } from '../app/telling/teller.ts';
import type { PassReport } from '../core/report.ts';
import { AgentError, isAgentError } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import { showBytes } from '../core/size.ts';
import { type Context, answer, commandLog, loadBesideAgent, loadSettings, warnOfState } from './context.ts';
import { embedEmulator } from './embedded.ts';
import { openEnding } from './ending.ts';
import { refuseForeignState } from './foreign-state.ts';
import { say, tinted } from './output.ts';
import { openProgress } from './progress.ts';
import { count } from '../core/text.ts';
import { showSources, showWhy } from './text.ts';
import { wakeAndWait, wakeLeaderAndWait } from './wake.ts';

const retryForMs = 60_000;

/** One pass, until the outcome is known; with `wake` one of the daemon, where one runs. */
export async function sync(
  context: Context,
  { force: isForced = false, wake = false }: { readonly force?: boolean; readonly wake?: boolean },
): Promise<number> {
  const beside = wake ? loadBesideAgent(context) : undefined;
  if (beside !== undefined) {
    const { settings, pid } = beside;
    warnOfState(settings);
    if (isForced) throw cannotForce();
    const woken = pid === undefined ? wakeLeaderAndWait(context, settings) : wakeAndWait(context, settings, pid);
    return showReport(context, await woken);
  }
  const settings = loadSettings(context, 'required');
  warnOfState(settings);
  const push = isForced ? 'always' : 'ifNeeded';
  const pass: PassOptions = { push, resume: true, retryForMs, keepsToRetryAfter: isForced ? undefined : 'sync' };
  const report = await withAgent(context, settings, 'sync', async (agent, signal) => {
    const end = await endOf(runPassOrRebuild(agent, pass, signal), signal);
    await tellOnce(() => agent.deps, end, signal);
    if (isAgentError(end)) throw end;
    agent.noteBroken(undefined);
    return end;
  });
  return showReport(context, report);
}

function cannotForce(): AgentError {
  const hint = 'leave --force out, or stop the agent first';
  return new AgentError('usage', 'a running agent pushes what is new and cannot be forced', { hint });
}

/** A pass that broke is told, too, and then fails the command. */
async function endOf(pass: Promise<PassReport>, signal: AbortSignal): Promise<PassReport | AgentError> {
  try {
    return await pass;
  } catch (error) {
    if (signal.aborted || !isAgentError(error)) throw error;
    return error;
  }
}

function showReport(context: Context, report: PassReport): number {
  answer(context, { outcome: report.outcome, exit: report.exit, ...rest(report) }, () => showPass(report));
  return report.exit;
}

function rest({ push, sources, reason, hint, at }: PassReport): object {
  return { ...(push === undefined ? {} : { push }), sources, reason, hint, at };
}

export function showPass(report: PassReport): string[] {
  const { outcome, push, reason, hint } = report;
  const what =
    push === undefined
      ? ''
      : ` push ${push.id}: ${count(push.drivers, 'driver')}, ${count(push.points, 'point')}, ${showBytes(push.bytes)}`;
  const why = showWhy(report.exit, report.sources);
  const lines = [...showSources(report.sources), '', `${tinted(outcome)}${what}${why}`];
  if (reason !== undefined) lines.push(`  ${reason}`);
  if (hint !== undefined) lines.push(`  ${hint}`);
  return lines;
}

/** Runs something with an agent, its progress on a terminal, and an orderly end on SIGINT and SIGTERM. */
export async function withAgent<T>(
  context: Context,
  settings: Settings,
  command: 'sync' | 'rollback',
  run: (agent: Agent, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { env, version } = context;
  refuseForeignState(context, settings);
  const log = commandLog(context);
  using ending = openEnding('waiting', (name, isPushing) => {
    if (isPushing) say(`${name}: waiting for the push to be answered, at most 20 s; a second one ends at once`);
  });
  const progress = openProgress(process.stderr);
  await using emulator = await embedEmulator(settings);
  try {
    const agent = await openAgent(settings, {
      command,
      log,
      env,
      version,
      emulatorUrl: emulator?.url,
      observe: (event) => {
        ending.note(event);
        progress.observe(event);
      },
    });
    await using _agent = agent;
    if (emulator !== undefined)
      say(`emulator: ${emulator.url} (until this ends; "driver-sync run" keeps it up, with its console)`);
    return await run(agent, await beginToLead(agent, ending.signal));
  } finally {
    progress.end();
  }
}
