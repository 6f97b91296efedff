/** An agent that is killed, or that is stopped in the middle of a push and wakes after another one has taken over. */
import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { machines, rowsOf } from '../support/machines-world.ts';
import { pointsOf } from '../support/receiver.ts';
import { cannotPostgres, postgresName } from '../support/servers.ts';

interface Status {
  readonly shared: { readonly agents: readonly { readonly text: string }[] };
}

/** More than the buffers of a connection hold. */
const drivers = 60_000;

function manyRows(value: string): string {
  const rows = Array.from({ length: drivers }, (_, n) => `account/${String(n).padStart(8, '0')},2026-01,${value}`);
  return ['id,time,value', ...rows, ''].join('\n');
}

/** Leaves the body of the first request unread until it is told. */
async function openSlowReceiver() {
  const whole: string[] = [];
  const came = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const broken = Promise.withResolvers<void>();
  let requests = 0;
  const read = async (request: IncomingMessage): Promise<void> => {
    if (++requests === 1) {
      came.resolve();
      await goOn.promise;
    }
    const bytes = await buffer(request);
    whole.push(/"value":"(\d)"/.exec(bytes.toString())?.[1] ?? '');
  };
  const server = createServer((request, response) => {
    read(request).then(
      () => response.end(),
      () => broken.resolve(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    whole,
    came: came.promise,
    broken: broken.promise,
    goOn: () => goOn.resolve(),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

describe.skipIf(cannotPostgres)(`agents that share a ledger in ${postgresName}`, () => {
  test('one that is killed is followed by another, which begins no read anew', async () => {
    await using world = await machines({ count: 2 });
    const [one, two] = world.places as [Place, Place];
    const first = await one.daemon();
    await world.service.post(1);
    const second = await two.daemon();
    await expect
      .poll(async () => (await two.command('status', '--json')).json<Status>().shared.agents)
      .toMatchObject([{ text: 'would push the same' }, { text: 'would push the same' }]);
    first.kill('SIGKILL');
    await second.says(/this agent leads now/);
    await two.write('sales.csv', rowsOf({ north: '1.75', south: '2' }));
    const post = await world.service.post(2);
    expect(pointsOf(post)).toMatchObject({ north: { '2026-01': '1.75' }, south: { '2026-01': '2' } });
  });

  test('one that sleeps in the middle of a body never completes it', async () => {
    await using service = await openSlowReceiver();
    const destination = { url: service.url, timeout: '2s' };
    await using world = await machines({ count: 2, takeOver: '3s', more: { destination } });
    const [one, two] = world.places as [Place, Place];
    await one.write('sales.csv', manyRows('1'));
    await two.write('sales.csv', manyRows('2'));
    const first = await one.daemon();
    await service.came;
    first.kill('SIGSTOP');
    const second = await two.daemon();
    await second.says(/this agent leads now/);
    await expect.poll(() => service.whole).toEqual(['2']);
    first.kill('SIGCONT');
    service.goOn();
    await service.broken;
    await first.says(/does not lead any more/);
    expect(service.whole).toEqual(['2']);
    // What the one that slept had begun counts as no more than tried, which the other one has waited for.
    const { pushes } = (await two.command('history', '--json')).json<{ pushes: { outcome: string }[] }>();
    const [last, ...earlier] = pushes.map(({ outcome }) => outcome);
    expect(last).toBe('acknowledged');
    expect(earlier).toContain('unknown');
    expect(earlier).not.toContain('acknowledged');
  });
});

type Place = Awaited<ReturnType<typeof machines>>['places'][number];
