import { rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { longFile, longSource, world } from '../support/world.ts';

/** `{ '2026-01': 1 }`: the push that began each point's present run. */
async function firstPushes(w: Awaited<ReturnType<typeof world>>): Promise<Record<string, number | undefined>> {
  const { points } = (await w.explain('A')) as { points: { month: string; firstPush?: number }[] };
  return Object.fromEntries(points.map(({ month, firstPush }) => [month, firstPush]));
}

test('explain names the push that began the present run of a value', async () => {
  const file = (january: string, more: Record<string, string> = {}): string =>
    longFile({ A: { '2026-01': january, '2026-02': '5', ...more } });
  await using w = await world({ config: { sources: { sales: longSource('a.csv') } }, files: { 'a.csv': file('1') } });
  await w.sync();
  expect(await firstPushes(w)).toEqual({ '2026-01': 1, '2026-02': 1 });
  await w.write('a.csv', file('2', { '2026-03': '7' }));
  await w.sync();
  expect(await firstPushes(w)).toEqual({ '2026-01': 2, '2026-02': 1, '2026-03': 2 });
  await w.sync({ push: 'always' });
  expect(await firstPushes(w)).toEqual({ '2026-01': 2, '2026-02': 1, '2026-03': 2 });
  await w.rollback(1);
  expect(await firstPushes(w)).toEqual({ '2026-01': 4, '2026-02': 1 });
});

test('a value that was replaced and came back counts from when it came back', async () => {
  const file = (value: string): string => longFile({ A: { '2026-01': value } });
  await using w = await world({
    config: { sources: { sales: longSource('a.csv') } },
    files: { 'a.csv': file('21.50') },
  });
  for (const value of ['21.50', '21.60', '21.50']) {
    await w.write('a.csv', file(value));
    await w.sync();
  }
  expect(await firstPushes(w)).toEqual({ '2026-01': 3 });
});

test('explain says where nobody can know what was pushed', async () => {
  await using w = await world({
    config: { sources: { sales: longSource('a.csv') } },
    files: { 'a.csv': longFile({ A: { '2026-01': '1' } }) },
  });
  await w.sync();
  expect(await w.explain('A')).not.toHaveProperty('pushesUnknown');
  await rm(path.join(w.state, 'archive'), { recursive: true });
  expect(await firstPushes(w)).toEqual({ '2026-01': undefined });
  expect(await w.explain('A')).toMatchObject({ pushesUnknown: expect.stringMatching(/cannot be known: .* push 1,/) });
});

test('explain names no push for what was accepted and not pushed yet', async () => {
  await using w = await world({
    config: { sources: { sales: longSource('a.csv') } },
    files: { 'a.csv': longFile({ A: { '2026-01': '1', '2026-02': '5' } }) },
  });
  await w.sync();
  await w.write('a.csv', longFile({ A: { '2026-01': '2', '2026-02': '5' } }));
  await w.sync({ push: 'no', resume: false });
  expect(await firstPushes(w)).toEqual({ '2026-01': undefined, '2026-02': 1 });
});
