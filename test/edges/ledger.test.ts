/** The ledger damaged: the agent stops, since who lost count must not push. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { asideIn, damages, overwrite } from '../support/damage.ts';
import { type World, file, servedWorld } from '../support/state-world.ts';

describe('the ledger', () => {
  test.each(damages.slice(0, 2))('%s, stops the agent: who lost count must not push', async (_name, damage) => {
    const one = await servedWorld();
    damage(file(one, 'ledger'));
    const before = readFileSync(file(one, 'ledger'));
    one.write('sales.csv', { north: '1.75', south: '2' });
    const { exit, json } = await one.run<{ error: { code: string; message: string; hint: string } }>('sync');
    expect(exit).toBe(65);
    expect(json.error.message).toContain(file(one, 'ledger'));
    // Nobody can rebuild it.
    expect(json.error.hint).not.toMatch(/rebuilt/);
    expect(one.service.posts).toHaveLength(1);
    expect(readFileSync(file(one, 'ledger')).equals(before)).toBe(true);
    expect(asideIn(one)).toEqual([]);
  });

  test('damaged on a page that a pass needs, costs no buffer', async () => {
    const one = await servedWorld();
    const size = statSync(file(one, 'ledger')).size;
    overwrite(file(one, 'ledger'), { at: 4096, bytes: size - 4096 });
    one.write('sales.csv', { north: '1.75', south: '2' });
    expect((await one.run('sync')).exit).toBe(65);
    expect(one.service.posts).toHaveLength(1);
    expect(asideIn(one)).toEqual([]);
  });

  test.each([
    ['the name of a column', 'result TEXT', 'resvlt TEXT'],
    ['the name of a table', 'TABLE held', 'TABLE hfld'],
    ['its state', '"repeatsMs":[', '"repeatsMs":}'],
  ])('with a changed letter in %s is damaged, and no bug', async (_name, from, to) => {
    const one = await servedWorld();
    const bytes = readFileSync(file(one, 'ledger'), 'latin1');
    const changed = bytes.replaceAll(from, to);
    expect(changed).not.toBe(bytes);
    writeFileSync(file(one, 'ledger'), changed, 'latin1');
    one.write('sales.csv', { north: '1.75', south: '2' });
    expect(await one.run('sync')).toMatchObject({ exit: 65, json: { error: { code: 'ledger.corrupt' } } });
    expect(one.service.posts).toHaveLength(1);
    expect(asideIn(one)).toEqual([]);
  });

  test('damaged where a pass reads it late, costs no buffer', async () => {
    const one = await servedWorld();
    const database = new Database(file(one, 'ledger'));
    const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'held'").get() as Page;
    const pageBytes = database.pragma('page_size', { simple: true }) as number;
    database.close();
    overwrite(file(one, 'ledger'), { at: (rootpage - 1) * pageBytes, bytes: pageBytes });
    one.write('sales.csv', { north: '1.75', south: '2' });
    expect(await one.run('sync')).toMatchObject({ exit: 65, json: { error: { code: 'ledger.corrupt' } } });
    expect(one.service.posts).toHaveLength(1);
    expect(asideIn(one)).toEqual([]);
  });
});

describe('a row of the ledger that is not as it was written is damage, and no bug', () => {
  test.each([
    ['the changes of a push', "UPDATE push SET changes = replace(changes, ':', ';')", ['history']],
    ['a name in the changes of a push', "UPDATE push SET changes = replace(changes, 'points', 'qoints')", ['history']],
    ['a request', "UPDATE request SET request = replace(request, ':', ';')", ['status']],
    ['a name in a request', `UPDATE request SET request = replace(request, '"push"', '"pusi"')`, ['history']],
    ['the result of a request', "UPDATE request SET result = replace(result, ':', ';')", ['status']],
    ['a name in the result of a request', "UPDATE request SET result = replace(result, 'outc', 'outb')", ['history']],
    ['the deletes of an approval', "UPDATE approval SET deletes = x'5b5b5d'", ['sync']],
    [
      'the months among the deletes of an approval',
      `UPDATE approval SET deletes = CAST('[["north","/w=="]]' AS BLOB)`,
      ['sync'],
    ],
    ['the carried parts of an approval', "UPDATE approval SET carried = '[7]'", ['sync']],
    ['the findings of an approval', "UPDATE approval SET findings = '[{}]'", ['sync']],
    ['the months that a push changed', "UPDATE change SET months = x'ff'", ['explain', 'north']],
  ])('%s', async (_what, sql, command) => {
    const one = await rolledBackWorld();
    const database = new Database(file(one, 'ledger'));
    expect(database.prepare(sql).run().changes).toBeGreaterThan(0);
    database.close();
    const posts = one.service.posts.length;
    const said = await one.run<{ error?: { message: string } }>(...command);
    expect(said).toMatchObject({ exit: 65, json: { error: { code: 'ledger.corrupt' } } });
    expect(said.json.error?.message).toContain(`${file(one, 'ledger')} is damaged`);
    expect(one.service.posts).toHaveLength(posts);
    expect(asideIn(one)).toEqual([]);
  });
});

/** With two pushes, a rollback and what came after it, and a held read that was approved. */
async function rolledBackWorld(): Promise<World> {
  const one = await servedWorld();
  one.write('sales.csv', { north: '1.75', south: '2' });
  await one.run('sync');
  await one.run('rollback', '1');
  await one.run('sync');
  one.write('sales.csv', {});
  await one.run('sync');
  const { json } = await one.run<{ held: { digest: string }[] }>('status');
  expect(await one.run('approve', json.held[0]!.digest)).toMatchObject({ exit: 0 });
  return one;
}

interface Page {
  readonly rootpage: number;
}
