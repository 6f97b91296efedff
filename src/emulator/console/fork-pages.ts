/** Forks in the console: the list of them, how one is started, and its end. */
import { html } from 'hono/html';
import { originOf } from '../routes.ts';
import type { App } from '../routes.ts';
import { notFound } from '../routing/refusal.ts';
import { forkUrl, startFork } from '../snapshot-routes.ts';
import type { Fork, Forks, ForkView } from '../snapshot-routes.ts';
import { showAgo } from '../../pages/ago.ts';
import { countOf, showTable } from '../../pages/markup.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { readForm } from './form-body.ts';
import { showPage } from './page.ts';
import { servePages } from './page-routes.ts';
import { showQuestion } from './removed.ts';

export const forksPath = '/console/forks';

/** Forks are listed there. */
const listPath = '/console/snapshots#forks';

export interface ForksShown {
  /** Undefined where it does not listen. */
  readonly forks: Forks | undefined;
}

export function serveForkPages(app: App, shown: ForksShown): void {
  servePages(app, forksPath, {
    // A browser that reloads the address of a form gets here.
    GET: (context) => context.redirect(listPath),
    POST: async (context) => {
      const snapshot = (await readForm(context.req.raw)).get('snapshot') ?? undefined;
      await startFork(shown.forks, snapshot);
      return context.redirect(listPath, 303);
    },
  });
  const forkAt = (port: string | undefined): Fork => {
    const found = shown.forks?.list().find((fork) => String(fork.port) === port);
    if (found === undefined) throw notFound(`no fork listens at port ${port}`);
    return found;
  };
  servePages(app, `${forksPath}/:port/end`, {
    GET: (context) => {
      const { port } = forkAt(context.req.param('port'));
      const title = 'End this fork?';
      const body = showQuestion({
        title,
        consequences: [forkUrl(originOf(context), port), 'What it holds is gone with it, and cannot be taken back.'],
        action: `${forksPath}/${port}/end`,
        verb: 'End fork',
        back: listPath,
      });
      return showPage({ title, section: 'snapshots', body });
    },
    POST: async (context) => {
      const { port } = forkAt(context.req.param('port'));
      await shown.forks?.end(port);
      return context.redirect(listPath, 303);
    },
  });
}

const columns: readonly Column[] = [
  { name: 'Fork', kind: 'row' },
  { name: 'Began with' },
  { name: 'Started', kind: 'number' },
  { name: 'End', kind: 'action' },
];

export function showForks(forks: readonly ForkView[]): Html {
  return html`<section aria-labelledby="forks">
    <h2 id="forks">Forks</h2>
    <p class="lead">
      A fork is another emulator that begins with the same content. Neither sees what the other changes, so each of
      several test processes can have one of its own. It ends with this one.
    </p>
    <form method="post" action="${forksPath}"><button>Fork what is held now</button></form>
    ${
      forks.length === 0
        ? ''
        : showTable({
            caption: countOf(forks.length, 'fork'),
            columns,
            rows: forks
              .toReversed()
              .map(({ url, port, snapshot, at }) => [
                html`<a href="${url}/console">${url}</a>`,
                snapshot === null ? 'what was held then' : html`<bdi>${snapshot}</bdi>`,
                showAgo(at, Date.now()),
                html`<a href="${forksPath}/${port}/end" aria-label="End the fork at port ${port}">End</a>`,
              ]),
            rowKeys: forks.toReversed().map(({ port }) => `fork-${port}`),
            onPhone: 'cards',
          })
    }
  </section>`;
}
