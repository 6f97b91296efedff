/** What stands in the config and opens something is on no page and in no answer. */
import { expect, test } from 'vitest';
import { commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { statusWorld } from '../support/status-world.ts';
import { longFile } from '../support/world.ts';

const canary = (name: string): string => `canary${name}0123456789`;
const drivers = [{ path: ['{id}'], time: '{time}', value: '{value}' }];

test('no secret is on a page, in an answer, in the metrics or in the log', async () => {
  const commands = await commandsWorld(
    {
      revenue: csv('a.csv'),
      api: {
        type: 'http',
        url: `http://user:${canary('Password')}@127.0.0.1:1/v1/${canary('Segment')}?page=${canary('Parameter')}`,
        headers: { 'X-Key': canary('Header') },
        format: 'json',
        drivers,
      },
      billing: { type: 'http', url: 'http://127.0.0.1:1/v2', token: canary('Token'), format: 'json', drivers },
      books: {
        type: 'postgres',
        url: `postgres://reader:${canary('Database')}@127.0.0.1:1/books`,
        query: 'select 1',
        drivers,
      },
      printed: {
        type: 'command',
        command: ['false', '--key', canary('Argument')],
        env: { PGPASSWORD: canary('Variable') },
        format: 'csv',
        drivers,
      },
      stored: {
        type: 'csv',
        files: ['s3://bucket/revenue/*.csv'],
        s3: { endpoint: 'http://127.0.0.1:1', accessKeyId: canary('Identity'), secretAccessKey: canary('Access') },
        drivers,
      },
    },
    { 'a.csv': longFile({ North: { '2026-01': '1.50' } }) },
    { notify: [{ url: `http://127.0.0.1:1/hooks/${canary('Hook')}` }] },
  );
  await commands.run('sync');
  const page = await statusWorld(commands);
  const names = ['revenue', 'api', 'billing', 'books', 'printed', 'stored'];
  const addresses = [
    '/ /drivers /pushes /held /metrics /livez /readyz /nothing'.split(' '),
    '/api/status /api/history /api/drivers /api/held /api/explain?driver=North /api/nothing'.split(' '),
    ...names.map((name) => [`/source?name=${name}`, `/api/source?name=${name}`, `/api/rejects?source=${name}`]),
  ].flat();
  const answers = await Promise.all(addresses.map((address) => page.ask(address)));
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(15);
  // The sources are there, with what went wrong.
  expect(answers[0]?.body).toMatch(/billing[^]*could not be reached|billing[^]*ECONNREFUSED|billing[^]*refused/);
  for (const [at, { body, headers }] of answers.entries()) {
    expect(JSON.stringify([body, headers]), addresses[at]).not.toMatch(/canary/i);
  }
  expect(JSON.stringify(page.log)).not.toMatch(/canary/i);
});
