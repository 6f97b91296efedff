/** Routes that know which methods they have, and say so to the others. */
import { Hono } from 'hono';
import type { Context } from 'hono';
import { refuse } from './answers.ts';
import type { Exchange } from './exchange.ts';

/** `exchange` stands for requests to the service's own paths, and not under `/_emulator`. */
export interface EmulatorEnv {
  Variables: { exchange: Exchange };
}

export type App = Hono<EmulatorEnv>;
export type Handler = (context: Context<EmulatorEnv>) => Response | Promise<Response>;

/** Serves `path`; a method that is not among these is answered with 405 and those that are. */
export function route(app: App, path: string, handlers: Readonly<Record<string, Handler>>): void {
  for (const [method, handler] of Object.entries(handlers)) app.on(method, path, handler);
  // Hono answers HEAD by GET.
  const methods = Object.keys(handlers).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const allow = methods.join(', ');
  app.all(path, (context) =>
    answer(context, () =>
      refuse(405, `${context.req.method} is not allowed here, only ${allow}`, { headers: { allow } }),
    ),
  );
}

/** An answer that needs nothing of the request: through its exchange, where it has one. */
export async function answer(context: Context<EmulatorEnv>, act: () => Response): Promise<Response> {
  const exchange = context.get('exchange') as Exchange | undefined;
  return exchange === undefined ? act() : exchange.answer(act);
}
