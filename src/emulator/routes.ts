/** Routes that answer other methods with 405 and the methods that they have. */
import { Hono } from 'hono';
import type { Context } from 'hono';
import { refuse } from './answers.ts';
import type { Exchange } from './exchange.ts';

/** `exchange` is set for requests to the service's paths, and not for those under `/_emulator`; `origin` where it was configured. */
export interface EmulatorEnv {
  Variables: { exchange: Exchange; origin?: string | undefined };
}

export type App = Hono<EmulatorEnv>;
export type Handler = (context: Context<EmulatorEnv>) => Response | Promise<Response>;

/** Serves `path`. Other methods are answered with 405 and the list of these. */
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

/** The address at which clients find the emulator, without a trailing slash. */
export function originOf(context: Context<EmulatorEnv>): string {
  return context.get('origin') ?? new URL(context.req.url).origin;
}

/** Answers without the body: through the request's exchange if it has one. */
export async function answer(context: Context<EmulatorEnv>, act: () => Response): Promise<Response> {
  const exchange = context.get('exchange') as Exchange | undefined;
  return exchange === undefined ? act() : exchange.answer(act);
}
