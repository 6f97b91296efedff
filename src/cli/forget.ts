/** `forget`: takes effect in the agent's next pass, which it wakes. */
import { createInterface } from 'node:readline/promises';
import { checkForget, forget as forgetNow } from '../app/prepare/requests.ts';
import { acceptedDrivers } from '../app/push/newest-snapshot.ts';
import { openScratch } from '../compose/scratch.ts';
import { openState, wakeAgent } from '../compose/state.ts';
import { AgentError } from '../core/errors.ts';
import { type Changes, countChanges, diffDrivers } from '../core/series/diff.ts';
import type { Settings } from '../core/settings.ts';
import { visible } from '../core/text.ts';
import { type Context, answer, commandLog, loadSettings, nextStep } from './context.ts';
import { count, showChanges } from './text.ts';

/** Drops what is carried for a part or a source that will not come back. */
export async function forget(
  context: Context,
  target: { source: string; part?: string | undefined },
  yes: boolean,
): Promise<number> {
  const settings = loadSettings(context, 'optional');
  let changes: Changes;
  {
    await using state = await openState(settings, commandLog(context));
    checkForget(state.deps, target);
    changes = await forgottenChanges(settings, context, target);
  }
  const { drivers, points } = changes;
  const what = `forgetting this deletes ${count(drivers.delete, 'driver')} and ${count(points.delete, 'point')} at the next push`;
  if (!yes && !(await isConfirmed(what))) {
    throw new AgentError('usage', `${what}; nothing was forgotten`, { hint: 'say --yes to do it without being asked' });
  }
  await using state = await openState(settings, commandLog(context));
  await state.deps.ledger.requests.add({ kind: 'forget', source: target.source, part: target.part }, Date.now());
  wakeAgent(settings);
  answer(context, { forgotten: target, changes }, () => [`${what}; ${nextStep(settings)}`, showChanges(changes)]);
  return 0;
}

async function forgottenChanges(
  settings: Settings,
  context: Context,
  target: { source: string; part?: string | undefined },
): Promise<Changes> {
  await using scratch = await openScratch(settings, commandLog(context));
  await using state = await openState(settings, commandLog(context));
  await forgetNow(scratch.deps, target);
  return countChanges(diffDrivers(acceptedDrivers(state.deps), acceptedDrivers(scratch.deps)));
}

async function isConfirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${visible(question)}. Go on? [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
