/** `sslmode` as libpq means it, for the TLS of Node. */
import { readAuthorities } from '../../http/credentials.ts';
import type { Address } from './address.ts';

export interface Encryption {
  /** PEM texts; `undefined`: those that Node trusts. */
  readonly ca: string[] | undefined;
  /** Whether a trusted authority must vouch for the server's certificate. */
  readonly isVerified: boolean;
  /** Whether the certificate must name the host. */
  readonly isNameVerified: boolean;
}

/** How a driver opens a connection. */
export interface Opener<T> {
  /** A plain one where `encryption` is `undefined`. */
  open(encryption: Encryption | undefined): Promise<T>;
  /** Whether an error says that the server has no TLS. */
  isWithoutTls(error: unknown): boolean;
  readonly signal: AbortSignal;
}

/**
 * Opens a connection as `sslmode` says. As with libpq a unix socket is always plain, and a known authority makes
 * `require` mean `verify-ca`; unlike with libpq `prefer` falls back only where the server says that it has no TLS.
 * @throws AgentError `source.unreadable` where `caFile` cannot be read; else what `open` throws
 */
export async function openSafely<T>(address: Address, caFile: string | undefined, opener: Opener<T>): Promise<T> {
  const [first, ...others] = await encryptionsFor(address, caFile, opener.signal);
  try {
    return await opener.open(first);
  } catch (error) {
    if (others.length === 0 || !opener.isWithoutTls(error)) throw error;
    return await opener.open(others[0]);
  }
}

/** In the order to try them. */
async function encryptionsFor(
  { socketPath, sslMode }: Address,
  caFile: string | undefined,
  signal: AbortSignal,
): Promise<readonly (Encryption | undefined)[]> {
  const mode = sslMode ?? (caFile === undefined ? 'prefer' : 'verify-full');
  if (socketPath !== undefined || mode === 'disable') return [undefined];
  const encryption = {
    ca: await readAuthorities(caFile, { code: 'source.unreadable', signal }),
    isVerified: mode === 'verify-ca' || mode === 'verify-full' || caFile !== undefined,
    isNameVerified: mode === 'verify-full',
  };
  return mode === 'prefer' ? [encryption, undefined] : [encryption];
}
