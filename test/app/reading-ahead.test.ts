/** Files dated in the future: such a time counts as the moment when the file's content was first seen. */
import { expect, test } from 'vitest';
import { arrange } from '../support/pushed-world.ts';
import { longFile, longSource } from '../support/world.ts';

const future = new Date('2099-01-01');
const value = (of: number): string => longFile({ A: { '2026-01': of } });

test('a file dated in the future yields to one that is revised after it was seen', async () => {
  const made = await arrange({ sources: { sales: longSource('in/*.csv') } });
  await made.write('in/a.csv', value(1), future);
  await made.write('in/b.csv', value(2));
  await made.sync();
  await made.write('in/b.csv', value(3));
  await made.sync();
  expect(made.points()).toEqual({ A: { '2026-01': '3' } });
  await made.write('in/a.csv', value(4), future);
  await made.sync();
  expect(made.points()).toEqual({ A: { '2026-01': '4' } });
});

test('a file dated in the future does not stay the newest', async () => {
  const made = await arrange({ sources: { sales: longSource('in/*.csv', { parts: 'newest' }) } });
  await made.write('in/a.csv', value(1), future);
  await made.sync();
  await made.write('in/b.csv', value(2));
  expect(await made.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  expect(made.points()).toEqual({ A: { '2026-01': '2' } });
});

test('a file that is touched into the future is as old as its content', async () => {
  const made = await arrange({ sources: { sales: longSource('in/*.csv', { parts: 'newest' }) } });
  await made.write('in/a.csv', value(1));
  await made.write('in/b.csv', value(2));
  await made.sync();
  await made.write('in/a.csv', value(1), future);
  expect(await made.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  expect(made.points()).toEqual({ A: { '2026-01': '2' } });
});

test.each(['all', 'newest'])(
  'files that are all ahead of a slow clock count in the order of their times, with parts: %s',
  async (parts) => {
    const made = await arrange({ sources: { sales: longSource('in/*.csv', { parts }) } });
    await made.write('in/a.csv', value(1), new Date(future.getTime() + 2));
    await made.write('in/b.csv', value(2), new Date(future.getTime() + 1));
    await made.write('in/c.csv', value(3), future);
    await made.write('in/d.csv', value(4));
    await made.sync();
    expect(made.points()).toEqual({ A: { '2026-01': '1' } });
    await made.write('in/d.csv', value(5));
    await made.sync();
    expect(made.points()).toEqual({ A: { '2026-01': '5' } });
  },
);

test('where the clock was set back, what was read before counts in its order, and what comes is newer', async () => {
  const made = await arrange({ sources: { sales: longSource('in/*.csv') } });
  made.clock.jump(3_600_000);
  await made.write('in/b.csv', value(1), made.clock.now());
  made.clock.jump(60_000);
  await made.write('in/a.csv', value(2), made.clock.now());
  await made.sync();
  made.clock.jump(-3_660_000);
  await made.sync();
  made.clock.jump(60_000);
  await made.write('in/0.csv', value(3), made.clock.now());
  await made.sync();
  expect(made.points()).toEqual({ A: { '2026-01': '3' } });
  // What is left of those from before is in the order that they had.
  await made.write('in/0.csv', longFile({ B: { '2026-01': 7 } }), made.clock.now());
  await made.sync();
  expect(made.points()).toEqual({ A: { '2026-01': '2' }, B: { '2026-01': '7' } });
});

test('nor does one that was read before and is gone hide what comes, with parts: newest', async () => {
  const made = await arrange({ sources: { sales: longSource('in/*.csv', { parts: 'newest' }) } });
  await made.write('in/a.csv', value(1), made.clock.now());
  made.clock.jump(3_600_000);
  await made.write('in/b.csv', value(2), made.clock.now());
  await made.sync();
  made.clock.jump(-3_000_000);
  await made.remove('in/b.csv');
  await made.sync();
  // The older one that is still there is no news.
  expect(made.points()).toEqual({ A: { '2026-01': '2' } });
  made.clock.jump(60_000);
  await made.write('in/c.csv', value(3), made.clock.now());
  await made.sync();
  expect(made.points()).toEqual({ A: { '2026-01': '3' } });
});
