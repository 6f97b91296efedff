/** The service of the crash tests: it takes a body whole or not at all, in any manner, and tells when. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer as collect } from 'node:stream/consumers';
import { expect } from 'vitest';
import { receiver } from './destination-world.ts';

/** What the service does with a push that has come in whole. */
export type Manner = 'answer' | 'refuse to talk' | 'apply in silence' | 'busy';

/** What happens to the agent while the service has its push in hand. */
export type Moment = 'received' | 'applied' | 'answered';

export interface Service {
  readonly url: string;
  /** Every body that was applied, in order; the last one is what the service holds. */
  readonly applied: string[];
  /** Bodies of requests that came in whole, whatever became of them. */
  received: number;
  manner: () => Manner;
  at: (moment: Moment) => void;
}

/** A receiver that shares nothing with the agent: it takes a body whole or not at all. */
export async function openService(): Promise<Service> {
  const service: Service = { url: '', applied: [], received: 0, manner: () => 'answer', at: () => undefined };
  const url = await receiver(async (request: IncomingMessage, response: ServerResponse) => {
    const body = await collect(request);
    expect(Number(request.headers['content-length'])).toBe(body.length);
    service.received++;
    const manner = service.manner();
    service.at('received');
    if (manner === 'refuse to talk') return response.destroy();
    if (manner === 'busy') return response.writeHead(503).end();
    service.applied.push(body.toString());
    service.at('applied');
    if (manner === 'apply in silence') return response.destroy();
    return response.end(() => service.at('answered'));
  });
  return Object.assign(service, { url });
}
