/** `check` of answers in pages. */
import { expect, test } from 'vitest';
import { commandsWorld } from '../support/commands-world.ts';
import { receiver } from '../support/destination-world.ts';

test('check says that the first page counts as the only one where the pointer to the next finds nothing', async () => {
  const server = await receiver((_request, response) => {
    const body = '{"rows":[{"region":"North","date":"2026-01-31","amount":1}],"next_page":"/x?page=2"}';
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  const sales = {
    type: 'http',
    url: `${server}/x`,
    items: 'rows',
    pages: { next: '/next' },
    drivers: [{ path: ['{region}'], time: '{date}', value: '{amount}' }],
  };
  const { run } = await commandsWorld({ sales }, {});
  const done = await run('check', '--json');
  expect(done.code).toBe(0);
  expect(done.json<{ sources: { warnings: string[] }[] }>().sources[0]!.warnings).toEqual([
    expect.stringMatching(/^the first page has nothing at \/next, so it is taken as the only one/),
  ]);
});
