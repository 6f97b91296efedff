/** How an address is reached: straight, or through the proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name, as curl reads them. */
import type { Agent as HttpAgent } from 'node:http';
import type { EnvHttpProxyAgent } from 'undici';
import { AgentError, type ErrorCode } from '../core/errors.ts';
import { hasReadableUser } from './credentials.ts';
import { secretsIn } from './masking.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Way {
  readonly url: URL;
  /** Upper or lower case; lower case wins. */
  readonly env: Environment;
  /** PEM texts of all authorities; `undefined`: those that Node trusts. */
  readonly authorities: readonly string[] | undefined;
  /** Longest time for a connection, its TLS included. */
  readonly connectMs: number;
  /** The code of the failure where the environment names no usable proxy. */
  readonly code: ErrorCode;
}

/**
 * Connections for addresses like this one, of their own: never undici's global dispatcher, which anybody may have set. No
 * clock but `connectMs` runs unless `more` sets one.
 * @throws AgentError of that code
 */
export async function openDispatcher(way: Way, more: EnvHttpProxyAgent.Options = {}): Promise<EnvHttpProxyAgent> {
  const { url, env, authorities, connectMs, code } = way;
  const tls = { allowH2: false, timeout: connectMs, ...(authorities && { ca: [...authorities] }) };
  const undici = await import('undici');
  return new undici.EnvHttpProxyAgent({
    // All three are given, or undici looks into the environment of the process. `httpProxy` is for https too.
    httpProxy: proxyFor(url, env, code),
    httpsProxy: '',
    noProxy: env['no_proxy'] ?? env['NO_PROXY'] ?? '',
    connect: undici.buildConnector(tls),
    requestTls: tls,
    proxyTls: tls,
    headersTimeout: 0,
    bodyTimeout: 0,
    ...more,
  });
}

/** The same for a client that brings its own HTTP and takes an agent of Node. @throws AgentError of that code */
export async function openNodeAgent({ url, env, authorities, code }: Omit<Way, 'connectMs'>): Promise<HttpAgent> {
  const proxy = proxyFor(url, env, code);
  // Given in full, or none of them: never the environment of the process.
  const proxyEnv = { http_proxy: proxy, https_proxy: proxy, no_proxy: env['no_proxy'] ?? env['NO_PROXY'] ?? '' };
  const options = { keepAlive: true, ...(proxy !== '' && { proxyEnv }) };
  if (url.protocol !== 'https:') return new (await import('node:http')).Agent(options);
  const { Agent } = await import('node:https');
  return new Agent({ ...options, ...(authorities && { ca: [...authorities] }) });
}

/** Whether the environment names a proxy for such addresses; `NO_PROXY` may still lead past it. @throws AgentError of that code */
export function namesProxy({ url, env, code }: Pick<Way, 'url' | 'env' | 'code'>): boolean {
  return proxyFor(url, env, code) !== '';
}

/** User and password of the proxy, as they may turn up in messages. */
export function proxySecrets({ url, env, code }: Pick<Way, 'url' | 'env' | 'code'>): readonly string[] {
  const proxy = proxyFor(url, env, code);
  if (proxy === '') return [];
  return secretsIn(new URL(proxy));
}

/** Empty where none is named. May hold a password. */
function proxyFor({ protocol }: URL, env: Environment, code: ErrorCode): string {
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const text = (env[name.toLowerCase()] ?? env[name] ?? '').trim();
  const proxy = text === '' || text.includes('://') ? text : `http://${text}`;
  if (proxy === '' || isProxy(proxy)) return proxy;
  throw new AgentError(code, `the environment variable ${name} is not the address of an HTTP proxy`, {
    hint: 'write it like http://proxy.example.com:3128',
  });
}

function isProxy(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && hasReadableUser(url);
}
