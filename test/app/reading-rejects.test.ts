/** Rows that cannot be read: what is told of them, and when they keep their part from being accepted. */
import { describe, expect, test } from 'vitest';
import { arrange, file, pushed, reportOf, revenue } from '../support/pushed-world.ts';
import { longFile, longSource } from '../support/world.ts';

describe('rows that cannot be read', () => {
  const guard = { guard: { maxRejects: '50%' } };

  test('are rejects with their row, reason and text; too few and too many fields are', async () => {
    const made = await pushed({}, guard);
    const rows = [
      'North,2026-01,1.50',
      'North,2026-02,2',
      'South,2026-01,-3',
      'South,2026-02',
      '',
      'South,2026-02,1,2',
    ];
    await made.write(file, `id,time,value\n${rows.join('\n')}\n`);
    const report = await made.sync();
    expect(report.exit).toBe(0);
    expect(reportOf(report)).toMatchObject({ rows: 5, rejects: 2, points: 3 });
    expect(await made.rejects()).toBe(
      [
        'source,part,row,reason,text',
        `revenue,${file},4,"2 fields, expected 3","South,2026-02"`,
        `revenue,${file},5,"4 fields, expected 3","South,2026-02,1,2"`,
        '',
      ].join('\n'),
    );
  });

  test('are rejected once, with all their reasons', async () => {
    const made = await pushed({}, guard);
    await made.write(file, `${longFile(revenue)} ,31.12.2026,two\n`);
    await made.sync();
    const [, line = '', ...more] = (await made.rejects('revenue')).trimEnd().split('\n');
    expect(more).toEqual([]);
    expect(line).toMatch(/^revenue,exports\/revenue\.csv,4,/);
    for (const reason of [/"id" is empty|"?id"?.*empty/, /31\.12\.2026/, /two/]) expect(line).toMatch(reason);
  });

  test('are no evidence that their points are gone: the read is held', async () => {
    const made = await pushed({}, guard);
    await made.write(file, 'id,time,value\nNorth,2026-01,1.50\nNorth,2026-02,two\nSouth,2026-01,-3\n');
    const report = await made.sync();
    expect(report.exit).toBe(4);
    expect(reportOf(report)).toMatchObject({ state: 'held', reason: expect.stringMatching(/1 point.*1 reject/) });
    expect(made.points()).toMatchObject(revenue);
  });

  test('are shown by "rejects" also where their part was not accepted', async () => {
    const made = await pushed();
    await made.write(file, `${longFile(revenue)}West,2026-01,three\n`);
    expect((await made.sync()).exit).toBe(3);
    expect(await made.rejects()).toMatch(/^revenue,exports\/revenue\.csv,4,.*three.*,"?West,2026-01,three"?$/m);
  });

  test('count against those that passed where', async () => {
    const made = await arrange(
      {
        guard: { maxRejects: '10%' },
        sources: { revenue: longSource(file, { where: { kind: 'Actual' } }) },
      },
      {
        [file]: `id,time,value,kind\n${'x,y,z,Plan\n'.repeat(95)}${'A,2026-01,1,Actual\n'.repeat(4)}A,2026-01,bad,Actual\n`,
      },
    );
    const report = await made.sync();
    expect(reportOf(report)).toMatchObject({ state: 'unread', reason: expect.stringMatching(/1 of 5 rows/) });
    const looser = { guard: { maxRejects: '20%' } };
    await made.reconfigure({
      ...looser,
      sources: { revenue: longSource(file, { where: { kind: 'Actual' } }) },
    });
    expect(reportOf(await made.sync())).toMatchObject({ state: 'accepted', rows: 100, rejects: 1 });
  });
});
