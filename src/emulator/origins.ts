/**
 * Keeps web pages out that are not the emulator's own. A browser lets any page send requests to any address, and a page
 * whose name its owner points at this machine (DNS rebinding) may read the answers too.
 */
import { hostname as machineName } from 'node:os';
import type { AddressOptions } from './options.ts';

/** Names that public DNS cannot resolve: RFC 6761 (`localhost`, `test`), and ICANN's `internal`. */
const reservedSuffix = /\.(?:localhost|internal|test)$/;

const readingMethods = new Set(['GET', 'HEAD']);

export class OwnAddresses {
  readonly #hostnames: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  /** Whether every page that this machine serves is allowed. */
  readonly #allowsLocal: boolean;

  /** @throws OriginError */
  constructor({ host, origins = [], publicUrl }: AddressOptions) {
    this.#allowsLocal = origins.includes(local);
    const named = origins.filter((origin) => origin !== local);
    this.#origins = new Set([
      ...named.map((each) => parseOrigin(each, `; ${local} stands for all pages of this machine`)),
      ...(publicUrl === undefined ? [] : [parseOrigin(publicUrl)]),
    ]);
    const machine = machineName().toLowerCase();
    this.#hostnames = new Set([
      machine,
      // Its name in multicast DNS.
      `${machine.split('.', 1)[0]}.local`,
      ...(host === undefined ? [] : [host.toLowerCase()]),
      ...[...this.#origins].map((origin) => new URL(origin).hostname),
    ]);
  }

  /** Whether pages of this origin may send requests although they came from elsewhere. */
  isAllowed(origin: string): boolean {
    return this.#origins.has(origin) || (this.#allowsLocal && isLoopback(URL.parse(origin)?.hostname ?? ''));
  }

  /** Why a request is refused and what to do about it; undefined if it is allowed. */
  obstacleOf(request: Request): string | undefined {
    const { host, hostname } = new URL(request.url);
    if (!this.#isOwnName(hostname)) {
      return `the emulator does not answer at the name ${hostname}, since any page could have that name lead here: use localhost or an address, or start the emulator with --origin http://${host}`;
    }
    const origin = request.headers.get('origin');
    if (origin !== null && this.isAllowed(origin)) return undefined;
    const isForeign = origin !== null && URL.parse(origin)?.host !== host;
    const site = request.headers.get('sec-fetch-site');
    // Links from other sites may be followed: they only read.
    const isSentFromElsewhere = !readingMethods.has(request.method) && (site === 'cross-site' || site === 'same-site');
    if (!isForeign && !isSentFromElsewhere) return undefined;
    const page = origin === null || origin === 'null' ? 'pages of other sites' : `pages of ${origin}`;
    return `${page} may not use the emulator at ${host}; "--origin" allows those of one origin`;
  }

  /** Whether no page that is served elsewhere can have this name lead here. */
  #isOwnName(hostname: string): boolean {
    return (
      isAddress(hostname) || !hostname.includes('.') || reservedSuffix.test(hostname) || this.#hostnames.has(hostname)
    );
  }
}

/** An IP address as `URL` writes it: IPv6 in brackets. */
function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Stands for every page that is served at a loopback address. */
const local = 'local';

function isLoopback(hostname: string): boolean {
  return /^(?:.+\.)?localhost$|^127\.\d+\.\d+\.\d+$|^\[::1\]$/.test(hostname);
}

/** An address that is not an origin. */
export class OriginError extends Error {
  override readonly name = 'OriginError';
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** @param further what else may stand in its place, for the hint. @throws OriginError */
export function parseOrigin(text: string, further = ''): string {
  const url = URL.parse(text);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!isOrigin) {
    const hint = `write it as https://emulator.example.com or http://localhost:3000, without a path${further}`;
    throw new OriginError(`${JSON.stringify(text)} is not an origin`, hint);
  }
  return url.origin;
}

/** A host for a URL. One that stands for all addresses cannot be connected to, so loopback takes its place. */
export function nameOfHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
