/** `sslmode` as libpq means it, for the TLS of Node. */
import { readFile } from 'node:fs/promises';
import { AgentError } from '../../core/errors.ts';
import { trustedWith } from '../authorities.ts';
import { accessError } from '../files/access.ts';
import type { Address } from './address.ts';

export interface Encryption {
  /** PEM texts; `undefined`: those that Node trusts. */
  readonly ca: string[] | undefined;
  /** Whether an authority must vouch for the server's certificate. */
  readonly isVerified: boolean;
  /** Whether the certificate must be of the host's name. */
  readonly isNameVerified: boolean;
}

/** How a driver opens a connection, `undefined` being a plain one, and how it says that the server has no TLS. */
export interface Opener<T> {
  open(encryption: Encryption | undefined): Promise<T>;
  isWithoutTls(error: unknown): boolean;
}

/**
 * Opens a connection as `sslmode` says. As with libpq a unix socket is always plain, and a known authority makes
 * `require` mean `verify-ca`; unlike with libpq `prefer` falls back only where the server says that it has no TLS.
 * @throws AgentError `source.unreadable` where `caFile` cannot be read; else what `open` throws
 */
export async function openSafely<T>(address: Address, caFile: string | undefined, opener: Opener<T>): Promise<T> {
  const [first, ...others] = await encryptionsFor(address, caFile);
  try {
    return await opener.open(first);
  } catch (error) {
    if (others.length === 0 || !opener.isWithoutTls(error)) throw error;
    return await opener.open(others[0]);
  }
}

/** To be tried in this order. */
async function encryptionsFor(
  { socketPath, sslMode, label }: Address,
  caFile: string | undefined,
): Promise<readonly (Encryption | undefined)[]> {
  const mode = sslMode ?? (caFile === undefined ? 'prefer' : 'verify-full');
  if (socketPath !== undefined || mode === 'disable') return [undefined];
  const encryption = {
    ca: caFile === undefined ? undefined : await readAuthorities(caFile, label),
    isVerified: mode === 'verify-ca' || mode === 'verify-full' || caFile !== undefined,
    isNameVerified: mode === 'verify-full',
  };
  return mode === 'prefer' ? [encryption, undefined] : [encryption];
}

async function readAuthorities(caFile: string, label: string): Promise<string[]> {
  let pem;
  try {
    pem = await readFile(caFile, 'utf8');
  } catch (error) {
    throw accessError('source.unreadable', caFile, error);
  }
  const authorities = await trustedWith(pem);
  if (authorities !== undefined) return authorities;
  throw new AgentError('source.unreadable', `${label}: the caFile ${caFile} holds no certificate`, {
    hint: 'it must be in PEM',
  });
}
