/** The status pages as a browser without JavaScript has them. */
import { describe, expect, test } from 'vitest';
import { busyWorld } from '../support/busy-world.ts';
import { commandsWorld, threeSources, twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { type StatusWorld, statusWorld } from '../support/status-world.ts';
import { longFile } from '../support/world.ts';

/** The texts of a page, without its markup. */
async function textOf(page: StatusWorld, address: string): Promise<string> {
  const { status, body, headers } = await page.ask(address);
  expect({ address, status, type: headers['content-type'] }).toEqual({
    address,
    status: 200,
    type: 'text/html; charset=utf-8',
  });
  expect(Buffer.byteLength(body), address).toBeLessThan(50_000);
  const main = /<main.*<\/footer>|<main.*<\/main>/s.exec(body)?.[0] ?? '';
  return main
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/[ \n]+/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"');
}

describe('what an operator sees', () => {
  test('the overview says first that all is well, and what the service holds since when', async () => {
    const page = await statusWorld(await twoPushes());
    const text = await textOf(page, '/');
    expect(text).toContain('All is well: the service holds what the sources have');
    expect(text).toMatch(/The service holds 2 drivers 3 points, by push 2/);
    expect(text).toMatch(
      /Last push \d\d:\d\d (today|yesterday), (now|1 min ago) drivers: 1 created, 1 updated; points: 1 created, 1 updated/,
    );
    expect(text).toMatch(/Sources looked at .* 1 source, 0 rejects/);
    expect(text).toMatch(/Next push \d\d:\d\d/);
    expect(text).toContain('driver-sync 1.2.3, pid 7');
    expect(text).toMatch(/Head of the chain, to be noted elsewhere: \d+:[0-9a-f]{64}/);
  });

  test('a held source, an unread one and a part that is gone are said before anything else, each with its way out', async () => {
    const page = await statusWorld(await busyWorld());
    const text = await textOf(page, '/');
    expect(text).toMatch(/^ ▲ The source sales is held: .* are 1000 times what they were/);
    expect(text).toMatch(/driver-sync approve [0-9a-f]{12} (?!--reason)/);
    expect(text).toMatch(/The source staff: a part is gone, and the data is carried/);
    expect(text).toMatch(/roll back to push 4 .* the restatement of May was entered twice/);
  });

  test('a pass that broke and a push that was refused are said', async () => {
    const commands = await twoPushes();
    commands.receiver.answer({ status: 400, text: 'no such model' });
    await commands.run('sync', '--force');
    const page = await statusWorld(commands);
    page.agent.broken = 'no space is left';
    const text = await textOf(page, '/');
    expect(text).toContain('The last pass broke: no space is left');
    expect(text).toMatch(/Push 3 was refused: .*400/);
  });

  test('a push that was refused is said for as long as what it had is not taken back', async () => {
    const commands = await twoPushes();
    commands.receiver.answer({ status: 400, text: 'no such model' });
    const write = (north: object): Promise<void> =>
      commands.at.write('a.csv', longFile({ North: { '2026-01': '1.50', ...north }, South: { '2026-01': 4 } }));
    await write({ '2026-02': 5 });
    expect(await commands.run('sync')).toMatchObject({ code: 5 });
    const page = await statusWorld(commands);
    expect(await textOf(page, '/')).toMatch(/^ ▲ Push 3 was refused/);
    await write({ '2026-02': 3 });
    expect(await commands.run('sync')).toMatchObject({ code: 0 });
    expect(await textOf(page, '/')).toMatch(/^ ● All is well/);
    commands.receiver.answer({ status: 400, text: 'no such model' });
    await commands.run('rollback', '1');
    expect(await textOf(page, '/')).toMatch(/^ ▲ Push 4 was refused/);
  });

  test('a first push that waits for approval is said once, and its page calls it no source', async () => {
    const commands = await threeSources({ guard: { firstPush: 'approve' } });
    await commands.run('sync');
    const page = await statusWorld(commands);
    const overview = await textOf(page, '/');
    expect(overview).toMatch(/^ ▲ Nothing is pushed: the first push to \S+ waits for approval/);
    expect(overview).not.toMatch(/The source \(/);
    const { body } = await page.ask('/');
    const [, address = ''] = /href="(\/held[^"]*)"/.exec(body) ?? [];
    const text = await textOf(page, address);
    expect(text).toContain('is sent to this address for the first time');
    expect(text).not.toContain('No point changes');
  });

  test('nobody is asked to approve what is approved already', async () => {
    const commands = await threeSources({ guard: { firstPush: 'approve' } });
    await commands.run('sync');
    const page = await statusWorld(commands);
    const { held } = await page.json<{ held: { digest: string }[] }>('/api/status');
    const asked = `driver-sync approve ${held[0]?.digest.slice(0, 12)}`;
    expect((await textOf(page, '/')).split(asked)).toHaveLength(3);
    await commands.run('approve', held[0]?.digest ?? '');
    const text = await textOf(page, '/');
    expect(text).not.toContain(asked);
    expect(text).toMatch(
      /^ ▲ Nothing is pushed: .* approved: the next pass takes it up .* Approved: the next pass takes it up\. /,
    );
    const { body } = await page.ask('/');
    const [, address = ''] = /href="(\/held[^"]*)"/.exec(body) ?? [];
    const detail = await textOf(page, address);
    expect(detail).toContain('Approved: the next pass takes it up.');
    expect(detail).not.toContain('driver-sync approve');
  });

  test('pages that have nothing to show yet say what would fill them', async () => {
    const commands = await commandsWorld({ sales: csv('nowhere.csv') }, {});
    await commands.run('sync');
    const page = await statusWorld(commands);
    expect(await textOf(page, '/')).toContain(
      'Nothing was pushed yet. The first push brings every driver. driver-sync plan',
    );
    expect(await textOf(page, '/pushes')).toContain('driver-sync plan');
    expect(await textOf(page, '/drivers')).toContain('No driver was accepted yet');
    expect(await textOf(page, '/source?name=sales')).toContain('Nothing of this source was accepted yet');
    expect((await page.ask('/held?source=sales')).body).toContain('Nothing of it is held now');
  });

  test('what is not there is a page that says so', async () => {
    const page = await statusWorld(await twoPushes());
    for (const [address, said] of [
      ['/driver?id=nobody', 'there is no driver &quot;nobody&quot;'],
      ['/source?name=nobody', 'the last pass had no source &quot;nobody&quot;'],
      ['/push?id=99', 'there is no push 99'],
      ['/push?id=x', 'there is no push x'],
    ] as const) {
      const { status, body } = await page.ask(address);
      expect(status, address).toBe(404);
      expect(body).toContain(said);
    }
    expect((await page.ask('/nothing')).status).toBe(404);
  });

  test('names from data are text, wherever they stand', async () => {
    const hostile = `<img src=x onerror="alert(1)">'&`;
    const commands = await commandsWorld(
      { sales: csv('a.csv', { guard: { values: 'off' } }) },
      { 'a.csv': `id,time,value\n"${hostile.replaceAll('"', '""')}",2026-01,1\n` },
    );
    await commands.run('sync');
    const page = await statusWorld(commands);
    for (const address of [
      '/drivers',
      `/driver?id=${encodeURIComponent(hostile)}`,
      '/push?id=1',
      `/drivers?find=${encodeURIComponent(hostile)}`,
    ]) {
      expect((await page.ask(address)).body, address).not.toContain('<img');
    }
    expect((await page.ask(`/driver?id=${encodeURIComponent(hostile)}`)).status).toBe(200);
  });
});

describe('sources, drivers and pushes', () => {
  test('a source has its parts, its rejects as read, and the command that drops what is gone', async () => {
    const page = await statusWorld(await busyWorld());
    const costs = await textOf(page, '/source?name=costs');
    expect(costs).toContain('costs.csv');
    expect(costs).toMatch(/2 rows could not be used\. Download them as CSV/);
    expect(costs).toContain('Costs/Rent,March,-7500');
    const staff = await textOf(page, '/source?name=staff');
    expect(staff).toMatch(/staff-2\.csv ◐ gone, carried/);
    expect(staff).toContain('driver-sync forget staff staff-2.csv');
  });

  test('a driver has its years, the rows behind its points, and the snapshots in which it was another one', async () => {
    const page = await statusWorld(await busyWorld());
    const text = await textOf(page, '/driver?id=Sales%2FNorth');
    expect(text).toMatch(/as it was in 2 earlier snapshots|as it was in 3 earlier snapshots/);
    expect(text).toMatch(/2023 184\u202F000\.00 /);
    expect(text).toMatch(/sales\.csv 35 /);
    expect(text).toContain('driver-sync explain Sales/North 2025-11 --rows');
    const { body } = await page.ask('/driver?id=Sales%2FNorth');
    expect(body.match(/class="past"/g)?.length).toBeGreaterThanOrEqual(2);
    expect(body).toContain('not so in push');
  });

  test('drivers are found by id and path, and come a page at a time', async () => {
    const page = await statusWorld(await busyWorld());
    expect(await textOf(page, '/drivers?find=ONLINE')).toMatch(/Sales\/Online Sales\/Online sales/);
    expect(await textOf(page, '/drivers?find=nobody')).toContain('No driver has that');
    const commands = await threeSources();
    await commands.at.write(
      'revenue.csv',
      longFile(Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`R${at}`, { '2026-01': 1 }]))),
    );
    await commands.run('sync');
    const many = await statusWorld(commands);
    const seen: string[] = [];
    for (let address: string | undefined = '/drivers'; address !== undefined;) {
      const { body } = await many.ask(address);
      seen.push(...[...body.matchAll(/\/driver\?id=([^"]*)"/g)].map(([, id = '']) => id));
      address = /href="(\/drivers\?[^"]*)">More/.exec(body)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(new Set(seen).size).toBe(252);
    expect(seen).toHaveLength(252);
  });

  test('a push says what it changed, old and new, and how to go back to it', async () => {
    const page = await statusWorld(await busyWorld());
    const text = await textOf(page, '/push?id=3');
    expect(text).toMatch(/Sales\/East 2024-09 [\d\u202F]+\.00 [\d\u202F]+\.00 -22\u202F000(\.00)? /);
    expect(text).toContain('Against push 2');
    expect(text).toContain('driver-sync rollback 3 ');
    expect(await textOf(page, '/push?id=1')).toContain('it was the first one to this address');
  });

  test('a held candidate has its findings, its largest changes and the command that approves it', async () => {
    const page = await statusWorld(await busyWorld());
    const text = await textOf(page, '/held?source=sales');
    expect(text).toMatch(/multiplied by 1000 Sales|multiplied by 1000 the whole source/);
    expect(text).toMatch(/The 50 largest of 210 changed points/);
    expect(text).toMatch(/driver-sync approve [0-9a-f]{12} (?!--reason)/);
  });
});
