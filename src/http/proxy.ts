/** Which HTTP proxy an environment names: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, as curl reads them, lower case first. */
import { AgentError, type ErrorCode } from '../core/errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What undici takes. All three are always given, so that it does not look into the environment of the process itself. */
export interface ProxyOptions {
  /** For addresses of both protocols: https goes through it where `httpsProxy` is empty. Empty where there is none. */
  readonly httpProxy: string;
  readonly httpsProxy: '';
  readonly noProxy: string;
}

/** @throws AgentError of that code where the variable is no address of a proxy */
export function proxiesFor(url: URL, env: Environment, code: ErrorCode): ProxyOptions {
  return { httpProxy: proxyFor(url, env, code), httpsProxy: '', noProxy: env['no_proxy'] ?? env['NO_PROXY'] ?? '' };
}

/** The proxy for addresses like this one; empty where none is named. May hold a password. */
export function proxyFor({ protocol }: URL, env: Environment, code: ErrorCode): string {
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const text = (env[name.toLowerCase()] ?? env[name] ?? '').trim();
  const proxy = text === '' || text.includes('://') ? text : `http://${text}`;
  if (proxy !== '' && !isProxy(proxy)) {
    throw new AgentError(code, `the environment variable ${name} is not the address of an HTTP proxy`, {
      hint: 'write it like http://proxy.example.com:3128',
    });
  }
  return proxy;
}

function isProxy(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && hasReadableUser(url);
}

/** Whether user and password are percent-encoded as they have to be. */
export function hasReadableUser({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    // A URIError is how the platform says no.
    return false;
  }
}
