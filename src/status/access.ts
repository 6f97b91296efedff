/**
 * Who may ask. A browser lets any page send requests to any address, and a page whose name its owner points at this machine (DNS
 * rebinding) could read the answers: so only names that are surely meant are answered.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname as machineName } from 'node:os';
import type { StatusSettings } from '../core/settings.ts';

const anyAddress = new Set(['0.0.0.0', '::']);

/** @param localAddress the address of this machine that the request came to */
export function isOwnHost(host: string | undefined, settings: StatusSettings, localAddress = ''): boolean {
  const name = URL.parse(`http://${host ?? ''}`)
    ?.hostname.replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  if (name === undefined || name === '') return false;
  if (name === 'localhost' || name === '::1' || /^127(?:\.\d+){3}$/.test(name)) return true;
  if (name === settings.host || settings.hosts.includes(name)) return true;
  // Nobody else can have an address that a connection came in by, nor a name without a dot in public DNS.
  if (!anyAddress.has(settings.host)) return false;
  return name === localAddress.replace(/^::ffff:/, '') || name === machineName().toLowerCase();
}

/** Whether a request has the token: as `Bearer`, or as the password that a browser asked for. */
export function hasToken(authorization: string | undefined, token: string): boolean {
  const [, scheme = '', value = ''] = /^(\w+) +(\S+)$/.exec(authorization ?? '') ?? [];
  const given = scheme.toLowerCase() === 'basic' ? passwordOf(value) : value;
  if (!/^(?:basic|bearer)$/i.test(scheme)) return false;
  return timingSafeEqual(sha256(given), sha256(token));
}

/** The token as it is now. It may be renewed at any time. */
export async function tokenIn(file: string): Promise<string | undefined> {
  const token = (await readFile(file, 'utf8')).trim();
  return token === '' ? undefined : token;
}

function passwordOf(credentials: string): string {
  const text = Buffer.from(credentials, 'base64').toString();
  return text.slice(text.indexOf(':') + 1);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
