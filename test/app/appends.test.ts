/** Files that only grew: the new rows are read alone, and what was read before is compared, not read again. */
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PassOptions, runPass } from '../../src/app/pass.ts';
import { type FoldedDriver, unpackDriver } from '../../src/core/series/packing.ts';
import { runsOf } from '../support/campaign.ts';
import { arrange, reportOf } from '../support/pushed-world.ts';
import { type TestWorld, longEntry } from '../support/world.ts';

const file = 'ledger.csv';
const header = 'id,time,value,note\n';

/** Of each row: long ones, since a ledger of less than 1 MB would always be read whole. */
const rowBytes = 120;
const firstRows = 8800;
const ledger = header + rowsOf(firstRows, 0);

function rowsOf(count: number, from: number): string {
  let text = '';
  for (let at = from; at < from + count; at++) text += row(at, String(at % 1000));
  return text;
}

function row(at: number, value: string): string {
  const month = `${2020 + (at % 4)}-${String(1 + (at % 12)).padStart(2, '0')}`;
  return `D${String(at % 97).padStart(3, '0')},${month}-01,${value.padStart(6, '0')},${String(at).padStart(96, '0')}\n`;
}

function sources(keys: object = {}): { sources: Record<string, object> } {
  const drivers = [
    longEntry('{id}', 'last'),
    longEntry('{id}/sum', 'sum'),
    longEntry('{id}/mean', 'average'),
    longEntry('{id}/min', 'min'),
  ];
  return { sources: { books: { type: 'csv', files: ['*.csv'], drivers, settle: '0s', ...keys } } };
}

const guard = { guard: { maxRejects: '50%' } };

/** Passes of a world, and how each of them read its files: `whole`, `appended` or not at all. */
async function open(
  keys: object = {},
): Promise<{ w: TestWorld; pass: (options?: Partial<PassOptions>) => Promise<Passed> }> {
  const w = await arrange({ ...guard, ...sources(keys) }, { [file]: ledger });
  const pass = (options: Partial<PassOptions> = {}): Promise<Passed> =>
    w.open(async (deps) => {
      const read: string[] = [];
      const openSource: typeof deps.openSource = (settings) => {
        const source = deps.openSource(settings);
        const { growing } = source;
        return {
          ...source,
          rows: (...args) => (read.push('whole'), source.rows(...args)),
          ...(growing && {
            growing: { ...growing, rows: (...args) => (read.push('appended'), growing.rows(...args)) },
          }),
        };
      };
      const all = { push: 'ifNeeded', resume: true, retryForMs: 0, ...options } as const;
      const report = await runPass({ ...deps, openSource }, all, new AbortController().signal);
      return { ...reportOf(report, 'books'), read, exit: report.exit };
    });
  return { w, pass };
}

type Passed = ReturnType<typeof reportOf> & { readonly read: readonly string[]; readonly exit: number };

/** All that the buffer has of the accepted read; parts by their names, without the ties, which are looked for in what is read at once. */
function held(w: TestWorld): Promise<object> {
  return w.open(({ buffer }) => {
    const name = (part: number): object => {
      const { id: _id, ...origin } = buffer.parts.origin(part);
      return { ...origin, revisedAtMs: 0 };
    };
    const plain = ({ pathPlace, cells, ...driver }: FoldedDriver): object => ({
      ...driver,
      pathPlace: { ...pathPlace, part: name(pathPlace.part) },
      cells: cells.map(({ tie: _tie, ...cell }) => ({ ...cell, part: name(cell.part) })),
    });
    const parts = buffer.reads.parts('books', 'accepted') ?? [];
    return {
      drivers: Array.from(buffer.reads.drivers('books', 'accepted'), (packed) => plain(unpackDriver(packed))),
      parts: parts.map(({ name: part, hash, rows, rejects, endsWithLineEnd }) => ({
        part,
        hash,
        rows,
        rejects,
        endsWithLineEnd,
      })),
      rejects: [...buffer.rejects.all('books')],
      rejectCounts: buffer.rejects.counts('books'),
    };
  });
}

/** What a world has that reads the file as it is now, for the first time. */
async function heldAnew(text: string): Promise<object> {
  const { w, pass } = await open();
  await w.write(file, text);
  await pass();
  return held(w);
}

describe('a file that only grew', () => {
  test('is read from where its last read ended', async () => {
    const { w, pass } = await open();
    expect(await pass()).toMatchObject({ read: ['whole'], rows: firstRows, state: 'accepted' });
    await w.write(file, ledger + row(firstRows, '7.5'));
    expect(await pass()).toMatchObject({ read: ['appended'], rows: firstRows + 1, state: 'accepted' });
    expect(await pass()).toMatchObject({ read: [], rows: firstRows + 1, state: 'unchanged' });
  });

  test('has the points, places, rejects and counts that a whole read gives, however it was cut', async () => {
    const piece = fc.record({ rows: fc.integer({ min: 0, max: 400 }), rejects: fc.integer({ min: 0, max: 3 }) });
    const property = fc.asyncProperty(
      fc.array(piece, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      async (pieces, isIdle) => {
        const { w, pass } = await open();
        await pass();
        let text = ledger;
        let at = firstRows;
        for (const { rows, rejects } of pieces) {
          const before = text.length;
          for (let reject = 0; reject < rejects; reject++) text += row(at++, 'x');
          text += rowsOf(rows, at);
          at += rows;
          if (text.length === before) continue;
          await w.write(file, text);
          expect((await pass({ proof: isIdle ? 'idle' : 'now' })).read).toEqual(['appended']);
        }
        expect(await held(w)).toEqual(await heldAnew(text));
      },
    );
    await fc.assert(property, runsOf(1, 6));
  });

  test('is one run again after many appends', async () => {
    const { w, pass } = await open();
    await pass();
    let text = ledger;
    for (let at = 0; at < 12; at++) {
      text += rowsOf(3, firstRows + 3 * at);
      await w.write(file, text);
      expect((await pass()).read).toEqual(['appended']);
    }
    expect(await w.open(({ buffer }) => buffer.growths.scattered(8))).toEqual([]);
    expect(await held(w)).toEqual(await heldAnew(text));
  });

  test('that was only touched, is not read again, and keeps its rejects', async () => {
    const { w, pass } = await open();
    const text = `${ledger}${row(1, 'bad')}`;
    await w.write(file, text);
    await pass();
    await w.write(file, text);
    expect(await pass()).toMatchObject({ read: [], rejects: 1, state: 'unchanged' });
    expect(await w.rejects('books')).toContain(String(firstRows + 1));
  });

  test('that was replaced by a longer one with the same beginning, is compared whole and read from there', async () => {
    const { w, pass } = await open();
    await pass();
    writeFileSync(path.join(w.dir, 'new'), ledger + row(firstRows, '7.5'));
    renameSync(path.join(w.dir, 'new'), path.join(w.dir, file));
    expect(await pass({ proof: 'idle' })).toMatchObject({ read: ['appended'], rows: firstRows + 1 });
    expect(await w.open(({ buffer }) => buffer.growths.unproven())).toEqual([]);
  });

  test('by half a row, waits for the rest of it', async () => {
    const { w, pass } = await open();
    await pass();
    await w.write(file, ledger + row(firstRows, '7.5').slice(0, 15));
    expect(await pass()).toMatchObject({
      read: [],
      state: 'unread',
      exit: 3,
      reason: expect.stringContaining('without a line end'),
    });
    await w.write(file, ledger + row(firstRows, '7.5'));
    expect(await pass()).toMatchObject({ read: ['appended'], state: 'accepted', rows: firstRows + 1 });
  });

  test('by rows that are not plain, is read whole, which says what is wrong with it', async () => {
    const { w, pass } = await open();
    await pass();
    await w.write(file, `${ledger}D001,2020-01-01,7"5,x\n`);
    const { read, reason } = await pass();
    expect(read).toEqual(['appended', 'whole']);
    expect(reason).toContain(`${file} line ${firstRows + 2}, column 3 (value): a quote inside a field`);
  });

  test('is read whole where rows count by what stands below or above them', async () => {
    for (const keys of [{ footer: 1 }, { fillDown: ['note'] }, { lineEnd: 'any' }]) {
      const { w, pass } = await open(keys);
      const isCut = 'lineEnd' in keys;
      await w.write(file, isCut ? ledger.trimEnd() : ledger);
      await pass();
      await w.write(file, ledger + row(firstRows, '7.5'));
      expect(await pass(), JSON.stringify(keys)).toMatchObject({ read: ['whole'], state: 'accepted' });
    }
  });
});

describe('a file that grew and was changed above', () => {
  /** A value of one row is another one, as long as the one before. */
  function edited(text: string, at: number): string {
    const start = header.length + at * rowBytes;
    const one = text.slice(start, start + rowBytes);
    return text.slice(0, start) + one.replace(/,\d{6},/, ',000777,') + text.slice(start + rowBytes);
  }

  test('is read whole by a pass that proves at once, wherever it was changed', async () => {
    const property = fc.asyncProperty(fc.integer({ min: 0, max: firstRows - 1 }), async (at) => {
      const { w, pass } = await open();
      await pass();
      const text = edited(ledger, at === 777 ? 778 : at) + row(firstRows, '7.5');
      await w.write(file, text);
      expect((await pass()).read).toEqual(text.startsWith(ledger) ? ['appended'] : ['whole']);
      expect(await held(w)).toEqual(await heldAnew(text));
    });
    await fc.assert(property, runsOf(1, 6));
  });

  test.each([
    ['at its first rows', (text: string) => edited(text, 5)],
    ['at its last rows', (text: string) => edited(text, firstRows - 10)],
    ['by a row more', (text: string) => text.slice(0, header.length) + row(5, '1') + text.slice(header.length)],
    [
      'by a row less',
      (text: string) => text.slice(0, header.length + rowBytes * 100) + text.slice(header.length + rowBytes * 101),
    ],
  ])('%s, is read whole at once, also where the proof may wait', async (_where, change) => {
    const { w, pass } = await open();
    await pass();
    await w.write(file, change(ledger) + rowsOf(10, firstRows));
    expect(await pass({ proof: 'idle' })).toMatchObject({ read: ['whole'], state: 'accepted' });
  });

  /** Changes a row that no evidence looks at. @returns the text, of which the appended rows alone were read */
  async function slip({ w, pass }: Awaited<ReturnType<typeof open>>): Promise<string> {
    const long = ledger + rowsOf(30_000, firstRows);
    await w.write(file, long);
    await pass();
    for (let at = 9800; at < 38_000; at += 2300) {
      const text = edited(long, at) + row(38_800, '7.5');
      await w.write(file, text);
      if ((await pass({ proof: 'idle' })).read[0] === 'appended') return text;
      await w.write(file, long);
      await pass();
    }
    return expect.unreachable('every change was seen');
  }

  test('where nothing was looked at, counts as grown until it is proven, and is unproven meanwhile', async () => {
    const made = await open();
    const text = await slip(made);
    expect(await made.w.open(({ buffer }) => buffer.growths.unproven())).toMatchObject([{ name: file }]);
    expect(await held(made.w)).not.toEqual(await heldAnew(text));
  });

  test('is read whole before anything is deleted', async () => {
    const made = await open();
    const { w, pass } = made;
    await w.write('more.csv', `${header}E1,2020-01-01,1,x\nE2,2020-01-01,1,x\n`);
    await pass();
    const text = await slip(made);
    await w.write('more.csv', `${header}E1,2020-01-01,1,x\n`);
    expect(await pass({ proof: 'idle' })).toMatchObject({ read: ['whole', 'whole'], state: 'accepted' });
    expect(JSON.stringify(w.log.lines)).toContain('changed above its new rows');
    await w.remove('more.csv');
    await w.open(({ buffer }) => expect(buffer.growths.unproven()).toEqual([]));
    expect(text).not.toBe('');
  });
});

describe('JSON lines that only grew', () => {
  const records = (count: number, from: number): string =>
    Array.from({ length: count }, (_, at) => {
      const [id, time, value, note] = row(from + at, (from + at) % 500 === 0 ? 'x' : String((from + at) % 1000))
        .trimEnd()
        .split(',');
      return `{"id":"${id}","time":"${time}","value":"${value}","note":"${note}"}\n`;
    }).join('');
  const lines = records(firstRows, 0);
  const openLines = async (text = lines): ReturnType<typeof open> => {
    const made = await open({ type: 'jsonl' });
    await made.w.write(file, text);
    return made;
  };

  test('are read from where their last read ended, and have what a whole read gives', async () => {
    const { w, pass } = await openLines();
    expect(await pass()).toMatchObject({ read: ['whole'], rows: firstRows });
    const text = lines + records(700, firstRows);
    await w.write(file, text);
    expect(await pass()).toMatchObject({ read: ['appended'], rows: firstRows + 700, rejects: 19 });
    const anew = await openLines(text);
    expect(await anew.pass()).toMatchObject({ read: ['whole'] });
    expect(await held(w)).toEqual(await held(anew.w));
  });

  test('by a column, are read whole', async () => {
    const { w, pass } = await openLines();
    await pass();
    await w.write(file, `${lines}{"id":"D001","time":"2020-01-01","value":1,"new":2}\n`);
    expect(await pass()).toMatchObject({ read: ['appended', 'whole'], rows: firstRows + 1, state: 'accepted' });
  });

  test('by half a record, wait for the rest of it', async () => {
    const { w, pass } = await openLines();
    await pass();
    const more = records(1, firstRows + 1);
    await w.write(file, lines + more.slice(0, 30));
    expect(await pass()).toMatchObject({ read: [], state: 'unread', exit: 3 });
    await w.write(file, lines + more);
    expect(await pass()).toMatchObject({ read: ['appended'], state: 'accepted', rows: firstRows + 1 });
  });
});
