/** Who may use the service's paths. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { HonoRequest } from 'hono';
import { refuse } from './answers.ts';

/** Why a request is refused before anything else is looked at; `undefined` where it is let in. */
export type Door = (request: HonoRequest) => Response | undefined;

const guardedPath = /^\/(?:api|v1)(?:\/|$)/;

export function tokenDoor(token: string): Door {
  const expected = sha256(`Bearer ${token}`);
  return (request) => {
    if (!guardedPath.test(request.path)) return undefined;
    const given = request.header('authorization');
    if (given !== undefined && timingSafeEqual(sha256(given.replace(/^bearer +/i, 'Bearer ')), expected))
      return undefined;
    const error = given === undefined ? 'authorization: Bearer is required' : 'the token is not the right one';
    return refuse(401, error, { headers: { 'www-authenticate': 'Bearer' } });
  };
}

/** Model routing requires a key, as the live service does; any key will do. */
export const anyKeyDoor: Door = (request) => {
  const isRouting = request.path === '/v1' || request.path.startsWith('/v1/');
  if (!isRouting || /^bearer +\S/i.test(request.header('authorization') ?? '')) return undefined;
  return refuse(401, 'No API key was provided.');
};

export const openDoor: Door = () => undefined;

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
