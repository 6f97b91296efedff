/** `verify`: whether the ledger and the archive are as they were written. */
import { verifyIn } from '../compose/state.ts';
import { AgentError } from '../core/errors.ts';
import { type Context, answer, load } from './context.ts';
import { ConfigError } from './failing.ts';
import { wholePath } from './working-directory.ts';
import { count } from '../core/text.ts';

const damagedExit = 65;

/** Says the first record or snapshot that was damaged or altered, else the head of the chain. */
export async function verify(
  context: Context,
  { head, state }: { readonly head?: string; readonly state?: string },
): Promise<number> {
  const noted = head === undefined ? undefined : parseHead(head);
  const found = await verifyIn(placeOf(context, state), noted);
  const { damaged, records, snapshots, earlier } = found;
  const exit = damaged === undefined ? 0 : damagedExit;
  answer(context, { ok: damaged === undefined, ...found, exit }, () => {
    if (damaged !== undefined) {
      const what = damaged.kind === 'record' ? `record ${damaged.id} of the ledger` : `the snapshot ${damaged.id}`;
      return [`${what} was damaged or altered: ${damaged.why}`, `the chain is whole up to ${found.head}`];
    }
    return [
      `${count(records, 'record')} and ${count(snapshots, 'snapshot')} are as they were written`,
      ...(earlier === 0
        ? []
        : [`${earlier} of the rows are from before the chain began: what changed in them until then is not known`]),
      ...(noted === undefined ? [] : [`the ledger continues the head that was noted, of record ${noted.n}`]),
      found.head,
    ];
  });
  return exit;
}

/** A config that is wrong, as long as it names the state directory, does not keep anybody from looking. */
function placeOf(context: Context, named: string | undefined): Parameters<typeof verifyIn>[0] {
  if (named !== undefined) return { state: wholePath(context, named) };
  const { state, settings, problems } = load(context, 'optional');
  if (settings !== undefined) return settings;
  if (state === undefined) throw new ConfigError(problems);
  return { state };
}

function parseHead(text: string): { n: number; sha256: string } {
  const [, n, sha256] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text.trim()) ?? [];
  if (n !== undefined && sha256 !== undefined) return { n: Number(n), sha256: sha256.toLowerCase() };
  throw new AgentError('usage', `"${text}" is no head of a chain`, {
    hint: 'write it as "driver-sync verify" prints it: the number of a record, a colon and 64 hex digits',
  });
}
