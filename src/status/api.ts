/** What the pages show, as JSON: each path has the shape of the command of that name. */
import { driverHistory } from '../app/ask/driver-history.ts';
import { driverList } from '../app/ask/driver-list.ts';
import { explain } from '../app/ask/explain.ts';
import { heldDetail } from '../app/ask/held-detail.ts';
import { historyReport } from '../app/ask/history-report.ts';
import { leftOutRows, rejectsReport, rejectsTable } from '../app/ask/rejects-report.ts';
import { sourceDetail } from '../app/ask/source-detail.ts';
import { statusReport } from '../app/ask/status-report.ts';
import type { Dependencies } from '../app/dependencies.ts';
import { AgentError } from '../core/errors.ts';
import { namesHint } from '../core/nearest.ts';
import { csvText } from '../core/csv-text.ts';
import { type Answer, type Ask, jsonAnswer } from './answer.ts';
import { askedDrivers } from './driver-pages.ts';
import { shownDifference } from './differences.ts';
import { pushDetail } from './push-pages.ts';
import type { Watched } from './watched.ts';

type Look = (deps: Dependencies, query: URLSearchParams, agent: Watched) => Promise<unknown>;

const driversMax = 1000;

const looks: Readonly<Record<string, Look>> = {
  '/api/history': (deps) => historyReport(deps),
  '/api/diff': (deps, query, agent) =>
    shownDifference(agent, deps, { from: wanted(query, 'a'), to: wanted(query, 'b') }),
  '/api/push': (deps, query, agent) => pushDetail(agent, deps, wanted(query, 'id')),
  '/api/explain': (deps, query) => explain(deps, wanted(query, 'driver'), query.get('month') ?? undefined),
  '/api/drivers': (deps, query) => driverList(deps, askedDrivers(query, driversMax)),
  '/api/driver': (deps, query) => driverHistory(deps, wanted(query, 'id')),
  '/api/source': (deps, query) => sourceDetail(deps, wanted(query, 'name')),
  '/api/held': async (deps, query) => {
    const source = query.get('source');
    if (source !== null) return heldDetail(deps, source);
    const held = await deps.ledger.holds.held();
    return { held: await Promise.all(held.map((one) => heldDetail(deps, one.source))) };
  },
};

export async function apiAnswer(agent: Watched, { path, query }: Ask): Promise<Answer> {
  if (path === '/api/rejects') return rejectsAnswer(agent, query);
  if (path === '/api/status') {
    const signs = await agent.signs();
    return jsonAnswer(await agent.open((deps) => statusReport(deps, signs)));
  }
  const look = looks[path];
  if (look === undefined) throw new Error(`${path} is no path of the API`);
  return jsonAnswer(await agent.open((deps) => look(deps, query, agent)));
}

/** As the command prints them; what is left out stands in a last row of its own, with no number. */
async function rejectsAnswer(agent: Watched, query: URLSearchParams): Promise<Answer> {
  const source = query.get('source') ?? undefined;
  const known = agent.settings.sources.map(({ name }) => name);
  if (source !== undefined && !known.includes(source)) {
    throw new AgentError('usage', `there is no source "${source}"`, { hint: namesHint(source, known) });
  }
  const report = await agent.open(async ({ buffer }) => rejectsReport(buffer, source));
  const body = `${csvText([...rejectsTable(report), ...leftOutRows(report)])}\n`;
  // As a download: a browser must not make a page of what is in the data.
  const headers = { 'content-disposition': 'attachment; filename="rejects.csv"' };
  return { status: 200, type: 'text/csv; charset=utf-8', body, headers };
}

function wanted(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value !== null) return value;
  throw new AgentError('usage', `"${name}" is missing in the address`, { hint: 'docs/STATUS.md has every path' });
}
