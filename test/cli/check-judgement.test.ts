/** `check` judges a source that it has read whole as `sync` would, and says what it could not judge. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CommandsWorld, commandsWorld, manyDrivers } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

interface Checked {
  readonly code: number;
  readonly sources: Readonly<Record<string, { refusals: readonly { message: string }[]; warnings: readonly string[] }>>;
}

async function check({ run }: CommandsWorld): Promise<Checked> {
  const { code, json } = await run('check', '--json');
  const { sources } = json<{ sources: readonly (Checked['sources'][string] & { name: string })[] }>();
  return { code, sources: Object.fromEntries(sources.map(({ name, ...found }) => [name, found])) };
}

const x = (value: number): string => longFile({ x: { '2026-01': value } });
const both = { a: csv('a.csv'), b: csv('b.csv') };

describe('check exits 4, as sync', () => {
  test('where two sources give one driver', async () => {
    const commands = await commandsWorld(both, { 'a.csv': x(1), 'b.csv': x(2) });
    const reason = 'driver "x" of source "b" belongs to source "a"';
    expect(await check(commands)).toMatchObject({
      code: 4,
      sources: { a: { refusals: [] }, b: { refusals: [{ message: reason }] } },
    });
    // Nothing was there before, and nothing is left.
    expect(existsSync(path.join(commands.at.dir, '.driver-sync'))).toBe(false);
    expect(await commands.json('sync')).toMatchObject({ exit: 4, sources: [{ name: 'a' }, { name: 'b', reason }] });
  });

  test('where the guard would hold a read, which check does not record', async () => {
    const commands = await commandsWorld({ sales: csv('sales.csv') }, { 'sales.csv': manyDrivers(40) });
    expect(await check(commands)).toMatchObject({ code: 0 });
    await commands.run('sync');
    expect(await check(commands)).toMatchObject({ code: 0, sources: { sales: { refusals: [], warnings: [] } } });
    await commands.at.write('sales.csv', manyDrivers(20));
    const reason = 'it would delete 20 of 40 drivers, more than guard.maxDeletes 10%';
    expect(await check(commands)).toMatchObject({ code: 4, sources: { sales: { refusals: [{ message: reason }] } } });
    expect(await commands.json('status')).toMatchObject({ held: [] });
    const { exit, sources } = await commands.json<{ exit: number; sources: { digest: string }[] }>('sync');
    expect({ exit, sources }).toMatchObject({ exit: 4, sources: [{ reason }] });
    await commands.run('approve', sources[0]!.digest);
    expect(await check(commands)).toMatchObject({ code: 0 });
    const left = readdirSync(path.join(commands.at.dir, '.driver-sync'));
    expect(left.filter((name) => name.startsWith('scratch'))).toEqual([]);
  });

  test('where a source that left the config would delete what it had', async () => {
    const commands = await commandsWorld(both, { 'a.csv': x(1), 'b.csv': longFile({ y: { '2026-01': 1 } }) });
    await commands.run('sync');
    await commands.configure({ a: both.a });
    const reason = 'the source left the config and 1 driver would be deleted';
    expect(await check(commands)).toMatchObject({ code: 4, sources: { b: { refusals: [{ message: reason }] } } });
    await commands.configure({ a: both.a, c: both.b });
    expect(await check(commands)).toMatchObject({ code: 0 });
  });
});

describe('check does not say what it cannot know', () => {
  test('of a source of which it read the first rows only', async () => {
    const commands = await commandsWorld({ sales: csv('sales.csv') }, { 'sales.csv': manyDrivers(6000) });
    await commands.run('sync');
    await commands.at.write('sales.csv', manyDrivers(5500).replaceAll('R1', 'S1'));
    expect(await check(commands)).toMatchObject({
      code: 0,
      sources: { sales: { refusals: [], warnings: [expect.stringMatching(/only its first rows.*driver-sync plan/)] } },
    });
  });

  test('of an id that another source may give up', async () => {
    const commands = await commandsWorld(both, { 'a.csv': longFile({ y: { '2026-01': 1 } }), 'b.csv': x(1) });
    await commands.run('sync');
    await commands.at.write('a.csv', longFile({ y: { '2026-01': 1 }, x: { '2026-01': 1 } }));
    expect(await check(commands)).toMatchObject({ code: 4, sources: { a: { refusals: [{}] } } });
    await commands.at.write('b.csv', manyDrivers(6000));
    expect(await check(commands)).toMatchObject({
      code: 0,
      sources: { a: { refusals: [], warnings: [expect.stringMatching(/not known.*"b" was not judged/)] } },
    });
  });
});
