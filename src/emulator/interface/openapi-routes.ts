/** The description of the interface: `/_emulator/openapi.json` for programs, `/_emulator/openapi` for people. */
import { originOf, route } from '../routes.ts';
import type { App } from '../routes.ts';
import type { OpenApiOptions } from './openapi.ts';

/** Both are loaded on demand: the agent embeds the emulator and never asks for them. */
export function serveInterface(app: App, manner: Omit<OpenApiOptions, 'origin'>): void {
  route(app, '/_emulator/openapi.json', {
    GET: async (context) => {
      const { openApiOf } = await import('./openapi.ts');
      return Response.json(openApiOf({ ...manner, origin: originOf(context) }));
    },
  });
  route(app, '/_emulator/openapi', {
    GET: async (context) => {
      const [{ openApiOf }, { showInterface }] = await Promise.all([
        import('./openapi.ts'),
        import('./openapi-page.ts'),
      ]);
      return showInterface(openApiOf({ ...manner, origin: originOf(context) }));
    },
  });
}
