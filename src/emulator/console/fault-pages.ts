/** The page of faults: those that wait, how another is ordered, and how all are taken away. */
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { z } from 'zod';
import { faultSchema, faultScriptSchema } from '../../contract/fault-script.ts';
import type { FaultScript } from '../../contract/fault-script.ts';
import type { FaultQueue, WaitingFault } from '../faults.ts';
import { originOf } from '../routes.ts';
import type { App, EmulatorEnv } from '../routes.ts';
import { invalid, Refusal } from '../routing/refusal.ts';
import { countOf, groupDigits, showCode, showTable } from '../../pages/markup.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { showCodeField } from './code-field.ts';
import type { CodeField } from './code-field.ts';
import { serveFaultPage, showDeeds } from './fault-page.ts';
import { faultFieldOf, faultsPath, orderedBy, showFaultForm } from './fault-form.ts';
import type { FaultTexts } from './fault-form.ts';
import { wordsOf } from './fault-words.ts';
import { parseJson, readForm } from './form-body.ts';
import { showPage } from './page.ts';
import { servePages } from './page-routes.ts';
import { problemsOf, showProblems } from './problems.ts';
import type { Problem } from './problems.ts';
import { showQuestion } from './removed.ts';
import type { Removals } from './removed.ts';

export interface FaultsShown {
  readonly faults: FaultQueue;
  readonly removals: Removals;
}

/** Behind it the page would be slower than what it shows changes. */
const faultsShownMax = 200;

interface FaultPage {
  readonly origin: string;
  readonly above?: Html | '';
  readonly texts?: FaultTexts;
  readonly problems?: readonly Problem[];
}

export function serveFaultPages(app: App, { faults, removals }: FaultsShown): void {
  const show = (context: Context<EmulatorEnv>, page: Omit<FaultPage, 'origin'>, status?: number): Response =>
    showFaults(faults, { origin: originOf(context), ...page }, status);
  servePages(app, faultsPath, {
    GET: (context) => show(context, { above: removals.show(context.req.query('removed')) }),
    POST: async (context) => {
      const texts = Object.fromEntries(await readForm(context.req.raw));
      try {
        const before = faults.state;
        const isScript = 'script' in texts;
        if (isScript) faults.play(readScript(texts['script'] ?? ''));
        else faults.add([checked(faultSchema, orderedBy(texts))]);
        if (!isScript || before.queue.length === 0) return context.redirect(faultsPath, 303);
        const putBack = (): void => faults.restore(before);
        const what = countOf(before.queue.length, 'fault');
        return context.redirect(removals.keep({ done: 'Replaced', what, list: faultsPath, putBack }), 303);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return show(context, { texts, problems: problemsOf(error, faultFieldOf) }, error.status);
      }
    },
  });
  serveFaultPage(app, { faults, removals });
  servePages(app, `${faultsPath}/clear`, {
    GET: () => {
      const title = 'Take all faults away?';
      const body = showQuestion({
        title,
        consequences: [`${countOf(faults.pending.length, 'fault')} that wait for requests.`],
        action: `${faultsPath}/clear`,
        verb: 'Take them away',
        keep: 'Keep them',
        back: faultsPath,
      });
      return showPage({ title, section: 'faults', body });
    },
    POST: (context) => {
      const before = faults.state;
      const what = countOf(faults.pending.length, 'fault');
      faults.clear();
      const putBack = (): void => faults.restore(before);
      return context.redirect(removals.keep({ done: 'Taken away', what, list: faultsPath, putBack }), 303);
    },
  });
}

/** @throws Refusal 400 */
function readScript(text: string): FaultScript {
  const given = parseJson(text, 'script');
  return checked(faultScriptSchema, Array.isArray(given) ? { faults: given } : given);
}

/** @throws Refusal 400 */
function checked<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const read = schema.safeParse(given);
  if (!read.success) throw invalid(read.error.issues);
  return read.data;
}

const columns: readonly Column[] = [
  { name: 'What happens', kind: 'row' },
  { name: 'To which requests', kind: 'word' },
  { name: 'How many' },
  { name: 'Do', kind: 'action' },
];

function showFaults(faults: FaultQueue, { origin, above = '', texts = {}, problems = [] }: FaultPage, status = 200) {
  const { pending } = faults;
  const body = html`<h1>Faults</h1>
    <p class="lead">
      What goes wrong, on demand. Faults wait in a queue; each request meets the first one that is for it. Nothing here
      is kept across restarts.
    </p>
    ${showProblems('Nothing was ordered:', problems)} ${above}
    <div class="bench">
      ${showFaultForm(texts, problems)}
      <section aria-labelledby="waiting">
        <h2 id="waiting">${pending.length === 0 ? 'No faults wait' : `${countOf(pending.length, 'fault')} wait`}</h2>
        ${pending.length === 0 ? html`<p class="quiet">Every request is answered as the service would.</p>` : showQueue(pending, origin)}
        ${showScriptForm(texts, problems)}
      </section>
    </div>`;
  return showPage({ title: 'Faults', section: 'faults', body, status, isLive: problems.length === 0 });
}

function showQueue(pending: readonly WaitingFault[], origin: string): Html {
  const shown = pending.slice(0, faultsShownMax);
  const order = JSON.stringify(pending).replaceAll("'", String.raw`'\''`);
  return html`${showTable({
      caption: 'Faults in the order of use',
      columns,
      rows: shown.map((fault) => {
        const { what, which, often } = wordsOf(fault);
        return [what, which, often, showDeeds(fault.id, what)];
      }),
      rowKeys: shown.map(({ id }) => `fault-${id}`),
      onPhone: 'cards',
    })}
    ${shown.length < pending.length ? html`<p class="quiet">The first ${groupDigits(shown.length)} are shown.</p>` : ''}
    <details>
      <summary>The same from the command line</summary>
      ${showCode(`curl -d '${order}' ${origin}/_emulator/faults`)}
    </details>
    <p class="actions"><a class="button" href="${faultsPath}/clear">Take all away</a></p>`;
}

const example = JSON.stringify(
  {
    seed: 7,
    faults: [
      { status: 503, retryAfter: 1, probability: 0.1, times: 'always', untilSeconds: 3600 },
      { delayMs: { logNormal: { medianMs: 120, sigma: 1 } }, times: 'always', untilSeconds: 3600 },
    ],
  },
  undefined,
  2,
);

const scriptField: CodeField = {
  id: 'script',
  label: 'Script (JSON)',
  rows: 12,
  hint: html`It takes the place of all faults. The same seed and the same requests meet the same faults.`,
};

function showScriptForm({ script }: FaultTexts, problems: readonly Problem[]): Html {
  return html`<details class="more" ${script === undefined ? '' : 'open'}>
    <summary>Play a script</summary>
    <form method="post" action="${faultsPath}">
      ${showCodeField(scriptField, script ?? example, problems)}
      <button>Play</button>
    </form>
  </details>`;
}
