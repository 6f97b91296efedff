/** Who decides something by a command, and why. */
import { userInfo } from 'node:os';
import type { Decision } from '../app/ask/decisions.ts';
import { AgentError } from '../core/errors.ts';
import type { Decided } from '../core/ledger.ts';
import type { Context } from './context.ts';

const reasonMax = 1000;

/** @throws AgentError `usage` for a reason longer than 1000 characters */
export function decidedBy({ env }: Pick<Context, 'env'>, reason?: string): Decided {
  const why = reason?.trim();
  if (why !== undefined && why.length > reasonMax) {
    throw new AgentError('usage', `--reason has ${why.length} characters, and at most ${reasonMax} are kept`);
  }
  const user = userName();
  const by = env['SUDO_USER'] ?? '';
  return {
    ...(by === '' || by === user ? { by: user } : { by, as: user }),
    ...(why === undefined ? {} : { reason: why }),
  };
}

/** A container may run as a user id without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user id ${process.getuid?.()}`;
  }
}

/** `anna as finance`; the empty text where nobody is known. */
export function showWho({ by, as }: Decided): string {
  if (by === undefined) return '';
  return as === undefined ? by : `${by} as ${as}`;
}

/** `by anna as finance: month-end correction`; the empty text where nothing is known. */
export function showDecided({ by, as, reason }: Decided): string {
  const who = by === undefined ? [] : [`by ${showWho({ by, as })}`];
  return [...who, ...(reason === undefined ? [] : [reason])].join(': ');
}

export function showState({ state, why }: Decision): string {
  return why === undefined ? state : `${state}: ${why}`;
}
