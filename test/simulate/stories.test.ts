/** Histories of the sample at which campaigns stopped. Of the promises that they found broken, most were the model's error. */
import { expect, test } from 'vitest';
import type { HistoryEvent } from '../../src/simulate/history/events.ts';
import { play } from '../../src/simulate/history/play.ts';
import { stageOf, stageOfSample } from '../support/stages.ts';
import {
  answered,
  datedExports,
  firstToApprove,
  movingDrivers,
  nothingDeleted,
  shapedConfig,
  twoSources,
} from './planted/configs.ts';

/** What a history breaks, which requests landed in it, and what it reached. */
async function playOn({ stage }: ReturnType<typeof stageOf>, seed: number, events: readonly HistoryEvent[]) {
  const { violation, lines, marks } = await play(stage, { seed, events }, { isKept: true });
  const landed = lines.flatMap((line) => / landed (\d+)/.exec(line)?.[1] ?? []);
  return { violation, landed, lines, marks: [...marks.keys()] };
}

const playSample = (seed: number, events: readonly HistoryEvent[]) => playOn(stageOfSample(), seed, events);

/** In both a push is given up, a newer one is acknowledged, the agent is killed, and the older push lands just after the restart. */
test.each([
  { seed: 12_540, late: [2000, 483_623_719], killed: [357_717, 1_217_969_963] },
  { seed: 13_857, late: [2000, 587_954_542], killed: [265_416, 540_015_757] },
] as const)(
  'the agent waits for a push since it gave it up, and a later restart changes nothing: $seed',
  async ({ seed, late, killed }) => {
    const { violation, landed } = await playSample(seed, [
      { kind: 'late', gapMs: late[0], draw: late[1] },
      { kind: 'killWrite', gapMs: killed[0], draw: killed[1] },
    ]);
    expect(landed.indexOf('2')).toBeGreaterThan(landed.indexOf('3'));
    expect(violation).toBeUndefined();
  },
);

test('a push that lands after repeats that a clock set forward has hurried is undone at the first schedule time behind refresh', async () => {
  const { violation, landed } = await playSample(23_370, [
    { kind: 'goneItem', gapMs: 35_676_846, draw: 2_058_927_829 },
    { kind: 'late', gapMs: 2000, draw: 151_558_792 },
    { kind: 'clockForth', gapMs: 442_410, draw: 2_132_914_696 },
  ]);
  expect(landed.indexOf('2')).toBe(landed.length - 2);
  expect(violation).toBeUndefined();
});

test('what is left of a source that has left the config, once a part of it is forgotten, is known', async () => {
  const { violation, landed } = await playSample(31_904, [
    { kind: 'rename', gapMs: 2000, draw: 1_330_817_839 },
    { kind: 'goneItem', gapMs: 2000, draw: 551_556_389 },
    { kind: 'reload', gapMs: 2000, draw: 714_042_895 },
    { kind: 'forget', gapMs: 2000, draw: 1_413_217_609 },
  ]);
  expect(landed.length).toBeGreaterThan(1);
  expect(violation).toBeUndefined();
});

test('what is forgotten of a buffer that turns out to be damaged at that moment is gone from its snapshot too', async () => {
  const { violation, landed } = await playSample(66_137, [
    { kind: 'goneItem', gapMs: 2000, draw: 881_424_374 },
    { kind: 'damageBuffer', gapMs: 2000, draw: 1_995_237_551 },
    { kind: 'forget', gapMs: 2000, draw: 1_187_730_053 },
  ]);
  expect(landed.length).toBeGreaterThan(1);
  expect(violation).toBeUndefined();
});

test('whoever goes on from the sources, once a disk was full in the middle of a rollback, has the last word', async () => {
  const { violation, landed } = await playSample(45_437, [
    { kind: 'month', gapMs: 2000, draw: 230_162_710 },
    { kind: 'loseBuffer', gapMs: 298_055, draw: 1_095_864_199 },
    { kind: 'unanswered', gapMs: 2000, draw: 1_947_929_396 },
    { kind: 'rollback', gapMs: 2000, draw: 1_590_710_464 },
    { kind: 'fullDisk', gapMs: 2000, draw: 1_654_638_237 },
    { kind: 'pass', gapMs: 2000, draw: 354_082_718 },
  ]);
  expect(landed).toContain('3');
  expect(violation).toBeUndefined();
});

test('a rollback that somebody goes on from, both while a pass waits, may be carried out before they go on', async () => {
  const { violation, landed } = await playSample(50_484, [
    { kind: 'late', gapMs: 2000, draw: 2_031_396_980 },
    { kind: 'restart', gapMs: 2000, draw: 515_342_300 },
    { kind: 'rollback', gapMs: 2000, draw: 519_033_875 },
    { kind: 'late', gapMs: 2000, draw: 1_559_385_624 },
  ]);
  expect(landed).toContain('3');
  expect(violation).toBeUndefined();
});

test('the word of somebody who goes on from the sources may be lost with a process that is killed', async () => {
  const { violation, landed } = await playSample(69_374, [
    { kind: 'month', gapMs: 2000, draw: 1_552_409_485 },
    { kind: 'late', gapMs: 5202811, draw: 2_079_306_580 },
    { kind: 'late', gapMs: 2000, draw: 1_863_640_035 },
    { kind: 'rollback', gapMs: 2000, draw: 705_330_143 },
    { kind: 'killWrite', gapMs: 2000, draw: 904_628_973 },
  ]);
  expect(landed).toContain('4');
  expect(violation).toBeUndefined();
});

test('how a file without rows ended is not known any more once the buffer is lost', async () => {
  const { violation, landed } = await playSample(84_257, [
    { kind: 'empty', gapMs: 2000, draw: 1_665_071_758 },
    { kind: 'approve', gapMs: 2000, draw: 477_736_033 },
    { kind: 'loseBuffer', gapMs: 2000, draw: 1_246_217_773 },
    { kind: 'torn', gapMs: 2000, draw: 2_061_609_150 },
    { kind: 'torn', gapMs: 29594287, draw: 1_466_462_767 },
  ]);
  expect(landed.length).toBeGreaterThan(2);
  expect(violation).toBeUndefined();
});

test('time waits while an agent goes back to a snapshot, which takes its turns', async () => {
  const { violation } = await playSample(27, [{ kind: 'damageBuffer', gapMs: 2000, draw: 1_018_329_998 }]);
  expect(violation).toBeUndefined();
});

test('a first push whose snapshot is damaged, once it was refused, is built again', async () => {
  const { violation, marks } = await playOn(stageOf(firstToApprove), 24_245, [
    { kind: 'refused', gapMs: 2000, draw: 265_324_497 },
    { kind: 'half', gapMs: 2000, draw: 556_677_241 },
    { kind: 'readHangs', gapMs: 2000, draw: 2_039_414_866 },
    { kind: 'approve', gapMs: 28_841_103, draw: 435_389_433 },
    { kind: 'damageSnapshot', gapMs: 2000, draw: 67_488_827 },
  ]);
  expect(marks).toContain('outcome acknowledged');
  expect(violation).toBeUndefined();
});

test('nobody waits for a taker that could not be read when a driver was given up', async () => {
  const { violation } = await playOn(stageOf(movingDrivers), 28_966, [
    { kind: 'rewritten', gapMs: 2000, draw: 1_991_352_527 },
    { kind: 'readHangs', gapMs: 2000, draw: 1_706_071_960 },
    { kind: 'move', gapMs: 2000, draw: 1_500_662_749 },
    { kind: 'killStep', gapMs: 2000, draw: 1_201_241_672 },
  ]);
  expect(violation).toBeUndefined();
});

test('an agent that was killed may have heard that somebody goes on: then an equal snapshot is no rollback', async () => {
  const { violation, landed } = await playOn(stageOf(movingDrivers), 35_338, [
    { kind: 'busy', gapMs: 2000, draw: 2_013_825_803 },
    { kind: 'rollback', gapMs: 2000, draw: 1_578_205_924 },
    { kind: 'rollback', gapMs: 2000, draw: 135_492_140 },
    { kind: 'killStep', gapMs: 2000, draw: 1_204_693_278 },
    { kind: 'unreachable', gapMs: 42_224_251, draw: 940_636_055 },
  ]);
  expect(landed.length).toBeGreaterThan(2);
  expect(violation).toBeUndefined();
});

test('where two files tie, a read may change numbers that look the same to the model', async () => {
  const { violation } = await playOn(stageOf(firstToApprove), 14_072, [
    { kind: 'copy', gapMs: 2000, draw: 1_768_971_316 },
    { kind: 'copy', gapMs: 2000, draw: 679_665_611 },
    { kind: 'clockBack', gapMs: 2000, draw: 138_081_470 },
    { kind: 'restate', gapMs: 2000, draw: 1_551_197_182 },
    { kind: 'copy', gapMs: 24_821_472, draw: 827_351_897 },
  ]);
  expect(violation).toBeUndefined();
});

test('a slip of all is plain to see only where no part of it slipped before', async () => {
  const { violation } = await playOn(stageOf(movingDrivers), 88_056, [
    { kind: 'join', gapMs: 2000, draw: 50_215_198 },
    { kind: 'older', gapMs: 2000, draw: 1_054_660_729 },
    { kind: 'slip', gapMs: 2000, draw: 2_034_575_493 },
  ]);
  expect(violation).toBeUndefined();
});

test('a source that was approved to be empty begins anew once the buffer is lost', async () => {
  const { violation, landed } = await playOn(stageOf(firstToApprove), 19_708, [
    { kind: 'restate', gapMs: 2000, draw: 504_720_498 },
    { kind: 'empty', gapMs: 2000, draw: 592_191_645 },
    { kind: 'approve', gapMs: 2000, draw: 377_243_442 },
    { kind: 'approve', gapMs: 2000, draw: 1_954_050_368 },
    { kind: 'damageBuffer', gapMs: 2000, draw: 1_682_184_000 },
  ]);
  expect(landed.length).toBeGreaterThan(1);
  expect(violation).toBeUndefined();
});

test('the last repeat is owed though it is refused: what landed late is undone with the next schedule time', async () => {
  const { violation, landed } = await playOn(stageOf(shapedConfig), 3606, [
    { kind: 'late', gapMs: 2000, draw: 1_160_256_002 },
    { kind: 'refused', gapMs: 424_053, draw: 692_218_630 },
    { kind: 'goneItem', gapMs: 2000, draw: 123_465_801 },
    { kind: 'badCells', gapMs: 5_232_786, draw: 157_370_339 },
  ]);
  expect(landed.indexOf('2')).toBeGreaterThan(landed.indexOf('3'));
  expect(violation).toBeUndefined();
});

test('once the buffer is lost nobody knows which reading stood beside the one that counted', async () => {
  const { violation, landed } = await playOn(stageOf(datedExports), 7342, [
    { kind: 'copy', gapMs: 2000, draw: 704_167_317 },
    { kind: 'restate', gapMs: 2000, draw: 562_045_345 },
    { kind: 'damageBuffer', gapMs: 1_882_371, draw: 1_526_952_402 },
    { kind: 'rolling', gapMs: 2000, draw: 367_203_962 },
  ]);
  expect(landed.length).toBeGreaterThan(2);
  expect(violation).toBeUndefined();
});

test('a repeat that is acknowledged leaves the newest snapshot refused, which waits for the schedule', async () => {
  const { violation, marks } = await playOn(stageOf(shapedConfig), 13_694, [
    { kind: 'late', gapMs: 4_324_130, draw: 847_176_410 },
    { kind: 'readChanges', gapMs: 397_596, draw: 861_915_467 },
    { kind: 'refused', gapMs: 341_254, draw: 251_588_580 },
    { kind: 'late', gapMs: 2000, draw: 2_037_585_087 },
    { kind: 'rename', gapMs: 2000, draw: 1_053_210_566 },
  ]);
  expect(marks).toContain('push refused');
  expect(violation).toBeUndefined();
});

test('an older month of a part that only a snapshot knows does not end the history of the other parts', async () => {
  const { violation, landed } = await playOn(stageOf(datedExports), 19_215, [
    { kind: 'rolling', gapMs: 2000, draw: 164_062_798 },
    { kind: 'append', gapMs: 2000, draw: 893_493_602 },
    { kind: 'goneItem', gapMs: 2000, draw: 16_325_297 },
    { kind: 'loseBuffer', gapMs: 188_569, draw: 306_131_389 },
  ]);
  expect(landed.length).toBeGreaterThan(2);
  expect(violation).toBeUndefined();
});

test('parts that only a snapshot knows leave nothing of what they added up', async () => {
  const { violation, landed } = await playOn(stageOf(shapedConfig), 57_977, [
    { kind: 'copy', gapMs: 2000, draw: 1_013_705_402 },
    { kind: 'goneItem', gapMs: 2000, draw: 1_548_749_219 },
    { kind: 'empty', gapMs: 2000, draw: 181_068_216 },
    { kind: 'loseBuffer', gapMs: 3_340_675, draw: 1_111_314_486 },
  ]);
  expect(landed.length).toBeGreaterThan(1);
  expect(violation).toBeUndefined();
});

test('a driver that the service has still is compared with it once a source brings it back, where nothing is deleted', async () => {
  const { violation, marks } = await playOn(stageOf(nothingDeleted), 206, [
    { kind: 'reload', gapMs: 2000, draw: 1_157_871_388 },
    { kind: 'join', gapMs: 2000, draw: 1_904_490_434 },
  ]);
  expect(marks).toContain('finding factor');
  expect(violation).toBeUndefined();
});

test('a file that was seen while the clock was ahead hides no newer export', async () => {
  const { sources } = movingDrivers;
  const newest = { ...sources, north: { ...sources['north'], parts: 'newest' } };
  const { violation, landed } = await playOn(stageOf({ ...movingDrivers, sources: newest }), 1124, [
    { kind: 'cut', gapMs: 2000, draw: 1_336_124_263 },
    { kind: 'clockBack', gapMs: 2000, draw: 1_246_179_937 },
    { kind: 'join', gapMs: 2000, draw: 1_198_693_121 },
    { kind: 'reload', gapMs: 2000, draw: 1_752_992_701 },
  ]);
  expect(landed.length).toBeGreaterThan(2);
  expect(violation).toBeUndefined();
});

test('of a part that is gone, the agent may know more after a rollback than the snapshot does', async () => {
  const { north } = movingDrivers.sources;
  const recent = { sources: { north: { ...north, history: 'carry' } }, guard: { values: 'warn' } };
  const { violation, landed } = await playOn(stageOf({ ...movingDrivers, ...recent }), 6_009_697, [
    { kind: 'goneItem', gapMs: 2000, draw: 1_713_122_837 },
    { kind: 'rolling', gapMs: 2000, draw: 636_100_311 },
    { kind: 'rollback', gapMs: 2000, draw: 735_727_778 },
    { kind: 'killWrite', gapMs: 2000, draw: 245_712_051 },
  ]);
  expect(landed.length).toBeGreaterThan(2);
  expect(violation).toBeUndefined();
});

test('whoever asks for another rollback while one waits means that one', async () => {
  const { violation, lines } = await playOn(stageOf(twoSources), 1601, [
    { kind: 'late', gapMs: 2000, draw: 560_993_015 },
    { kind: 'away', gapMs: 2909, draw: 1_194_308_568 },
    { kind: 'approve', gapMs: 2000, draw: 1_008_395_926 },
    { kind: 'rollback', gapMs: 2000, draw: 1_029_182_319 },
    { kind: 'rollback', gapMs: 2000, draw: 641_095_087 },
  ]);
  expect(lines).toContainEqual(expect.stringContaining('somebody rolls back to push 3'));
  expect(violation).toBeUndefined();
});

test('an answer of an earlier time is known by its version, whatever was read in between', async () => {
  const { violation, lines } = await playOn(stageOf(answered), 54_248, [
    { kind: 'badCells', gapMs: 2000, draw: 931_215_608 },
    { kind: 'rollback', gapMs: 2000, draw: 412_339_524 },
    { kind: 'older', gapMs: 2000, draw: 546_032_128 },
    { kind: 'reload', gapMs: 2000, draw: 1_828_088_867 },
  ]);
  expect(lines).toContainEqual(expect.stringContaining('export of books is an older state'));
  expect(violation).toBeUndefined();
});
