/** Unusual input that is right: any Unicode, drivers that share ids or paths, ten thousand columns. */
import { describe, expect, test } from 'vitest';
import { arrange, file, reportOf } from '../support/pushed-world.ts';
import { openReceiver } from '../support/receiver.ts';
import { longFile, longSource } from '../support/world.ts';

describe('ids', () => {
  test('of any Unicode are pushed as written, in the order of their UTF-8 bytes', async () => {
    const ids = [
      'Z',
      'a',
      'e\u0301', // é in two code points,
      '\u00e9', // and in one: two ids
      'שלום',
      'مرحبا',
      'ﬀ',
      '\ufffd',
      '\uffff', // before U+10000 by bytes, after its surrogates by code units
      '\u{10000}',
      '😀',
      '👩‍👩‍👧',
      'a b',
      'a/b\\c"d',
      "O'Neill; DROP TABLE drivers",
      '<script>',
      '__proto__',
      'constructor',
      '\u202eabc',
    ];
    await using receiver = await openReceiver();
    const quoted = (id: string): string => `"${id.replaceAll('"', '""')}"`;
    const made = await arrange(
      { destination: { url: receiver.url }, sources: { revenue: longSource(file) } },
      { [file]: `id,time,value\n${ids.map((id, index) => `${quoted(id)},2026-01,${index}\n`).join('')}` },
    );
    const report = await made.sync();
    expect(report).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    const [post] = receiver.posts;
    const { extDrivers } = JSON.parse(post!.body) as { extDrivers: { id: string; timeSeries: { value: string }[] }[] };
    const inOrder = ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(extDrivers.map(({ id }) => id)).toEqual(inOrder);
    for (const { id, timeSeries } of extDrivers) expect(timeSeries[0]?.value).toBe(String(ids.indexOf(id)));
    expect(report.push?.digest).toBe(post!.digest);
    for (const id of ids) expect(await made.explain(id)).toMatchObject({ driver: id });
  });

  test('are trimmed; one that is empty rejects the row', async () => {
    const made = await arrange(
      { guard: { maxRejects: '50%' }, sources: { revenue: longSource(file) } },
      { [file]: 'id,time,value\n  North\u00a0,2026-01,1\n   ,2026-01,2\n' },
    );
    expect(reportOf(await made.sync())).toMatchObject({ state: 'accepted', rejects: 1 });
    expect(made.points()).toEqual({ North: { '2026-01': '1' } });
  });

  test('that two rows share in one month collapse, and explain says how many were superseded', async () => {
    const made = await arrange(
      { sources: { revenue: longSource(file) } },
      { [file]: 'id,time,value\nNorth,2026-01-31,3\nNorth,2026-01-05,1\nNorth,2026-01-31,4\n' },
    );
    expect((await made.sync()).exit).toBe(0);
    expect(await made.explain('North', '2026-01')).toMatchObject({
      points: [{ value: '4', row: 3, text: '4', part: file, superseded: 2 }],
    });
  });

  const twoPaths = {
    revenue: {
      type: 'csv',
      files: [file],
      drivers: [{ id: '{id}', path: ['{group}', '{id}'], time: '{time}', value: '{value}' }],
    },
  };

  test('with two paths have that of the latest reading, and it is said', async () => {
    const made = await arrange(
      { sources: twoPaths },
      { [file]: 'group,id,time,value\nNew,x,2026-02,2\nOld,x,2026-01,1\n' },
    );
    const report = await made.sync();
    expect(report.exit).toBe(0);
    expect(made.drivers()).toMatchObject([{ id: 'x', path: ['New', 'x'] }]);
    expect(JSON.stringify(reportOf(report))).toMatch(/two paths/);
    expect(JSON.stringify(reportOf(await made.status()))).toMatch(/two paths/);
  });

  test('that share one path are two drivers, with a warning', async () => {
    const drivers = [{ id: '{id}', path: ['Same'], time: '{time}', value: '{value}' }];
    const made = await arrange(
      { sources: { revenue: longSource(file, { drivers }) } },
      { [file]: longFile({ a: { '2026-01': 1 }, b: { '2026-01': 2 } }) },
    );
    const report = await made.sync();
    expect(report.exit).toBe(0);
    expect(made.drivers()).toHaveLength(2);
    expect(JSON.stringify(reportOf(report))).toMatch(/one path/);
  });
});

test('ten thousand columns are read, and a reject of such a row stays readable', async () => {
  const columns = Array.from({ length: 10_000 }, (_, index) => `c${index}`);
  const drivers = [
    { id: 'first', path: ['first'], time: '{time}', value: '{c0}' },
    { id: 'last', path: ['last'], time: '{time}', value: '{c9999}' },
  ];
  const row = (value: string): string => columns.map((_, index) => (index === 9999 ? value : String(index))).join(',');
  const made = await arrange(
    { guard: { maxRejects: '50%' }, sources: { wide: longSource(file, { drivers }) } },
    { [file]: `time,${columns.join(',')}\n2026-01,${row('1.50')}\n2026-02,${row('bad')}\n` },
  );
  const report = await made.sync();
  expect(reportOf(report, 'wide')).toMatchObject({ state: 'accepted', rows: 2, rejects: 1 });
  expect(made.points()).toEqual({ first: { '2026-01': '0' }, last: { '2026-01': '1.50' } });
  expect((await made.rejects()).length).toBeLessThan(100_000);
});

test('ten thousand columns unpivot to ten thousand drivers', async () => {
  const columns = Array.from({ length: 10_000 }, (_, index) => `c${index}`);
  const keys = {
    unpivot: { columns: '^c\\d+$', name: 'measure', value: 'amount' },
    drivers: [{ id: '{measure}', path: ['{measure}'], time: '{time}', value: '{amount}' }],
  };
  const made = await arrange(
    { sources: { wide: longSource(file, keys) } },
    { [file]: `time,${columns.join(',')}\n2026-01,${columns.map((_, index) => index).join(',')}\n` },
  );
  expect(reportOf(await made.sync(), 'wide')).toMatchObject({ state: 'accepted', rows: 1, drivers: 10_000 });
  expect(made.points()['c9999']).toEqual({ '2026-01': '9999' });
});
