/** A push that is on its way when a newer one wants to go. */
import { type DaemonWorld, daemonWorld, rows, seconds } from './daemon-world.ts';
import { csv } from './process.ts';

/** The daemon of a service that acknowledged 1 as its first push, let 22 fall asleep on its way, and is to get 333. */
export async function daemonWithLatePush(): Promise<DaemonWorld> {
  const w = await daemonWorld({ pushOnChange: '1s', sources: { sales: csv('*.csv', { poll: '1h' }) } });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.service.answer('late');
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.wait(1 * seconds);
  await w.write('a.csv', rows('a,2026-01,333'));
  await w.wake('source');
  return w;
}
