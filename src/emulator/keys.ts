/** Who may use the service's paths. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { HonoRequest } from 'hono';
import { refuse } from './answers.ts';

/** Why a request is refused before anything else is looked at; `undefined` where it is let in. */
export type Door = (request: HonoRequest) => Response | undefined;

const guardedPath = /^\/(?:api|v1)(?:\/|$)/;

/** A token that no request could send would lock everybody out. @throws RangeError */
export function checkToken(token: string): void {
  if (typeof token !== 'string') throw new RangeError(`token must be text, not ${String(token)}`);
  if (token === '') throw new RangeError('token is empty: leave it out, and none is required');
  if (!/^[!-~](?:[ -~]*[!-~])?$/.test(token)) {
    throw new RangeError('token holds characters that no header can carry: use letters, digits and signs of ASCII');
  }
}

export function tokenDoor(token: string): Door {
  const expected = sha256(`Bearer ${token}`);
  return (request) => {
    if (!guardedPath.test(request.path)) return undefined;
    const given = request.header('authorization');
    if (given !== undefined && timingSafeEqual(sha256(given.replace(/^bearer +/i, 'Bearer ')), expected))
      return undefined;
    const missing = isRouting(request) ? noKey : 'authorization: Bearer is required';
    return refuse(401, given === undefined ? missing : 'the token is not the right one', {
      headers: { 'www-authenticate': 'Bearer' },
    });
  };
}

/** In the words of the live service. */
const noKey = 'No API key was provided.';

function isRouting({ path }: HonoRequest): boolean {
  return path === '/v1' || path.startsWith('/v1/');
}

/** Model routing requires a key, as the live service does; any key will do. */
export const anyKeyDoor: Door = (request) => {
  if (!isRouting(request) || /^bearer +\S/i.test(request.header('authorization') ?? '')) return undefined;
  return refuse(401, noKey);
};

export const openDoor: Door = () => undefined;

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
