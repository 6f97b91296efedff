/** Every path of the status page. What a path needs is loaded when it is first asked for. */
import { isAgentError } from '../core/errors.ts';
import { type Answer, type Ask, jsonAnswer, textAnswer } from './answer.ts';
import { livez, readyz } from './health.ts';
import type { Watched } from './watched.ts';

type Handler = (agent: Watched, ask: Ask) => Promise<Answer>;

export interface Route {
  /** It says no more than whether the agent is well, and whoever asks has no token. */
  readonly isOpen?: boolean;
  readonly load: () => Promise<Handler>;
}

const api = async (): Promise<Handler> => (await import('./api.ts')).apiAnswer;
const asset = async (): Promise<Handler> => (await import('./assets.ts')).assetAnswer;

const routes: Readonly<Record<string, Route>> = {
  '/livez': { isOpen: true, load: async () => livez },
  '/readyz': { isOpen: true, load: async () => readyz },
  '/metrics': { load: async () => (await import('./metrics.ts')).metrics },
  '/': { load: async () => (await import('./overview-page.ts')).overviewPage },
  '/source': { load: async () => (await import('./source-page.ts')).sourcePage },
  '/drivers': { load: async () => (await import('./driver-pages.ts')).driversPage },
  '/driver': { load: async () => (await import('./driver-pages.ts')).driverPage },
  '/pushes': { load: async () => (await import('./push-pages.ts')).pushesPage },
  '/push': { load: async () => (await import('./push-pages.ts')).pushPage },
  '/held': { load: async () => (await import('./held-page.ts')).heldPage },
  '/api/status': { load: api },
  '/api/history': { load: api },
  '/api/diff': { load: api },
  '/api/push': { load: api },
  '/api/explain': { load: api },
  '/api/drivers': { load: api },
  '/api/driver': { load: api },
  '/api/source': { load: api },
  '/api/rejects': { load: api },
  '/api/held': { load: api },
  '/assets/pages.css': { load: asset },
  '/assets/pages.js': { load: asset },
  '/assets/icon.svg': { load: asset },
};

export function routeOf(path: string): Route | undefined {
  return Object.hasOwn(routes, path) ? routes[path] : undefined;
}

/** Answers; a failure that somebody foresaw is an answer too. */
export async function answerOf(route: Route, agent: Watched, ask: Ask): Promise<Answer> {
  try {
    const handler = await route.load();
    return await handler(agent, ask);
  } catch (error) {
    if (!isAgentError(error)) throw error;
    const { code, message, hint, exit } = error;
    const status = code === 'usage' ? 404 : 503;
    if (ask.path.startsWith('/api/')) {
      return jsonAnswer({ error: { code, message, ...(hint === undefined ? {} : { hint }) }, exit }, status);
    }
    const lines = [message, ...(hint === undefined ? [] : [hint])];
    if (ask.path === '/metrics' || route.isOpen === true) return textAnswer(status, lines.join('\n'));
    const { noticeAnswer } = await import('./frame.ts');
    return noticeAnswer(status === 404 ? 'Not found' : 'It cannot be shown now', lines, status);
  }
}
