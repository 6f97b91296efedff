/** Bad input: people are told what is wrong, and nothing is lost or deleted at the service. */
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { anybody, asAnybody } from '../support/anybody.ts';
import { arrange, file, pushed, reportOf, revenue } from '../support/pushed-world.ts';
import { makeSocket } from '../support/source-world.ts';
import { type TestWorld, longFile, longSource } from '../support/world.ts';

async function makeFifo(made: TestWorld, name: string): Promise<void> {
  execFileSync('mkfifo', [path.join(made.dir, name)]);
}

interface Bad {
  readonly what: string;
  readonly spoil: (made: TestWorld) => Promise<unknown>;
  readonly reason: RegExp;
  readonly hint?: RegExp;
  readonly keys?: object;
}

const text = (content: string) => (made: TestWorld) => made.write(file, content);
const bytes = (content: Uint8Array) => (made: TestWorld) => writeFile(path.join(made.dir, file), content);

const bad: readonly Bad[] = [
  {
    what: 'an empty directory',
    spoil: (made) => made.remove(file),
    reason: /nothing matches exports\/\*\.csv/,
    hint: /empty/,
  },
  {
    what: 'a directory that is gone, as of a share that is not mounted',
    spoil: (made) => rm(path.join(made.dir, 'exports'), { recursive: true }),
    reason: /exports does not exist/,
    hint: /mounted/,
  },
  { what: 'a file of zero bytes', spoil: text(''), reason: /exports\/revenue\.csv.*(empty|no header|header)/ },
  {
    what: 'a NUL byte',
    spoil: text('id,time,value\nNorth,2026-01,1\0.50\n'),
    reason: /exports\/revenue\.csv.*line 2.*NUL/,
  },
  {
    what: 'an invalid byte, with its offset',
    spoil: bytes(Buffer.concat([Buffer.from('id,time,value\nNorth,2026-01,1\nS'), Buffer.from([0xfc, 0x64, 0x0a])])),
    reason: /exports\/revenue\.csv.*\b31\b/,
    hint: /encoding/,
  },
  {
    what: 'a field over 10 MB',
    spoil: text(`id,time,value\n${'N'.repeat(10 * 1024 * 1024 + 1)},2026-01,1\n`),
    reason: /exports\/revenue\.csv.*10 MB/,
  },
  {
    what: 'a quote that is never closed',
    spoil: text('id,time,value\nNorth,2026-01,1\n"South,2026-01,2\nWest,2026-01,3\n'),
    reason: /exports\/revenue\.csv line 3.*quote/,
  },
  {
    what: 'a duplicate header',
    spoil: text('id,time,value,value\nNorth,2026-01,1,2\n'),
    reason: /exports\/revenue\.csv.*columns 3 and 4.*value/,
  },
  {
    what: 'a header without a column that is needed',
    spoil: text('id,time,amount\nNorth,2026-01,1\n'),
    reason: /exports\/revenue\.csv.*"value"/,
    hint: /id, time, amount/,
  },
  {
    what: 'data where the header was',
    spoil: text('North,2026-01,1\nSouth,2026-01,2\n'),
    reason: /exports\/revenue\.csv.*"id"/,
    hint: /North, 2026-01, 1/,
  },
  {
    what: 'another delimiter',
    spoil: text('id;time;value\nNorth;2026-01;1\n'),
    reason: /exports\/revenue\.csv.*"id"/,
    hint: /id;time;value/,
  },
  {
    what: 'a last line without its end, where the accepted read had one',
    spoil: text('id,time,value\nNorth,2026-01,1.50\nNorth,2026-02,2\nSouth,2026-01,-'),
    reason: /exports\/revenue\.csv.*without a line end/,
    hint: /.+/,
    keys: { missing: ['-'] },
  },
  {
    what: 'a last value that was cut off after its first digit',
    spoil: text('id,time,value\nNorth,2026-01,1.50\nNorth,2026-02,2\nSouth,2026-01,-1'),
    reason: /without a line end/,
  },
  {
    what: 'more rows that cannot be read than maxRejects allows',
    spoil: text('id,time,value\nNorth,2026-01,1.50\nNorth,2026-02,two\nSouth,2026-01,-3\n'),
    reason: /exports\/revenue\.csv.*1 of 3 rows.*maxRejects/,
    hint: /driver-sync rejects revenue/,
  },
  {
    what: 'a FIFO',
    spoil: (made) => makeFifo(made, 'exports/x.csv'),
    reason: /exports\/x\.csv is a FIFO/,
    hint: /glob/,
  },
  {
    what: 'a FIFO in place of the file',
    spoil: async (made) => {
      await made.remove(file);
      await makeFifo(made, file);
    },
    reason: /exports\/revenue\.csv is a FIFO/,
  },
  {
    what: 'a socket',
    spoil: (made) => makeSocket(path.join(made.dir, 'exports/x.csv')),
    reason: /exports\/x\.csv is a socket/,
    hint: /glob/,
  },
  {
    what: 'a loop of symbolic links',
    spoil: async (made) => {
      await symlink('y.csv', path.join(made.dir, 'exports/x.csv'));
      await symlink('x.csv', path.join(made.dir, 'exports/y.csv'));
    },
    reason: /exports\/[xy]\.csv is a symbolic link/,
    hint: /link/,
  },
];

/** A missing line end shows only against an accepted read. */
const isBadAtFirst = ({ reason }: Bad): boolean => !reason.source.includes('without a line end');

describe('a source is not read, carried and named when it meets', () => {
  test.each(bad)('$what', async ({ spoil, reason, hint = /./, keys }) => {
    const made = await pushed(keys);
    await spoil(made);
    await made.write('costs.csv', longFile({ Rent: { '2026-01': 8 } }));

    expect((await made.plan()).exit).toBe(3);
    const report = await made.sync();
    expect(report).toMatchObject({ outcome: 'acknowledged', exit: 3 });
    expect(reportOf(report)).toMatchObject({
      state: 'unread',
      drivers: 2,
      points: 3,
      reason: expect.stringMatching(reason),
    });
    expect(reportOf(report).hint ?? reportOf(report).reason).toMatch(hint);
    expect(reportOf(report, 'costs')).toMatchObject({ state: 'accepted' });
    expect(made.points()).toEqual({ ...revenue, Rent: { '2026-01': '8' } });

    expect(await made.sync()).toMatchObject({ outcome: 'unchanged', exit: 3 });
    const status = await made.status();
    expect(status).toMatchObject({ lastPass: { outcome: 'unchanged', exit: 3 }, held: [] });
    expect(reportOf(status)).toMatchObject({ state: 'unread', reason: expect.stringMatching(reason) });
  });

  test.each(bad.filter(isBadAtFirst))(
    '$what: before the first push nothing is pushed',
    async ({ spoil, reason, keys }) => {
      const made = await arrange(
        { sources: { revenue: longSource('exports/*.csv', keys), costs: longSource('costs.csv') } },
        { [file]: longFile(revenue), 'costs.csv': longFile({ Rent: { '2026-01': 7 } }) },
      );
      await spoil(made);
      const report = await made.sync();
      expect(report).toMatchObject({ outcome: 'blocked', exit: 4, reason: expect.stringContaining('revenue') });
      expect(report.push).toBeUndefined();
      expect(reportOf(report)).toMatchObject({ state: 'unread', reason: expect.stringMatching(reason) });
      expect(made.requests()).toEqual([]);
    },
  );
});

test('a file that is whole again is read again, and nothing was lost meanwhile', async () => {
  const made = await pushed();
  await made.write(file, 'id,time\n');
  expect((await made.sync()).exit).toBe(3);
  await made.write(file, longFile(revenue));
  const report = await made.sync();
  expect(report).toMatchObject({ outcome: 'unchanged', exit: 0 });
  expect(reportOf(report)).toMatchObject({ state: 'unchanged', drivers: 2, points: 3 });
  expect(made.requests()).toHaveLength(1);
});

describe('without permission', () => {
  test.each([
    ['for the directory', 'exports', /exports: user id \d+ has no permission/],
    ['for the file', file, /exports\/revenue\.csv: user id \d+ has no permission/],
  ])('%s nothing is deleted, and the unit’s lines are named', async (_what, locked, reason) => {
    const made = await pushed();
    await chmod(made.dir, 0o755);
    await chmod(path.join(made.dir, locked), 0);
    onTestFinished(() => chmod(path.join(made.dir, locked), 0o755));
    const report = await asOwner(made, () => made.sync());
    expect(report).toMatchObject({ outcome: 'unchanged', exit: 3 });
    expect(reportOf(report)).toMatchObject({ state: 'unread', drivers: 2, points: 3 });
    expect(reportOf(report).reason).toMatch(reason);
    expect(reportOf(report).hint).toMatch(/SupplementaryGroups=.*BindReadOnlyPaths=/);
    expect(made.requests()).toHaveLength(1);
  });

  /** As the agent is when it is a service: not root, and the state is its own. */
  async function asOwner<T>(made: TestWorld, work: () => Promise<T>): Promise<T> {
    if (process.getuid?.() === 0) {
      execFileSync('chown', ['-R', String(anybody), made.state]);
      await chown(made.dir, anybody, anybody);
    }
    return await asAnybody(work);
  }
});

describe('an empty read is held, not pushed', () => {
  const header = 'id,time,value\n';

  test('when the first read of a source has a header only', async () => {
    const made = await arrange({ sources: { revenue: longSource(file) } }, { [file]: header });
    const report = await made.sync();
    expect(report).toMatchObject({ outcome: 'blocked', exit: 4 });
    expect(reportOf(report)).toMatchObject({ state: 'held', digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(reportOf(report).hint).toMatch(/mayBeEmpty/);
    expect(made.requests()).toEqual([]);
  });

  test.each([
    ['a header only', header],
    ['a header without a line end', 'id,time,value'],
    ['nothing but rows without a value', 'id,time,value\nNorth,2026-01,\n'],
  ])('when a file turns up with %s', async (what, content) => {
    const made = await pushed();
    await made.write(file, content);
    await made.write('costs.csv', longFile({ Rent: { '2026-01': 8 } }));
    const report = await made.sync();
    expect(report.outcome).toBe('acknowledged');
    const cutOff = what.includes('without a line end');
    expect(report.exit).toBe(cutOff ? 3 : 4);
    expect(reportOf(report).state).toBe(cutOff ? 'unread' : 'held');
    expect(made.points()).toEqual({ ...revenue, Rent: { '2026-01': '8' } });
  });
});

test('a held candidate is withdrawn when its source cannot be read any more', async () => {
  const made = await pushed();
  await made.write(file, longFile({ North: { '2026-02': 2 } }));
  const { digest = '' } = reportOf(await made.sync());
  expect((await made.status()).held).toMatchObject([{ source: 'revenue', digest }]);
  await made.write(file, '');
  expect(await made.sync()).toMatchObject({ exit: 3 });
  expect((await made.status()).held).toEqual([]);
  await expect(made.approve(digest)).rejects.toMatchObject({ exit: 64 });
  expect(made.points()).toMatchObject(revenue);
});

test('directories and dot files that match a glob are not read', async () => {
  const made = await pushed();
  await mkdir(path.join(made.dir, 'exports/old.csv'));
  await made.write('exports/.hidden.csv', longFile({ Hidden: { '2026-01': 1 } }));
  expect(await made.sync()).toMatchObject({ outcome: 'unchanged', exit: 0 });
});
