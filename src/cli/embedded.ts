/** The emulator inside the agent, for `destination: emulator`. Its data is kept in the state directory. */
import path from 'node:path';
import { AgentError } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import type { Emulator, StateError } from '../emulator/index.ts';

const firstPort = 8787;
const portsTried = 20;

/** Starts it on 8787 or the next free port; `undefined` where the config names a real destination. */
export async function embedEmulator(settings: Settings): Promise<Emulator | undefined> {
  if (settings.destination !== 'emulator') return undefined;
  const { StateError, startEmulator } = await import('../emulator/index.ts');
  const { ensureState, runningAgent } = await import('../compose/state.ts');
  ensureState(settings);
  const state = path.join(settings.state, 'emulator');
  for (let port = firstPort; port < firstPort + portsTried; port++) {
    try {
      return await startEmulator({ port, state });
    } catch (error) {
      if (error instanceof StateError) throw agentErrorOf(error, settings, runningAgent(settings));
      if (!isPortInUse(error)) throw error;
    }
  }
  throw new AgentError('emulator.port', `ports ${firstPort} to ${firstPort + portsTried - 1} are all in use`, {
    hint: 'stop what uses one of them, or run "driver-sync emulator --listen" and name its address as destination',
  });
}

/** The emulator's state is inside the agent's: the agent that holds one holds the other, or the command `emulator` was given the folder. */
export function agentErrorOf(
  { code, message, hint }: StateError,
  { state }: Pick<Settings, 'state'>,
  holder: { readonly pid: number | undefined; readonly command: string | undefined } | undefined,
): AgentError {
  // It passes by itself, and nothing is wrong with the config: whatever supervises the agent starts it again.
  if (isFull(code)) return new AgentError('state.full', message, { hint });
  if (code !== 'held') return new AgentError('state.unwritable', message, { hint });
  if (holder === undefined) {
    return new AgentError('state.locked', `an emulator that runs by itself holds ${path.join(state, 'emulator')}`, {
      hint: 'it does not end by itself: stop that "driver-sync emulator --state", or name its address as destination instead of emulator',
    });
  }
  const { pid, command } = holder;
  const agent = pid === undefined ? 'another agent' : `another agent (pid ${pid}, driver-sync ${command})`;
  return new AgentError('state.locked', `${agent} holds ${state}`, {
    hint:
      command === 'run'
        ? `kill -USR2 ${pid} makes it run a pass now; "driver-sync sync --wake" does so and waits for its end`
        : 'wait until it ends',
  });
}

function isFull(code: string): boolean {
  return code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT';
}

export function isPortInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}
