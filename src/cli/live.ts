/** `status --live`: for health checks, which start a daemon anew that is not live. */
import path from 'node:path';
import { heartbeatOf, runningAgent } from '../compose/state.ts';
import { isAgentError } from '../core/errors.ts';
import { type Context, answer, load } from './context.ts';
import { ConfigError } from './failing.ts';

/**
 * 0 while the loop of a daemon moves. It lives on with the config that it has: a mistake in the file must not have it started anew.
 * @param besides a directory to look at, too: the file may be away, name no state directory, or another one than the daemon holds
 */
export function live(context: Context, besides: string | undefined): number {
  const places = [() => configuredState(context)];
  if (besides !== undefined) places.push(() => path.resolve(context.cwd, besides));
  const troubles: unknown[] = [];
  const holders = places.map((place) => {
    try {
      return holderOn(place());
    } catch (error) {
      if (!isAgentError(error)) throw error;
      troubles.push(error);
      return undefined;
    }
  });
  const found = holders.find((holder) => holder?.isLive === true);
  if (found === undefined && troubles.length > 0) throw troubles[0];
  const [first] = holders;
  answer(context, { live: found !== undefined }, () => [
    found === undefined ? whyNotLive(first?.agent) : `the agent is alive, pid ${found.agent?.pid}`,
  ]);
  return found === undefined ? 75 : 0;
}

/** @throws ConfigError where the file does not say, AgentError `config.missing` */
function configuredState(context: Context): string {
  const { state, problems } = load(context, 'optional');
  if (state === undefined) throw new ConfigError(problems);
  return state;
}

/** Who holds a state directory, and whether that is a daemon whose loop moves. @throws AgentError `state.unwritable` */
function holderOn(state: string): { readonly agent: ReturnType<typeof runningAgent>; readonly isLive: boolean } {
  const agent = runningAgent({ state });
  const untilMs = heartbeatOf({ state })?.untilMs;
  return { agent, isLive: agent?.command === 'run' && untilMs !== undefined && Date.now() <= untilMs };
}

function whyNotLive(holder: ReturnType<typeof runningAgent>): string {
  if (holder === undefined) return 'no agent runs on this state directory';
  const { pid, command } = holder;
  if (command === 'run') return `the agent with pid ${pid} has not moved for too long`;
  return command === undefined
    ? 'another agent holds this state directory, and does not say which'
    : `no daemon runs: a driver-sync ${command} (pid ${pid}) is at work`;
}
