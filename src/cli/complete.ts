/** Words for the completion of a shell: cheap, and silent where there is nothing to complete. */
import { openState } from '../compose/state.ts';
import { isAgentError } from '../core/errors.ts';
import { type Context, commandLog, load } from './context.ts';
import { print } from './output.ts';

/** Prints one word a line. */
export async function complete(context: Context, kind: string): Promise<number> {
  try {
    const { settings } = load(context, 'optional');
    if (settings === undefined) return 0;
    const names = settings.sources.map(({ name }) => name);
    if (kind === 'sources') {
      print(names);
      return 0;
    }
    await using state = await openState(settings, commandLog(context, 'silent'));
    const { ledger } = state.deps;
    if (kind === 'held')
      print(
        (await ledger.holds.held()).filter(({ approvable }) => approvable).map(({ digest }) => digest.slice(0, 12)),
      );
    if (kind === 'pushes') {
      const pushes = await ledger.pushes.all();
      print(
        pushes
          .filter(({ outcome }) => outcome === 'acknowledged')
          .slice(0, 50)
          .map(({ id }) => String(id)),
      );
    }
  } catch (error) {
    // A person who presses Tab wants words or nothing.
    if (!isAgentError(error)) throw error;
  }
  return 0;
}
