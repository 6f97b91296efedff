/** Pages stay light, however much there is and however long its names are. */
import { expect, test } from 'vitest';
import { commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { type StatusWorld, statusWorld } from '../support/status-world.ts';

const longName = (number: number): string =>
  `Umsatzerlöse Handelswaren Inland <ohne Skonti> / Größe & Währung EUR – Gesellschaft ${1000 + number} Süddeutschland`;

/** Drivers with long names; the first one has 40 years, the others one. */
function manyFacts(drivers: number, scale: number): string {
  const rows = Array.from({ length: drivers }, (_, driver) =>
    Array.from({ length: driver === 0 ? 480 : 12 }, (_point, at) => {
      const month = new Date(Date.UTC(1986, at, 1)).toISOString().slice(0, 7);
      return `${longName(driver)},${month},-${(at + 1) * scale}.1234567\n`;
    }),
  );
  return `id,time,value\n${rows.flat().join('')}`;
}

async function lightPage(page: StatusWorld, address: string): Promise<string> {
  const { status, body } = await page.ask(address);
  expect({ address, status }).toEqual({ address, status: 200 });
  expect(Buffer.byteLength(body), address).toBeLessThan(50_000);
  return body;
}

test('pages of many drivers, months and changes with long names are light, and lead on to what they leave out', async () => {
  const commands = await commandsWorld({ sales: csv('sales.csv') }, {}, { guard: { values: 'off' } });
  for (const scale of [1_000_003, 2_000_015, 3_000_037]) {
    await commands.at.write('sales.csv', manyFacts(150, scale));
    expect(await commands.run('sync')).toMatchObject({ code: 0 });
  }
  await commands.at.write('sales.csv', manyFacts(80, 4_000_001));
  await commands.run('sync');
  const page = await statusWorld(commands);
  const driver = await lightPage(page, `/driver?id=${encodeURIComponent(longName(0))}`);
  expect(driver).toMatch(/The newest \d+ of 480 points/);
  expect(driver).toMatch(/\d+ earlier years are not shown/);
  await lightPage(page, '/push?id=3');
  await lightPage(page, '/held?source=sales');
  const shown: string[] = [];
  for (let address: string | undefined = '/drivers'; address !== undefined;) {
    const body: string = await lightPage(page, address);
    shown.push(
      ...[...body.matchAll(/Gesellschaft (\d+) Süddeutschland<\/bdi><\/code>/g)].map(([, number = '']) => number),
    );
    address = /href="(\/drivers\?[^"]*after=[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
  }
  expect(shown).toEqual(Array.from({ length: 150 }, (_, number) => String(1000 + number)));
});

test('the overview of many sources is light and shows those that are not well first; so is a source of many parts', async () => {
  const names = Array.from({ length: 120 }, (_, number) => `subsidiary-with-a-long-name-${1000 + number}`);
  const own = (name: string): object => ({
    ...csv(`${name}-*.csv`),
    drivers: [{ id: `${name}/{id}`, path: ['{id}'], time: '{time}', value: '{value}' }],
    lineEnd: 'any',
  });
  const parts = Array.from({ length: 150 }, (_, part) => [
    `${names[0]}-${'export of the general ledger, März '.repeat(3)}${part}.csv`,
    `id,time,value\n${part},2026-01,1\n`,
  ]);
  const files = Object.fromEntries([
    ...parts,
    ...names.slice(1, -1).map((name) => [`${name}-1.csv`, 'id,time,value\nRent,2026-01,1\n']),
  ]) as Record<string, string>;
  const commands = await commandsWorld(Object.fromEntries(names.map((name) => [name, own(name)])), files);
  await commands.run('sync');
  const page = await statusWorld(commands);
  const overview = await lightPage(page, '/');
  const rows = [...overview.matchAll(/<th scope="row" class="row"><a href="\/source\?name=[^"]*(\d{4})"/g)];
  expect(rows[0]?.[1]).toBe('1119');
  expect(overview).toContain(`and ${120 - rows.length} more`);
  expect(await lightPage(page, `/source?name=${names[0]}`)).toMatch(/and \d+ more parts/);
});
