/** What a start leaves in a state directory. */
import { expect, onTestFinished, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { driver, temporaryDirectory } from '../support/emulator-world.ts';

test.for([
  ['a port in use', {}],
  ['fixtures that are not valid', { fixtures: { drivers: [driver('b')], routers: [{ slug: 'x' }] } }],
  ['fixtures with a model that there is not', { fixtures: { credits: 1, catalog: { remove: ['gen9'] } } }],
  ['a catalog that is not valid', { catalog: { add: [{}] } }],
] as const)('a state directory is as it was after a start that fails because of %s', async ([, options]) => {
  const state = await temporaryDirectory();
  const first = await startEmulator({ state, credits: 77, speed: 0 });
  first.load({
    drivers: [driver('a')],
    routers: [{ slug: 'draft', name: 'Draft' }],
    catalog: { remove: ['h3_max'] },
  });
  await first.close();
  const other = await startEmulator();
  onTestFinished(() => other.close());
  const port = 'fixtures' in options || 'catalog' in options ? 0 : other.port;
  const catalog = { remove: ['wan3'] };
  await expect(startEmulator({ state, credits: 5, speed: 7, catalog, port, ...options })).rejects.toBeDefined();
  const emulator = await startEmulator({ state });
  onTestFinished(() => emulator.close());
  const read = async (path: string) => (await emulator.fetch(path)).text();
  expect(emulator.drivers().map(({ id }) => id)).toEqual(['a']);
  expect(emulator.clock().speed).toBe(0);
  expect(JSON.parse(await read('/v1/organization'))).toMatchObject({ creditBalance: 77 });
  expect(await read('/v1/routers')).toContain('draft');
  expect(await read('/_emulator/catalog')).not.toContain('h3_max');
  expect(await read('/_emulator/catalog')).toContain('wan3');
});

test('a state directory does not keep a catalog that is read again in the place of that of the start', async () => {
  const state = await temporaryDirectory();
  const modelsOf = async (emulator: Emulator) => {
    const { models } = (await (await emulator.fetch('/_emulator/catalog')).json()) as { models: { id: string }[] };
    return models.map(({ id }) => id);
  };
  const first = await startEmulator({ state, catalog: { remove: ['wan3'] } });
  first.catalog({ remove: ['gen4.5'] });
  first.catalog({ remove: ['h3_max'] }, 'start');
  const read = await modelsOf(first);
  expect(read).toEqual(expect.arrayContaining(['wan3', 'gen4.5']));
  expect(read).not.toContain('h3_max');
  first.reset();
  expect(await modelsOf(first)).toEqual(read);
  await first.close();
  const second = await startEmulator({ state });
  onTestFinished(() => second.close());
  expect(await modelsOf(second)).toContain('h3_max');
});
