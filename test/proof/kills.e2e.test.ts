/**
 * The real daemon is killed again and again while its files change and its service is hostile: it loses answers, takes a request late,
 * refuses, or never answers. `test/app/crash.long.e2e.test.ts` pulls the plug at chosen places of a pass; here the log says when.
 */
import { expect, test } from 'vitest';
import { isExhaustive } from '../support/campaign.ts';
import { Draw } from '../support/nasty-files.ts';
import { type Running, startProcess } from '../support/process.ts';
import { lookAtState, movedAside, pointsOfVersion, proofWorld } from '../support/proof-world.ts';
import { executable } from '../support/built.ts';
import { type Answer, pointsOf } from '../support/receiver.ts';
import { propertySeed } from '../support/seeds.ts';

const hostile: readonly Answer[] = ['drop', 'late', 'hold', 503, 500, { status: 200, text: 'x'.repeat(100) }];

/** `KILLS=1000` says how many. */
const kills = Number(process.env['KILLS'] ?? (isExhaustive ? 1000 : 6));
/** After which a world is looked at as a whole. */
const killsOfLife = 6;

/** A daemon says about as much until it has pushed, and is killed within that. */
const linesMax = 14;

/** After these a daemon waits, and says nothing for a minute or longer. */
const waits = /"msg":"(?:pushed|nothing to push|push [a-z]+|an earlier push may still land[^"]*)"/;

/** Kills it once it has said so many lines, or begins to wait. */
async function kill(daemon: Running, lines: number): Promise<void> {
  for (let said = 0; said < lines; said++) {
    const [line] = await daemon.says(/"msg":"[^"]*"/);
    if (waits.test(line)) break;
  }
  daemon.kill('SIGKILL');
  expect(await daemon.exit).toEqual({ code: undefined, signal: 'SIGKILL' });
}

async function expectToSurvive(seed: number): Promise<void> {
  const draw = new Draw(seed);
  const one = await proofWorld({ pushOnChange: '10ms' });
  const { service } = one;
  let version = 0;
  for (let nth = 0; nth < killsOfLife; nth++) {
    if (version === 0 || !draw.once(3)) version++;
    one.write(version);
    if (!draw.once(3)) service.answer(draw.one(hostile));
    const daemon = startProcess([executable, 'run', '--config', one.config, '--log-level', 'debug'], one.folder);
    await kill(daemon, 1 + draw.below(linesMax));
    service.release('drop');
    // What was on its way when the daemon died lands now, before the next one may send anything else.
    service.land();
  }
  service.calm();
  const { exit } = await one.sync();
  expect(exit, `seed ${seed}`).toBe(0);
  const held = service.holds();
  expect(held && pointsOf(held), `seed ${seed}`).toEqual(pointsOfVersion(version));
  const versions = service.posts.map((post) => Number(pointsOf(post)['d0']?.['2026-01']?.split('.')[0]));
  expect(versions, `seed ${seed}`).toEqual(versions.toSorted((a, b) => a - b));
  for (const [at, post] of service.posts.entries()) expect(pointsOf(post)).toEqual(pointsOfVersion(versions[at] ?? 0));
  const { damaged, broken } = await lookAtState(one);
  expect([damaged, broken]).toEqual([undefined, []]);
  expect(movedAside(one)).toEqual([]);
}

test(`a daemon that is killed ${kills} times leaves the service with what the files say`, async () => {
  const seeds = Array.from({ length: Math.ceil(kills / killsOfLife) }, (_, nth) => propertySeed * 1000 + nth);
  const lane = async (): Promise<void> => {
    for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) await expectToSurvive(seed);
  };
  await Promise.all([lane(), lane()]);
}, 3_600_000);
