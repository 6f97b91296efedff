/** The time of model routing, by which tasks go: how it goes, and the forms that set it forward, freeze it and let it go on. */
import { html } from 'hono/html';
import type { App } from '../routes.ts';
import { advanceSchema } from '../routing/controls.ts';
import { isoOf } from '../routing/clock.ts';
import { invalid } from '../routing/refusal.ts';
import type { Routing } from '../routing/routing.ts';
import { exactly } from '../../pages/ago.ts';
import type { Html } from '../../pages/markup.ts';
import { readForm } from './form-body.ts';
import { servePages } from './page-routes.ts';

const timePath = '/console/time';
const clockToleranceMs = 2_000;

export function serveTime(app: App, routing: Routing): void {
  servePages(app, timePath, {
    // A browser that reloads the address of a form gets here.
    GET: (context) => context.redirect('/console'),
    POST: async (context) => {
      const form = await readForm(context.req.raw);
      const pace = form.get('pace');
      if (pace !== null) routing.setClock({ speed: pace === 'freeze' ? 0 : routing.clock.usualSpeed });
      else routing.advance(secondsOf(form.get('seconds') ?? '') * 1_000);
      return context.redirect('/console', 303);
    },
  });
}

/** @throws Refusal 400 */
function secondsOf(text: string): number {
  const given = text.trim();
  const read = advanceSchema.safeParse({ seconds: given === '' ? given : Number(given) });
  if (!read.success) throw invalid(read.error.issues);
  return read.data.seconds;
}

export function showTime({ clock }: Routing): Html {
  const nowMs = clock.now();
  const isFrozen = clock.speed === 0;
  return html`<section class="card time" aria-labelledby="time">
    <h2 id="time">Time</h2>
    <p class="quiet">
      The time of model routing ${paceOf(clock, nowMs)}.
      ${isOfMachine(clock, nowMs) ? '' : html`It is <time>${exactly(isoOf(nowMs))}</time>.`}
    </p>
    <form method="post" action="${timePath}">
      <label for="seconds">Advance by</label>
      <input id="seconds" name="seconds" value="5" required inputmode="decimal" autocomplete="off" size="4" />
      <span>s</span> <button>Advance</button>
    </form>
    <form method="post" action="${timePath}">
      <button name="pace" value="${isFrozen ? 'run' : 'freeze'}">${isFrozen ? 'Let it run' : 'Freeze'}</button>
    </form>
  </section>`;
}

type Clock = Routing['clock'];

function isOfMachine({ speed }: Clock, nowMs: number): boolean {
  return speed === 1 && Math.abs(nowMs - Date.now()) < clockToleranceMs;
}

function paceOf(clock: Clock, nowMs: number): string {
  if (isOfMachine(clock, nowMs)) return 'is that of the machine; tasks go by it';
  const paces = { 0: 'stands still until it is advanced', 1: 'is not that of the machine' };
  return paces[clock.speed as 0 | 1] ?? `runs ${clock.speed} times as fast as the machine's`;
}
