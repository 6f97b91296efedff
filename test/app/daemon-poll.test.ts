/** When the daemon polls each source: a query or a request only when its own poll is due. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { PollSchedule } from '../../src/app/loop/poll-schedule.ts';
import { daemonWorld, hours, minutes, rows } from '../support/daemon-world.ts';
import { csv } from '../support/process.ts';

/** A place that counts how often it is asked, and gives what it is told to. */
async function reportServer(): Promise<{ url: string; asked: () => number; answer: (status: number) => void }> {
  let asked = 0;
  let status = 200;
  const server = createServer((_request, response) => {
    asked++;
    response.writeHead(status, { 'content-type': 'text/csv' }).end(status === 200 ? rows('web,2026-01,1') : 'no');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/report.csv`,
    asked: () => asked,
    answer: (next) => void (status = next),
  };
}

function sources(url: string, poll: string, pollOfFiles = '1m'): object {
  const { drivers } = csv('x') as { drivers: object[] };
  return { sources: { sales: csv('*.csv', { poll: pollOfFiles }), report: { type: 'http', url, poll, drivers } } };
}

test('a request is made when its poll is due, not whenever a file changes', async () => {
  const report = await reportServer();
  await using w = await daemonWorld(sources(report.url, '1h'));
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  expect(report.asked()).toBe(1);
  await w.write('a.csv', rows('a,2026-01,2'));
  await w.wake('source');
  await w.wait(50 * minutes);
  expect(report.asked()).toBe(1);
  await w.wait(15 * minutes);
  expect(report.asked()).toBe(2);
});

test('a poll may be a cron expression, in `timezone`', async () => {
  const report = await reportServer();
  await using w = await daemonWorld({ ...sources(report.url, '0 6 * * *'), timezone: 'America/New_York' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  // From 12:00 UTC, 08:00 in New York, to 05:50 there.
  w.clock.jump(21 * hours + 50 * minutes);
  await w.wait(5 * minutes);
  expect(report.asked()).toBe(1);
  await w.wait(10 * minutes);
  expect(report.asked()).toBe(2);
});

test('a poll by a cron expression goes on where the clock was set back', async () => {
  const report = await reportServer();
  await using w = await daemonWorld(sources(report.url, '0 * * * *', '30m'));
  await w.write('a.csv', rows('a,2026-01,1'));
  w.clock.jump(100 * 24 * hours);
  await w.start();
  await w.wait(90 * minutes);
  const asked = report.asked();
  w.clock.jump(-100 * 24 * hours);
  await w.wait(90 * minutes);
  expect(report.asked()).toBeGreaterThan(asked);
  const settled = report.asked();
  await w.wait(5 * hours);
  expect(report.asked()).toBe(settled + 5);
  report.answer(500);
  await w.wait(1 * hours);
  const unread = report.asked();
  w.clock.jump(-1 * 24 * hours);
  await w.wait(6 * minutes);
  expect(report.asked()).toBe(unread + 1);
});

test('a scheduled push polls every source first', async () => {
  const report = await reportServer();
  await using w = await daemonWorld({ ...sources(report.url, '20h'), schedule: '15 14 * * *' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.clock.jump(2 * hours + 10 * minutes);
  await w.wait(10 * minutes);
  expect(report.asked()).toBe(2);
});

test('what could not be read is asked again after five minutes, and stays unread meanwhile', async () => {
  const report = await reportServer();
  await using w = await daemonWorld(sources(report.url, '1h'));
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  report.answer(500);
  await w.wait(61 * minutes);
  expect(w.passes.at(-1)?.sources[1]).toMatchObject({ name: 'report', state: 'unread' });
  const asked = report.asked();
  await w.wait(3 * minutes);
  expect(report.asked()).toBe(asked);
  expect(w.passes.at(-1)?.sources[1]).toMatchObject({ state: 'unread' });
  report.answer(200);
  await w.wait(5 * minutes);
  expect(w.passes.at(-1)?.sources[1]).toMatchObject({ state: 'unchanged' });
});

test('what was seen before a damaged buffer was rebuilt counts no more', async () => {
  const report = await reportServer();
  await using w = await daemonWorld(sources(report.url, '1h'));
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  await w.open((world) => {
    const settings = world.settings.sources[1]!;
    const polls = new PollSchedule(world);
    polls.note({ settings, isExpensive: true, state: 'unread', reason: 'it was down' });
    expect(polls.begin('due').standing('report')).toMatchObject({ state: 'unread' });
    polls.forget();
    expect(polls.standing('report')).toBeUndefined();
    expect(polls.msToNext()).toBe(0);
  });
});

test('somebody is heard also where each pass takes longer than poll', async () => {
  await using w = await daemonWorld({ sources: { sales: csv('*.csv', { poll: '1s' }) } });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  const monotonicMs = w.clock.monotonicMs.bind(w.clock);
  let looks = 0;
  w.clock.monotonicMs = () => monotonicMs() + 1000 * looks++;
  w.wakeMeanwhile('source');
  await expect.poll(() => w.passes.length).toBeGreaterThan(3);
  w.wakeMeanwhile('pass');
  await expect.poll(() => w.service.posts.length, { timeout: 20_000 }).toBe(2);
});
