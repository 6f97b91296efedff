/** Pages of fixtures: they are chosen or pasted, what they would change is shown, and they are loaded. Loading can be taken back. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { FaultQueue, QueueState } from '../faults.ts';
import { JsonProblem, parseOnce } from '../json-once.ts';
import type { App } from '../routes.ts';
import { invalid, invalidAt, notFound, Refusal } from '../routing/refusal.ts';
import type { Moment, Snapshots } from '../snapshots.ts';
import { changesOf } from './fixture-changes.ts';
import type { FixtureChanges, Loadable } from './fixture-changes.ts';
import { fixturesPath, showFixtureChanges, showFixtureForm, summaryOf } from './fixture-view.ts';
import { readUpload } from './form-body.ts';
import { servePages } from './page-routes.ts';
import { problemsOf } from './problems.ts';
import type { Removals } from './removed.ts';

/** A fork that fixtures are tried on. */
interface Trial extends Loadable {
  close(): Promise<void>;
}

export interface FixturesShown extends Loadable {
  readonly snapshots: Snapshots;
  readonly removals: Removals;
  readonly faults: FaultQueue;
  fork(): Trial;
  unload(before: Moment, faults: QueueState): void;
}

/** Longer ones are for the command line, which does not hold them twice. */
const bytesMax = 32 * 1024 * 1024;

/** A text of this length is shown again where it has to be mended. */
const charactersShownMax = 256 * 1024;

/** How many may wait to be loaded; each may be as long as `bytesMax`. */
const waitingMax = 4;

export function serveFixturePages(app: App, shown: FixturesShown): void {
  const { removals } = shown;
  const waiting = new Map<string, string>();
  const wait = (text: string): string => {
    const id = randomUUID();
    waiting.set(id, text);
    const [oldest] = waiting.size > waitingMax ? waiting.keys() : [];
    if (oldest !== undefined) waiting.delete(oldest);
    return id;
  };
  const waitingText = (id: string): string => {
    const text = waiting.get(id);
    if (text === undefined) throw notFound('these fixtures are not here any more: choose them again');
    return text;
  };

  servePages(app, fixturesPath, {
    GET: ({ req }) => showFixtureForm({ above: removals.show(req.query('removed')) }),
    POST: async (context) => {
      let text = '';
      try {
        text = await chosenText(context.req.raw);
        await tried(shown, text);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const problems = problemsOf(error).map((problem) => ({ ...problem, field: 'text' }));
        return showFixtureForm({ text: text.length > charactersShownMax ? '' : text, problems }, error.status);
      }
      return context.redirect(`${fixturesPath}/${wait(text)}`, 303);
    },
  });
  servePages(app, `${fixturesPath}/:id`, {
    // Somebody may have changed what is held since they were chosen, so they are tried again.
    GET: async (context) => {
      const id = context.req.param('id') ?? '';
      return showFixtureChanges(`${fixturesPath}/${id}`, await tried(shown, waitingText(id)));
    },
    POST: async (context) => {
      const id = context.req.param('id') ?? '';
      const text = waitingText(id);
      const changes = await tried(shown, text);
      const before = shown.snapshots.moment();
      const faults = shown.faults.state;
      shown.load(readFixtures(text));
      waiting.delete(id);
      const removal = { done: 'Loaded', what: summaryOf(changes), list: fixturesPath, tables: before.drivers };
      return context.redirect(removals.keep({ ...removal, putBack: () => shown.unload(before, faults) }), 303);
    },
  });
}

/** The file, or else what was pasted. @throws Refusal */
async function chosenText(request: Request): Promise<string> {
  const form = await readUpload(request, bytesMax);
  const file = form.get('file');
  const pasted = form.get('text');
  if (file instanceof File && file.size > 0) return decode(await file.arrayBuffer());
  const text = typeof pasted === 'string' ? pasted.trim() : '';
  if (text === '') throw new Refusal(400, { error: 'choose a file, or paste its text' });
  return text;
}

/** @throws Refusal 400 */
function decode(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal(400, { error: 'the file is not UTF-8' });
  }
}

/** @throws Refusal where they cannot be loaded */
async function tried(shown: FixturesShown, text: string): Promise<FixtureChanges> {
  const fixtures = readFixtures(text);
  const trial = shown.fork();
  try {
    return changesOf(fixtures, shown, trial);
  } catch (error) {
    if (error instanceof z.ZodError) throw invalid(error.issues);
    if (error instanceof RangeError) throw new Refusal(400, { error: error.message });
    throw error;
  } finally {
    await trial.close();
  }
}

/** A catalog alone, as `--catalog` takes it, stands for fixtures with that catalog. @throws Refusal 400 */
function readFixtures(text: string): unknown {
  let given: unknown;
  try {
    given = parseOnce(Buffer.from(text));
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    throw invalidAt([], error.message);
  }
  const isCatalog =
    Array.isArray(given) ||
    (typeof given === 'object' && given !== null && ['models', 'add', 'remove'].some((key) => key in given));
  return isCatalog ? { catalog: given } : given;
}
