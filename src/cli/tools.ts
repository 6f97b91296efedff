/** What the agent tools of `mcp` look at: the same answers as the commands give with --json. */
import { z } from 'zod';
import { difference } from '../app/ask/difference.ts';
import { explain } from '../app/ask/explain.ts';
import { historyReport } from '../app/ask/history-report.ts';
import { plan } from '../app/ask/plan.ts';
import type { Dependencies } from '../app/dependencies.ts';
import { openScratch } from '../compose/scratch.ts';
import { openState } from '../compose/state.ts';
import { AgentError } from '../core/errors.ts';
import { namesHint } from '../core/nearest.ts';
import { changesShown } from './changes.ts';
import { type Context, commandLog, loadSettings, loadUnsentSettings } from './context.ts';
import { statusOf } from './status.ts';

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** @throws AgentError */
  readonly look: (given: Given) => Promise<object>;
}

/** What a tool was asked with, as its `input` lets it through. */
export interface Given {
  readonly source?: string;
  readonly driver?: string;
  readonly month?: string;
  readonly from?: number | string;
  readonly to?: number | string;
}

const nothing = z.strictObject({});
const historyMax = 100;
/** `history` gives numbers, and whoever copies one out of a text has a string. */
const pushNumber = z.union([z.int().positive(), z.string().regex(/^[1-9]\d*$/)]);

/** In the order in which somebody asks. */
export function lookingTools(context: Context): readonly Tool[] {
  const looking = async (look: (deps: Dependencies) => Promise<object>): Promise<object> => {
    await using state = await openState(loadSettings(context, 'optional'), commandLog(context));
    return await look(state.deps);
  };
  return [
    {
      name: 'status',
      title: 'Status',
      description:
        'Whether the agent runs, the last pass and push, the next push, the state of each source, and what is held.',
      input: nothing,
      look: () => looking(statusOf),
    },
    {
      name: 'why_held',
      title: 'Why something is held',
      description:
        'For each source that the guard holds or that was not read: the reason, what it would delete, the findings in its values, and the command with which a person approves it.',
      input: z.strictObject({
        source: z.string().optional().describe('The name of one source. Default: all of them.'),
      }),
      look: ({ source }) => looking((deps) => whyHeld(deps, source)),
    },
    {
      name: 'explain',
      title: 'Where a number came from',
      description:
        'The source, part, row, text as read and first push of each point of a driver, or of one month of it.',
      input: z.strictObject({
        driver: z.string().describe('Its id, or its path with "/" between the elements.'),
        month: z.string().optional().describe('Such as 2026-03. Default: all months.'),
      }),
      look: ({ driver = '', month }) => looking((deps) => explain(deps, driver, month)),
    },
    {
      name: 'plan',
      title: 'What a sync would change',
      description:
        'Reads the sources now, on a copy of the state, and says what a sync would create, update and delete, the largest changes first. It may take as long as a sync. Sends nothing.',
      input: nothing,
      look: () => planned(context),
    },
    {
      name: 'history',
      title: 'Pushes and decisions',
      description: `The newest ${historyMax} pushes with what became of them, and what people approved, rolled back and forgot.`,
      input: nothing,
      look: () =>
        looking(async (deps) => {
          const { pushes, decisions } = await historyReport(deps, { limit: historyMax });
          return { pushes, decisions: decisions.slice(0, historyMax) };
        }),
    },
    {
      name: 'diff',
      title: 'The difference of two pushes',
      description: 'What changed between two acknowledged snapshots, the largest changes first.',
      input: z.strictObject({
        from: pushNumber.describe('The number of a push, as history has it.'),
        to: pushNumber.describe('The number of a later push.'),
      }),
      look: ({ from = '', to = '' }) =>
        looking((deps) => difference(deps, { from: String(from), to: String(to), shownMax: changesShown })),
    },
  ];
}

async function whyHeld(deps: Dependencies, source: string | undefined): Promise<object> {
  const { sources, held } = await statusOf(deps);
  const named = sources.filter(({ name }) => source === undefined || name === source);
  if (source !== undefined && named.length === 0) {
    const known = sources.map(({ name }) => name);
    throw new AgentError('usage', `there is no source "${source}"`, { hint: namesHint(source, known) });
  }
  const stopped = named.filter(({ state }) => state === 'held' || state === 'unread');
  return {
    sources: stopped.map((report) => {
      const hold = held.find((one) => one.source === report.name);
      const approve = hold?.approvable === true ? { approve: `driver-sync approve ${hold.digest.slice(0, 12)}` } : {};
      return { ...report, ...(hold === undefined ? {} : { since: hold.since }), ...approve };
    }),
    // A source that left the config is in no report.
    others: held.filter((one) => source === undefined && !sources.some(({ name }) => name === one.source)),
  };
}

async function planned(context: Context): Promise<object> {
  const settings = loadUnsentSettings(context);
  await using scratch = await openScratch(settings, commandLog(context));
  return await plan(scratch.deps, { shownMax: changesShown }, new AbortController().signal);
}
