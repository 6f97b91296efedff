/** What somebody who stops a rollback is told. */
import { expect, test } from 'vitest';
import { scene, statusOf } from '../support/daemon-scene.ts';

test('a rollback that a signal stops says that it is still asked for, and what becomes of it', async () => {
  await using s = await scene();
  await s.place.command('sync');
  s.service.answer('hold');
  const rollback = s.place.start('rollback', '1');
  await s.service.post(2);
  rollback.kill('SIGINT');
  await rollback.says(/waiting for the push to be answered/);
  s.service.release('drop');
  expect(await rollback.exit).toEqual({ code: 75, signal: undefined });
  expect(rollback.stderr).toContain('stopped by SIGINT; the rollback is asked for all the same\n');
  expect(rollback.stderr).toContain('"driver-sync run" carries it out, "driver-sync sync" drops it');
  expect(await statusOf(s.place)).toMatchObject({ decisions: [{ kind: 'rollback', state: 'pending' }] });
});

test('a rollback that a daemon carries out is not ended with the command that asked for it', async () => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  s.service.answer('hold');
  const rollback = s.place.start('rollback', '1', '--json');
  await s.service.post(2);
  rollback.kill('SIGINT');
  expect(await rollback.exit).toEqual({ code: 75, signal: undefined });
  expect(JSON.parse(rollback.stdout)).toMatchObject({
    error: {
      code: 'aborted',
      message: 'stopped by SIGINT; the rollback is asked for all the same',
      hint: expect.stringContaining('the agent carries it out'),
    },
    exit: 75,
  });
  s.service.release(200);
  await daemon.says(/"msg":"pushed"/);
});
