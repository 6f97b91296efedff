/** What was removed by hand and can be taken back, until the emulator ends or is reset, or much else was removed. */
import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import type { Frozen } from '../drivers/layers.ts';
import type { App } from '../routes.ts';
import { Refusal } from '../routing/refusal.ts';
import { showState } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';
import { servePages } from './page-routes.ts';

const undoPath = '/console/undo';

const removalsMax = 50;

export interface Removal {
  /** What was done. Default: `Deleted`. */
  readonly done?: string;
  /** Such as the name of a router. */
  readonly what: string;
  /** The list from which it was removed. */
  readonly list: string;
  /** @throws Refusal where something has taken its place. */
  readonly putBack: () => void;
  /** Tables of drivers that it needs for that. */
  readonly tables?: Frozen;
}

export class Removals {
  readonly #kept = new Map<string, Removal>();

  /** Gives the address of the list, which then offers to take it back. */
  keep(removal: Removal): string {
    const id = randomUUID();
    this.#kept.set(id, removal);
    const [oldest] = this.#kept.size > removalsMax ? this.#kept.keys() : [];
    if (oldest !== undefined) this.#kept.delete(oldest);
    return `${removal.list}?removed=${id}`;
  }

  /** What was there before is not what there is now: nothing can be taken back any more. */
  clear(): void {
    this.#kept.clear();
  }

  /** Tables of drivers that are needed to take something back. */
  tables(): Frozen {
    return [...this.#kept.values()].flatMap(({ tables = [] }) => tables);
  }

  /** A line above a list: what was removed from it, with the button that takes it back. */
  show(id: string | undefined): Html | '' {
    const removal = this.#kept.get(id ?? '');
    if (removal === undefined) return '';
    return html`<form method="post" action="${undoPath}/${id}" class="notice" role="status">
      ${showState('good', html`<span>${removal.done ?? 'Deleted'}: <bdi>${removal.what}</bdi></span>`)}
      <button class="plain">Undo</button>
    </form>`;
  }

  serve(app: App): void {
    servePages(app, `${undoPath}/:id`, {
      // A browser that reloads the address of a form gets here.
      GET: (context) => context.redirect('/console'),
      POST: (context) => {
        const id = context.req.param('id') ?? '';
        const removal = this.#kept.get(id);
        const why = 'that was done already, or the emulator was reset or started again';
        const error = `It cannot be taken back any more: ${why}.`;
        if (removal === undefined) throw new Refusal(404, { error });
        removal.putBack();
        this.#kept.delete(id);
        return context.redirect(removal.list, 303);
      },
    });
  }
}

export interface Question {
  readonly title: string;
  readonly consequences: readonly (Html | string)[];
  /** The form's address. */
  readonly action: string;
  readonly verb: string;
  /** The way out. Default: `Keep it`. */
  readonly keep?: string;
  /** Where one gets without answering. */
  readonly back: string;
}

/** Asks before something is removed. */
export function showQuestion({ title, consequences, action, verb, keep = 'Keep it', back }: Question): Html {
  return html`<div class="asking">
    <div class="card">
      <h1>${title}</h1>
      ${consequences.map((line) => html`<p>${line}</p>`)}
      <form method="post" action="${action}" class="actions">
        <button class="bad">${verb}</button>
        <a class="button" href="${back}" autofocus>${keep}</a>
      </form>
    </div>
  </div>`;
}
