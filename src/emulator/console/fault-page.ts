/** The page of one fault that waits, where it is changed as JSON, and how one is removed. Both can be taken back. */
import { html } from 'hono/html';
import { z } from 'zod';
import type { FaultQueue, PlacedFault, WaitingFault } from '../faults.ts';
import type { App } from '../routes.ts';
import { invalid, Refusal } from '../routing/refusal.ts';
import type { Html } from '../../pages/markup.ts';
import { showCodeField } from './code-field.ts';
import type { CodeField } from './code-field.ts';
import { faultsPath } from './fault-form.ts';
import { wordsOf } from './fault-words.ts';
import { parseJson, readForm } from './form-body.ts';
import { showPage } from './page.ts';
import { servePages } from './page-routes.ts';
import { problemsOf, showProblems } from './problems.ts';
import type { Problem } from './problems.ts';
import type { Removals } from './removed.ts';

/** A fault may have any name, such as that of another page. */
const onePath = `${faultsPath}/waiting`;

interface FaultShown {
  readonly faults: FaultQueue;
  readonly removals: Removals;
}

const changesSchema = z.record(z.string(), z.unknown());

export function serveFaultPage(app: App, { faults, removals }: FaultShown): void {
  const leave = (done: string, before: PlacedFault): string => {
    const { what } = wordsOf(before.queued.fault);
    return removals.keep({ done, what, list: faultsPath, putBack: () => faults.putBack(before) });
  };
  servePages(app, `${onePath}/:id`, {
    GET: ({ req }) => {
      const { fault } = faults.placed(req.param('id') ?? '').queued;
      return showFault(fault, { text: jsonOf(fault) });
    },
    POST: async (context) => {
      const id = context.req.param('id') ?? '';
      const before = faults.placed(id);
      const { fault } = before.queued;
      const text = (await readForm(context.req.raw)).get('fault') ?? '';
      try {
        const given = changesSchema.parse(parseJson(text, 'fault'));
        // What is not written any more is to go.
        const gone = Object.keys(fault).flatMap((key) => (key in given || key === 'id' ? [] : [[key, null]]));
        faults.change(id, { ...Object.fromEntries(gone), ...given });
      } catch (error) {
        const refusal = error instanceof z.ZodError ? invalid(error.issues) : error;
        if (!(refusal instanceof Refusal)) throw refusal;
        const problems = problemsOf(refusal, labelOf).map((problem) => ({ ...problem, field: 'fault' }));
        return showFault(fault, { text, problems, status: refusal.status });
      }
      return context.redirect(leave('Changed', before), 303);
    },
  });
  servePages(app, `${onePath}/:id/remove`, {
    // A browser that reloads the address of a form gets here.
    GET: (context) => context.redirect(faultsPath),
    POST: (context) => {
      const before = faults.placed(context.req.param('id') ?? '');
      faults.remove(before.queued.fault.id);
      return context.redirect(leave('Removed', before), 303);
    },
  });
}

function labelOf(path: string): { id: string; label: string } | undefined {
  return path === 'fault' ? { id: 'fault', label: 'Fault' } : undefined;
}

/** Without the name, and without what holds for every fault that does not say otherwise. */
function jsonOf({ id: _id, times, probability, fromSeconds, delayMs, ...fault }: WaitingFault): string {
  const unusual = {
    ...(times !== 1 && { times }),
    ...(probability !== 1 && { probability }),
    ...(fromSeconds !== 0 && { fromSeconds }),
    ...(delayMs !== 0 && { delayMs }),
  };
  return JSON.stringify({ ...fault, ...unusual }, undefined, 2);
}

interface FaultTexts {
  readonly text: string;
  readonly problems?: readonly Problem[];
  readonly status?: number;
}

const faultField: CodeField = {
  id: 'fault',
  label: 'Fault (JSON)',
  rows: 10,
  hint: html`It keeps its place in the queue. <code>times</code> is how many requests are still to meet it, or
    <code>"always"</code>; <code>fromSeconds</code> and <code>untilSeconds</code> are counted from when it was ordered.`,
};

function showFault(fault: WaitingFault, { text, problems = [], status = 200 }: FaultTexts): Response {
  const { what, which, often } = wordsOf(fault);
  const path = `${onePath}/${fault.id}`;
  const title = `Fault ${fault.id}`;
  const body = html`<p class="path"><a href="${faultsPath}">Faults</a></p>
    <h1>${title}</h1>
    <p class="lead">${what}. It is for ${which}: ${often}.</p>
    ${showProblems('Nothing was changed:', problems)}
    <form method="post" action="${path}">
      ${showCodeField(faultField, text, problems)}
      <div class="actions">
        <button class="primary">Save changes</button>
        <a href="${faultsPath}">Cancel</a>
      </div>
    </form>
    <form method="post" action="${path}/remove" class="danger"><button>Remove this fault</button></form>`;
  return showPage({ title, section: 'faults', body, status });
}

/** What can be done with a fault of the list. */
export function showDeeds(id: string, what: string): Html {
  return html`<span class="deeds">
    <a href="${onePath}/${id}" aria-label="Change: ${what}">Change</a>
    <form method="post" action="${onePath}/${id}/remove">
      <button class="plain" aria-label="Remove: ${what}">Remove</button>
    </form>
  </span>`;
}
