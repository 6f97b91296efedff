/** Helpers for tests of the console: they read pages and send forms like a browser without JavaScript. */
import { expect } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { builtInCatalog } from '../../src/emulator/routing/catalog.ts';

export const everyModel = builtInCatalog.models.map(({ id }) => id);

export async function read(emulator: Emulator, path: string): Promise<string> {
  const response = await emulator.fetch(path);
  expect(response.headers.get('content-type')).toContain('text/html');
  return response.text();
}

export interface Fields {
  readonly [name: string]: string | readonly string[];
}

export async function submit(
  emulator: Emulator,
  path: string,
  fields: Fields,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams();
  for (const [name, values] of Object.entries(fields)) for (const value of [values].flat()) body.append(name, value);
  return emulator.fetch(path, { method: 'POST', body, headers, redirect: 'manual' });
}

/** The fields of a router's form with every model checked, with changes. */
export function routerFields(changes: Fields = {}): Fields {
  return {
    name: 'Campaign',
    slug: '',
    optimizeFor: 'cost',
    shown: everyModel.join(' '),
    model: everyModel,
    ...changes,
  };
}

/** Creates a router with the form and returns the path of its page. */
export async function createRouter(emulator: Emulator, fields: Fields = routerFields()): Promise<string> {
  const created = await submit(emulator, '/console/routers', fields);
  expect(created.status).toBe(303);
  return new URL(created.headers.get('location') ?? '', emulator.url).pathname;
}

/** Presses the button that takes back what the page says was done. */
export async function undo(emulator: Emulator, page: string): Promise<number> {
  const [, path = 'no button'] = /action="(\/console\/undo\/[^"]+)"/.exec(page) ?? [];
  return (await submit(emulator, path, {})).status;
}
