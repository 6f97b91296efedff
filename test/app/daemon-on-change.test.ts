/** The daemon with `pushOnChange`: how long after which change it pushes. */
import { utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { daemonWorld, minutes, rows, seconds } from '../support/daemon-world.ts';
import { pointsOf } from '../support/receiver.ts';

test('pushOnChange pushes so long after the last change', async () => {
  await using w = await daemonWorld({ pushOnChange: '30s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.wait(20 * seconds);
  await w.write('a.csv', rows('a,2026-01,333'));
  await w.wake('source');
  await w.wait(29 * seconds);
  expect(w.service.posts).toHaveLength(1);
  await w.wait(2 * seconds);
  expect(pointsOf(w.service.posts[1]!)).toEqual({ a: { '2026-01': '333' } });
});

test('pushOnChange waits at most ten times its time for a file that never rests', async () => {
  await using w = await daemonWorld({ pushOnChange: '30s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  let value = 1000;
  const changeFor = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 20 * seconds) {
      await w.write('a.csv', rows(`a,2026-01,${(value += 1)}`));
      await w.wake('source');
      await w.wait(20 * seconds);
    }
  };
  await changeFor(280 * seconds);
  expect(w.service.posts).toHaveLength(1);
  await changeFor(40 * seconds);
  expect(w.service.posts).toHaveLength(2);
});

test('a change that waits for pushOnChange is not forgotten by a restart', async () => {
  await using w = await daemonWorld({ pushOnChange: '30s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.stop();
  await w.start();
  await w.wait(1 * minutes);
  expect(w.service.posts).toHaveLength(2);
});

test('a touched file and rewritten rows are no change to push', async () => {
  await using w = await daemonWorld({ pushOnChange: '30s' });
  await w.write('a.csv', rows('a,2026-01,1', 'b,2026-01,2'));
  await w.start();
  utimesSync(path.join(w.dir, 'a.csv'), new Date(), new Date());
  await w.wake('source');
  await w.write('a.csv', rows('b,2026-01,2', 'a,2026-01,1'));
  await w.wake('source');
  await w.wait(10 * minutes);
  expect(w.service.posts).toHaveLength(1);
});
