/** Large files are folded by threads, with the result of reading their rows. */
import { readFileSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { plainDecimal } from '../../src/core/numbers/decimal.ts';
import type { FoldedPart, Source } from '../../src/core/ports.ts';
import type { Mapping } from '../../src/core/settings.ts';
import { csv } from '../../src/sources/csv.ts';
import { jsonl } from '../../src/sources/jsonl.ts';
import { type Folded, foldBatches, foldPieces, withoutTies } from '../support/folded-part.ts';
import { calm, laterClock, tempDir } from '../support/source-world.ts';
import { pattern, template } from '../support/templates.ts';

const rules = { timezone: 'Europe/Berlin', calendar: undefined };

const mapping: Mapping = {
  where: [{ column: 'kind', test: { kind: 'not', test: { kind: 'matches', pattern: pattern('^draft') } } }],
  missing: [''],
  fillDown: [],
  unpivot: undefined,
  maps: { region: { N: 'North', S: 'South' } },
  drivers: [
    {
      id: template('{region|map:region}/{product|slug}'),
      path: ['{region|map:region}', '{product}'].map(template),
      time: {
        from: template('{day}'),
        format: { formats: ['dd.MM.yyyy'], locales: ['en'], timezone: undefined, fiscalYear: undefined },
      },
      value: { from: template('{amount}'), format: { ...plainDecimal, accounting: true } },
      spread: undefined,
      rule: 'last',
    },
  ],
};

/** Some 18 MB: quotes, line breaks in them, drafts, rejects, and values of any size. */
function ledger(rows: number): string {
  const lines = ['day,region,product,kind,amount'];
  for (let at = 0; at < rows; at++) {
    const day = `${String(1 + (at % 28)).padStart(2, '0')}.${String(1 + (at % 12)).padStart(2, '0')}.2025`;
    const product = at % 50 === 0 ? `"Beans, ""${at % 7}""\nroasted"` : `Beans ${at % 97}`;
    const amount =
      at % 1000 === 0 ? 'n/a' : at % 9 === 0 ? `(${at}.50)` : at % 70 === 0 ? `${at}${'7'.repeat(20)}` : `${at}.25`;
    lines.push(`${day},${at % 2 === 0 ? 'N' : 'S'},${product},${at % 11 === 0 ? 'draft' : 'final'},${amount}`);
  }
  return `${lines.join('\n')}\n`;
}

/** The same rows as JSON lines. */
function jsonLines(rows: number): string {
  const lines = Array.from({ length: rows }, (_, at) => {
    const day = `${String(1 + (at % 28)).padStart(2, '0')}.${String(1 + (at % 12)).padStart(2, '0')}.2025`;
    const kind = at % 11 === 0 ? 'draft' : 'final';
    const amount = at % 1000 === 0 ? '"n/a"' : at % 9 === 0 ? `"(${at}.50)"` : `${at}.25`;
    const product = at % 50 === 0 ? `Beans \\u00e9 \\"${at % 7}\\"` : `Beans ${at % 97}`;
    return `{"day":"${day}","region":"${at % 2 === 0 ? 'N' : 'S'}","product":"${product}","kind":"${kind}","amount":${amount}}`;
  });
  return `${lines.join('\n')}\n`;
}

async function open(text: string, threads: number, kindOf = csv): Promise<Source> {
  const dir = await tempDir();
  await writeFile(path.join(dir, 'ledger'), text);
  const kind = kindOf.schema.parse({ files: ['ledger'], settle: '0s' });
  return kindOf.open(kind, {
    name: 'ledger',
    baseDir: dir,
    clock: laterClock(),
    mapping,
    timezone: 'UTC',
    threads: { count: threads, bytesMin: 1_000_000 },
  });
}

const how = { mapping, rules, rejectsMax: 100 };

/** `undefined` where the threads leave it. */
async function inThreads(source: Source, signal = calm): Promise<(FoldedPart & Folded) | undefined> {
  const [part] = await source.parts(signal);
  const folded = await foldPieces({ ...how, foldMax: 500 }, (job) => source.fold?.(part!, job, signal));
  return folded && withoutTies(folded);
}

async function hashOf(source: Source): Promise<string | undefined> {
  const [part] = await source.parts(calm);
  const rows = source.rows(part!, calm);
  for (;;) {
    const next = await rows.next();
    if (next.done === true) return next.value?.hash;
  }
}

async function byRows(source: Source): Promise<Folded> {
  const [part] = await source.parts(calm);
  return withoutTies(await foldBatches(source.rows(part!, calm), how));
}

/** Of the threads of this process. The value is the nineteenth field, and the second one may have blanks: see proc(5). */
function nices(): readonly number[] {
  const fields = readdirSync('/proc/self/task').map((task) => {
    const [, rest = ''] = readFileSync(`/proc/self/task/${task}/stat`, 'utf8').split(') ');
    return rest.split(' ');
  });
  return fields.map((one) => Number(one[16]));
}

describe('a large file', () => {
  const text = ledger(480_000);

  test.each([
    ['delimited text', csv, text, 480_000],
    ['JSON lines', jsonl, jsonLines(250_000), 250_000],
  ])('of %s is the same in any number of threads', async (_what, kind, content, count) => {
    const rows = await byRows(await open(content, 0, kind));
    const hash = await hashOf(await open(content, 0, kind));
    expect(rows.counts.rows).toBe(count);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    for (const threads of [1, 2, 3, 7]) {
      const folded = await inThreads(await open(content, threads, kind));
      expect(folded).toMatchObject({ content: { endsWithLineEnd: true, hash } });
      const { counts, rejects, drivers } = folded!;
      expect({ counts, rejects, drivers }).toEqual(rows);
    }
  });

  test('is left to csv-parse where a row of it is not plain, wherever that stands', async () => {
    for (const at of [0.1, 0.9]) {
      const cut = text.indexOf('\n', Math.floor(text.length * at)) + 1;
      const damaged = `${text.slice(0, cut)}01.01.2025,N,a"b,final,1\n${text.slice(cut)}`;
      const source = await open(damaged, 2);
      expect(await inThreads(source)).toBeUndefined();
      await expect(byRows(source)).rejects.toMatchObject({ code: 'part.unreadable' });
    }
  });

  test.runIf(process.platform === 'linux')('is read by threads that give way to the main one', async () => {
    const before = getPriority();
    const folding = inThreads(await open(text, 2));
    await expect.poll(nices, { interval: 10 }).toContain(before + 5);
    expect(await folding).toBeDefined();
    expect(getPriority()).toBe(before);
  });

  test('is given up with the reason of whoever aborts', async () => {
    const abort = new AbortController();
    const source = await open(text, 2);
    const folding = inThreads(source, abort.signal);
    abort.abort(new Error('enough'));
    await expect(folding).rejects.toThrow('enough');
  });
});

test('a small file is not worth a thread', async () => {
  expect(await inThreads(await open(ledger(1000), 2))).toBeUndefined();
});
