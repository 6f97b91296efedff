/** What goes wrong fits the place: files are cut and renamed, servers lag and lose connections. */
import { expect, test } from 'vitest';
import { canHappen } from '../../src/simulate/history/data-events.ts';
import { drawHistory } from '../../src/simulate/history/draw.ts';
import { type EventKind, eventKinds } from '../../src/simulate/history/events.ts';
import { play } from '../../src/simulate/history/play.ts';
import { stageOfConfig } from '../support/planted-stage.ts';
import { answered } from './planted/configs.ts';

const stage = stageOfConfig(answered);
const [books, plan] = [stage.kinds.get('books')!, stage.kinds.get('plan')!];

test('a database is a server that may lag and says when it was changed, a workbook a file without a line end', () => {
  expect(books).toMatchObject({ nature: 'server', isText: false, isExpensive: true, mayLag: true, isDated: true });
  expect(plan).toMatchObject({ nature: 'bytes', isText: false, isExpensive: false, mayLag: false, isDated: false });
});

test.each(['cut', 'half', 'blank', 'touch', 'rename', 'copy', 'vanish', 'readChanges'] as const)(
  '%s does not happen to the answer of a server',
  (kind) => {
    expect(canHappen(kind, books)).toBe(false);
  },
);

test('all that is left can happen to a server, and to a workbook all but an end at a line and new rows behind the old', () => {
  const fitting = (kind: typeof books): EventKind[] => eventKinds.filter((one) => canHappen(one, kind));
  expect(fitting(books)).toEqual(expect.arrayContaining(['older', 'away', 'readFails', 'readHangs', 'empty', 'slip']));
  expect(eventKinds.filter((kind) => !canHappen(kind, plan))).toEqual(['append', 'half', 'torn', 'rewritten']);
});

const halfDayMs = 13 * 3_600_000;

/** What is observed where these things happen half a day apart, to either of the two sources. */
async function observed(kinds: readonly EventKind[]): Promise<string> {
  const lines: string[] = [];
  for (let draw = 1; draw <= 8; draw++) {
    const events = kinds.map((kind) => ({ kind, gapMs: halfDayMs, draw }));
    const played = await play(stage, { seed: 2, events }, { isKept: true });
    expect(played.violation).toBeUndefined();
    lines.push(...played.lines);
  }
  return lines.join('\n');
}

test('a read that fails half way has lost its connection at a server, and its share at a file', async () => {
  const lines = await observed(['restate', 'readFails', 'month']);
  expect(lines).toMatch(/books unread .*the connection was lost half way/);
  expect(lines).toMatch(/plan unread .*the share was lost half way/);
});

test('a workbook that is cut cannot be unpacked', async () => {
  expect(await observed(['restate', 'cut', 'month'])).toMatch(/plan unread .*it cannot be unpacked/);
});

test('a database whose own time goes back is held, and accepted once it has caught up', async () => {
  expect(await observed(['restate', 'older', 'restate'])).toMatch(/books held .*its query "changed" went back from/);
});

test('no promise is broken where databases and workbooks are', async () => {
  for (let seed = 1; seed <= 25; seed++) {
    const { violation, told } = await play(stage, drawHistory(stage, seed, 12));
    expect(violation).toBeUndefined();
    expect(told.join('\n')).not.toMatch(/of books is (cut|gone|touched)|of books has another name/);
  }
});
