/** Pages of snapshots: to keep one, go back to it and delete it, and to empty the emulator. Each can be taken back. */
import { html } from 'hono/html';
import { originOf } from '../routes.ts';
import type { App } from '../routes.ts';
import { Refusal } from '../routing/refusal.ts';
import { viewForks } from '../snapshot-routes.ts';
import type { Moment, Snapshots } from '../snapshots.ts';
import { showAgo } from '../../pages/ago.ts';
import { readForm } from './form-body.ts';
import { serveForkPages } from './fork-pages.ts';
import type { ForksShown } from './fork-pages.ts';
import { showPage } from './page.ts';
import { servePages } from './page-routes.ts';
import { problemsOf } from './problems.ts';
import { showQuestion } from './removed.ts';
import type { Question, Removal, Removals } from './removed.ts';
import { showSnapshots, snapshotsPath } from './snapshot-list.ts';
import type { SnapshotListView } from './snapshot-list.ts';

export interface SnapshotsShown extends ForksShown {
  readonly snapshots: Snapshots;
  readonly removals: Removals;
  restore(name: string): void;
  /** Goes back to a moment that has no name. */
  returnTo(moment: Moment): void;
  reset(): void;
}

/** What going back and emptying take away besides. */
const lost = 'The request log and the faults are emptied too, and do not come back with Undo.';

export function serveSnapshotPages(app: App, shown: SnapshotsShown): void {
  const { snapshots, removals } = shown;
  const show = (view: Omit<SnapshotListView, 'snapshots' | 'forks'>, status = 200): Response =>
    showSnapshots({ snapshots, forks: viewForks(shown.forks, view.origin), ...view }, status);
  servePages(app, snapshotsPath, {
    GET: (context) => {
      const above = removals.show(context.req.query('removed'));
      return show({ origin: originOf(context), above, saved: context.req.query('saved') });
    },
    POST: async (context) => {
      const name = (await readForm(context.req.raw)).get('name')?.trim() ?? '';
      try {
        if (snapshots.has(name)) throw taken(name);
        snapshots.take(name);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const problems = problemsOf(error).map((one) => ({ ...one, field: 'name' }));
        return show({ origin: originOf(context), name, problems }, error.status);
      }
      return context.redirect(`${snapshotsPath}?${new URLSearchParams({ saved: name }).toString()}`, 303);
    },
  });
  serveReset(app, shown);
  serveRestore(app, shown);
  serveDelete(app, shown);
  serveForkPages(app, shown);
}

function taken(name: string): Refusal {
  return new Refusal(409, { error: `there is a snapshot "${name}" already: choose another name, or delete it first` });
}

function ask(question: Omit<Question, 'back'>): Response {
  const body = showQuestion({ ...question, back: snapshotsPath });
  return showPage({ title: question.title, section: 'snapshots', body });
}

/** Acts, and offers to go back to what was held before. */
function leave(shown: SnapshotsShown, what: Pick<Removal, 'done' | 'what'>, act: () => void): string {
  const before = shown.snapshots.moment();
  act();
  return shown.removals.keep({
    ...what,
    list: snapshotsPath,
    putBack: () => shown.returnTo(before),
    tables: before.drivers,
  });
}

function serveRestore(app: App, shown: SnapshotsShown): void {
  const { snapshots } = shown;
  servePages(app, `${snapshotsPath}/:name/restore`, {
    GET: (context) => {
      const name = context.req.param('name') ?? '';
      const { at } = snapshots.kept(name);
      return ask({
        title: 'Go back to this snapshot?',
        consequences: [
          html`<bdi>${name}</bdi>, kept ${showAgo(at, Date.now())}`,
          'What it holds takes the place of all that is held now.',
          lost,
        ],
        action: `${snapshotsPath}/${name}/restore`,
        verb: 'Go back',
        keep: 'Stay here',
      });
    },
    POST: (context) => {
      const name = context.req.param('name') ?? '';
      const list = leave(shown, { done: 'Went back to', what: name }, () => shown.restore(name));
      return context.redirect(list, 303);
    },
  });
}

function serveDelete(app: App, { snapshots, removals }: SnapshotsShown): void {
  servePages(app, `${snapshotsPath}/:name/delete`, {
    GET: (context) => {
      const name = context.req.param('name') ?? '';
      const { at } = snapshots.kept(name);
      return ask({
        title: 'Delete this snapshot?',
        consequences: [
          html`<bdi>${name}</bdi>, kept ${showAgo(at, Date.now())}`,
          'What the emulator holds now stays, and so do forks that were made of it.',
        ],
        action: `${snapshotsPath}/${name}/delete`,
        verb: 'Delete snapshot',
      });
    },
    POST: (context) => {
      const name = context.req.param('name') ?? '';
      const kept = snapshots.kept(name);
      const list = removals.keep({
        what: `snapshot ${name}`,
        list: snapshotsPath,
        putBack: () => snapshots.putBack(name, kept),
        tables: kept.moment.drivers,
      });
      snapshots.remove(name);
      return context.redirect(list, 303);
    },
  });
}

function serveReset(app: App, shown: SnapshotsShown): void {
  servePages(app, `${snapshotsPath}/reset`, {
    GET: () =>
      ask({
        title: 'Empty the emulator?',
        consequences: [
          'Drivers, routers and tasks are deleted; credits, catalog and time are those of the start. Snapshots stay.',
          lost,
        ],
        action: `${snapshotsPath}/reset`,
        verb: 'Empty it',
      }),
    POST: (context) => {
      const list = leave(shown, { done: 'Emptied', what: 'the emulator' }, () => shown.reset());
      return context.redirect(list, 303);
    },
  });
}
