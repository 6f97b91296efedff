/** What one attempt tells of an address, step by step, for whoever sets it up. */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { ProbeStep, PushResult, SnapshotBody } from '../../core/ports.ts';
import type { Progress } from './route.ts';

const bytes = Buffer.from('{"shouldDeleteMissing":false,"extDrivers":[]}');

/** A whole update that changes and deletes nothing, whatever the service holds. */
export const harmlessUpdate: SnapshotBody = {
  digest: createHash('sha256').update(bytes).digest('hex'),
  bytes: bytes.length,
  async *chunks() {
    yield bytes;
  },
};

export interface Probed {
  readonly url: URL;
  readonly hasToken: boolean;
  readonly progress: Progress;
  readonly result: PushResult;
}

/** Up to the first step that does not hold. */
export function probeSteps(probed: Probed): readonly ProbeStep[] {
  const steps: ProbeStep[] = [];
  for (const { step, holds, fact } of allSteps(probed)) {
    steps.push({ step, holds, text: holds ? fact : (probed.result.detail ?? fact) });
    if (!holds) break;
  }
  return steps;
}

interface Step extends Omit<ProbeStep, 'text'> {
  /** What holds where it does. */
  readonly fact: string;
}

function allSteps({ url, hasToken, progress, result }: Probed): readonly Step[] {
  const { proxy, address, isConnected, isReached } = progress;
  const { hostname } = proxy === undefined ? url : new URL(`http://${proxy}`);
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  const via = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  const isAcknowledged = result.outcome === 'acknowledged';
  const isTokenRefused = result.status === 401 || result.status === 403;
  const name: Step = {
    step: 'name',
    holds: isAddress || address !== undefined,
    fact: isAddress ? `${hostname} is an IP address` : `${hostname} has the IP address ${address}`,
  };
  const connection: Step = { step: 'connection', holds: isConnected, fact: `${url.host} takes connections${via}` };
  const tls: Step = { step: 'tls', holds: isReached, fact: `the certificate of ${url.host} is trusted` };
  const token: Step = { step: 'token', holds: !isTokenRefused, fact: 'the token is accepted' };
  const update: Step = {
    step: 'update',
    holds: isAcknowledged,
    fact: 'an update that deletes nothing was acknowledged',
  };
  return [
    name,
    connection,
    ...(url.protocol === 'https:' ? [tls] : []),
    ...((hasToken && isAcknowledged) || isTokenRefused ? [token] : []),
    update,
  ];
}
