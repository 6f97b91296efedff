/** The drivers of the console, as a browser without JavaScript sees them. */
import { describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { read } from '../support/console-world.ts';
import { at, driver, emulatorWorld, push, temporaryDirectory } from '../support/emulator-world.ts';

describe('drivers', () => {
  test('names are shown as they are, with any characters', async () => {
    const emulator = await emulatorWorld();
    const hostile = `"><img src=x onerror='alert(1)'>&amp;`;
    await push(emulator, { extDrivers: [{ id: hostile, path: [hostile, hostile], timeSeries: [] }] });
    const page = await read(
      emulator,
      `/console/drivers?id=${encodeURIComponent(hostile)}&find=${encodeURIComponent('"<')}`,
    );
    expect(page).not.toContain('<img');
    expect(page).toContain('&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;');
  });

  test('values are shown as they were sent, by month, newest first', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', '1767225600 0.10000000000000000001', '1772323200 -2.50')] });
    const page = await read(emulator, '/console/drivers');
    expect(
      [...page.matchAll(/<data value="(.*?)" data-time="(.*?)" data-month="(.*?)"/g)].map(([, ...point]) => point),
    ).toEqual([
      ['-2.50', '1772323200', '2026-03'],
      ['0.10000000000000000001', '1767225600', '2026-01'],
    ]);
  });

  // Grouping that looks ahead to the end from each digit would take minutes for this one.
  test('a value of a million digits is shown, with all of them in groups', async () => {
    const emulator = await emulatorWorld();
    const value = '9'.repeat(1_000_000);
    await push(emulator, { extDrivers: [driver('a', `0 -${value}.5`)] });
    const page = await read(emulator, '/console/drivers');
    expect(page).toContain(`-9${'\u202F999'.repeat(333_333)}.5<`);
  });

  test('a time beyond all calendars has no month, and is shown nevertheless', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', '99999999999999999999 1')] });
    expect(await read(emulator, '/console/drivers')).toContain('99999999999999999999');
  });

  test.for(['id', 'driver'])('is chosen by ?%s=, and one that is not held is 404', async (name) => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a'), driver('b')] });
    expect(await read(emulator, `/console/drivers?${name}=b`)).toContain('<h2><bdi>b</bdi></h2>');
    const none = await emulator.fetch(`/console/drivers?${name}=nope`);
    expect([none.status, await none.text()]).toEqual([404, expect.stringContaining('no driver <code>nope</code>')]);
  });

  test('the driver with which the tree begins is open', async () => {
    const emulator = await emulatorWorld();
    const paths = {
      a: ['Stores', 'Store 10'],
      b: ['Stores', 'Store 2'],
      c: ['Stores', 'Store 2', 'Shelf'],
      d: ['Zoo'],
    };
    const extDrivers = Object.entries(paths).map(([id, path]) => ({ id, path, timeSeries: [] }));
    await push(emulator, { extDrivers });
    const chosen = async (query = ''): Promise<string | undefined> =>
      /\?id=(\w+)[^"]*"\s+aria-current/.exec(await read(emulator, `/console/drivers${query}`))?.[1];
    expect(await chosen()).toBe('b');
    expect(await chosen('?find=zoo')).toBe('d');
    expect(await chosen('?id=a')).toBe('a');
  });

  test('a search finds drivers by id and path', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('revenue'), driver('cost')] });
    const page = await read(emulator, '/console/drivers?find=REV');
    const [tree] = /<nav class="tree".*?<\/nav>/s.exec(page) ?? [];
    expect(tree).toContain('?id=revenue&amp;find=REV');
    expect(tree).not.toContain('?id=cost');
  });

  test('the last push says which drivers and points it added, changed and removed', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', '1767225600 1', '1769904000 2'), driver('b'), driver('same')] });
    await push(emulator, {
      shouldDeleteMissing: true,
      extDrivers: [driver('a', '1767225600 9', '1772323200 3'), driver('c'), driver('same')],
    });
    const page = await read(emulator, '/console/drivers?id=a');
    for (const change of ['1 driver added', '1 driver changed', '1 driver removed']) expect(page).toContain(change);
    expect(page).toMatch(/2026-01<.*?changed from 1</s);
    expect(page).toMatch(/2026-02<.*?<del>2<\/del>.*?removed</s);
    expect(page).toMatch(/2026-03<.*?>added</s);
  });

  test('a push that is refused is not the last one, and one that changes nothing says so', async () => {
    const emulator = await emulatorWorld();
    const extDrivers = [driver('a', '1767225600 1')];
    await push(emulator, { extDrivers });
    await push(emulator, { extDrivers });
    await push(emulator, { extDrivers: [{ id: '' }] });
    expect(await read(emulator, '/console/drivers')).toContain('It changed nothing');
    emulator.reset();
    expect(await read(emulator, '/console/drivers')).not.toContain('Last push');
  });

  test('a path of a thousand elements is a page like any other', async () => {
    const emulator = await emulatorWorld();
    const path = Array.from({ length: 1_000 }, (_, depth) => `level ${depth}`);
    await push(emulator, { extDrivers: [{ id: 'deep', path, timeSeries: [] }] });
    expect(await read(emulator, '/console/drivers')).toContain('level 999');
  });

  test('the last push shows a month whose point has another time as one that changed', async () => {
    const emulator = await emulatorWorld();
    const [first, later, february] = [
      at('2024-01-01T00:00:00Z'),
      at('2024-01-15T00:00:00Z'),
      at('2024-02-01T00:00:00Z'),
    ];
    await push(emulator, { extDrivers: [driver('a', `${first} 9`, `${february} 1`)] });
    await push(emulator, { extDrivers: [driver('a', `${later} 10`, `${at('2024-02-02T00:00:00Z')} 1`)] });
    const page = await read(emulator, '/console/drivers?id=a');
    expect(page.slice(page.indexOf('Points, newest first')).match(/scope="row"/g)).toHaveLength(2);
    expect(page).toContain('changed from 9');
    expect(page).toContain(`time changed from ${february}`);
  });

  test('the last push says of a driver that moved where it was', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [{ ...driver('a'), path: ['Old', 'Place'] }] });
    await push(emulator, { extDrivers: [{ ...driver('a'), path: ['New'] }] });
    expect(await read(emulator, '/console/drivers?id=a')).toContain('<del><bdi>Old / Place</bdi></del>');
  });

  test('the last push before a restart is shown without what it changed', async () => {
    const state = await temporaryDirectory();
    const first = await startEmulator({ state });
    await push(first, { extDrivers: [driver('a', '1767225600 1')] });
    await first.close();
    const page = await read(await emulatorWorld({ state }), '/console/drivers');
    expect(page).toContain('What it changed is not known');
    expect(page).not.toContain('</span>added');
  });

  test('a driver that is not held is a 404 beside the tree', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('sales')] });
    const response = await emulator.fetch('/console/drivers?id=zzz');
    expect(response.status).toBe(404);
    const page = await response.text();
    expect(page).toContain('holds no driver <code>zzz</code>');
    expect(page).toContain('?id=sales');
    emulator.reset();
    expect((await emulator.fetch('/console/drivers?id=sales')).status).toBe(404);
  });

  test('a driver whose name is blank goes by its id', async () => {
    const emulator = await emulatorWorld();
    for (const [id, path] of [
      ['blank', [' lead', ' ']],
      ['invisible', ['\u200B']],
    ] as const) {
      await push(emulator, { extDrivers: [{ id, path, timeSeries: [] }] });
      const page = await read(emulator, `/console/drivers?id=${id}`);
      expect(page).toContain(`<bdi>${id}</bdi></a`);
      expect(page).toContain(`<h2><bdi>${id}</bdi></h2>`);
    }
  });

  test('the tree is that of the drivers of now, whatever was shown before', async () => {
    const emulator = await emulatorWorld();
    const shown = async (): Promise<string[]> =>
      [...(await read(emulator, '/console/drivers')).matchAll(/\?id=(\w+)"/g)].map(([, id = '']) => id);
    await push(emulator, { extDrivers: [driver('b')] });
    expect(await shown()).toEqual(['b', 'b']);
    emulator.snapshot('b');
    await push(emulator, { extDrivers: [{ ...driver('a'), path: ['C'] }] });
    expect(await shown()).toEqual(['a', 'b', 'a']);
    await push(emulator, { extDrivers: [driver('a')] });
    expect(await shown()).toEqual(['a', 'a', 'b']);
    emulator.restore('b');
    expect(await shown()).toEqual(['b']);
    emulator.reset();
    expect(await shown()).toEqual([]);
  });

  describe('a tree of many', () => {
    async function many(drivers: number): Promise<Emulator> {
      const emulator = await emulatorWorld();
      const extDrivers = Array.from({ length: drivers }, (_, index) => ({
        ...driver(`drv-${index}`),
        path: [`Group ${index % 4}`, `Driver ${index}`],
      }));
      expect(await push(emulator, { extDrivers })).toBe(200);
      return emulator;
    }
    const treeOf = async (emulator: Emulator, query: string): Promise<string> =>
      /<nav class="tree".*?<\/nav>/s.exec(await read(emulator, `/console/drivers${query}`))?.[0] ?? '';

    test('is folded but for the group of the chosen one, and each group says how many it has', async () => {
      const emulator = await many(2_000);
      const tree = await treeOf(emulator, '?id=drv-1999');
      expect(tree.match(/href="[^"]*\?id=/g)).toHaveLength(2_000);
      expect(tree).toContain('2\u202F000 drivers');
      const groups = [
        ...tree.matchAll(/<details (open)?>\s*<summary>\s*<bdi>(.*?)<\/bdi>\s*<span class="count">(.*?)</g),
      ];
      expect(groups.map(([, ...group]) => group)).toEqual([
        [undefined, 'Group 0', '500'],
        [undefined, 'Group 1', '500'],
        [undefined, 'Group 2', '500'],
        ['open', 'Group 3', '500'],
      ]);
      expect(tree).toMatch(/id=drv-1999" aria-current="true"/);
    });

    test('that is too long cuts the large groups, says so in each, and never leaves out the chosen one', async () => {
      const emulator = await many(5_400);
      await push(emulator, { extDrivers: [{ ...driver('last'), path: ['Small', 'Last'] }] });
      // The names of a group are in the order of their characters: the first of these is listed anyway, the other is cut.
      for (const [id, listed] of [
        ['drv-1003', 5_000],
        ['drv-999', 5_001],
      ] as const) {
        const tree = await treeOf(emulator, `?id=${id}`);
        expect(tree).toMatch(new RegExp(`id=${id}" aria-current="true"`));
        expect(tree).toContain('?id=last');
        expect(tree.match(/href="[^"]*\?id=/g)).toHaveLength(listed);
        expect(tree).toMatch(/Group 3<\/bdi>\s*<span class="count">1\u202F350</);
        const left = [...tree.matchAll(/(\d+) more drivers, which a search finds/g)].map(([, count]) => Number(count));
        expect(left).toHaveLength(4);
        expect(left.reduce((sum, count) => sum + count, 0)).toBe(5_401 - listed);
        expect(tree).toMatch(/Small<\/bdi>\s*<span class="count">1<(?!.*more driver)/s);
      }
    });
  });
});
