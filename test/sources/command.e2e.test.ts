/** Programs whose output is read: how they may end, and what each end says. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { calm, laterClock, openSource, openSourceIn, readWhole, tempDir } from '../support/source-world.ts';
import { everythingIn, failureOf, secret, table } from '../support/web-world.ts';
import { judged, world } from '../support/world.ts';

const csv = String.raw`printf 'date,amount\n2026-01-31,1.50\n2026-02-28,007\n'`;

/** A source of what a script of the shell prints. */
async function printing(script: string, keys: object = {}, dir?: string): Promise<Source> {
  const where = dir ?? (await tempDir());
  return openSource('command', { command: ['sh', '-c', script], format: 'csv', ...keys }, where, laterClock(0));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the output of a program', () => {
  test.each([
    ['csv', csv, {}],
    ['csv', `${csv} | tr , ';'`, { delimiter: ';' }],
    ['tsv', `${csv} | tr , '\t'`, {}],
    ['jsonl', `echo '{"date":"2026-01-31","amount":1.50}'; echo '{"date":"2026-02-28","amount":"007"}'`, {}],
    ['ndjson', `echo '{"date":"2026-01-31","amount":1.50}'; echo '{"date":"2026-02-28","amount":"007"}'`, {}],
    ['json', `echo '{"a":[{"date":"2026-01-31","amount":1.50},{"date":"2026-02-28","amount":"007"}]}'`, { items: 'a' }],
    ['csv', `echo '# made today'; ${csv}`, { skipRows: 1 }],
  ])('is read as %s', async (format, script, keys) => {
    expect(await readWhole(await printing(script, { format, ...keys }))).toMatchObject(table);
  });

  test('has the version of its content, also after a restart', async () => {
    const dir = await tempDir();
    await writeFile(path.join(dir, 'a.csv'), 'date,amount\n2026-01-31,1\n');
    const [first] = await (await printing('cat a.csv', {}, dir)).parts(calm);
    const known = new Map([['output', first!.version]]);
    expect(await (await printing('cat a.csv', {}, dir)).parts(calm, known)).toEqual([first]);
    await writeFile(path.join(dir, 'a.csv'), 'date,amount\n2026-01-31,2\n');
    const [second] = await (await printing('cat a.csv', {}, dir)).parts(calm, known);
    expect(second!.version).not.toBe(first!.version);
  });

  test('is kept in the state directory only while it is read', async () => {
    const state = await tempDir();
    await mkdir(path.join(state, 'kept/kept-4194305-left'), { recursive: true });
    const keys = { command: ['sh', '-c', csv], format: 'csv' };
    const source = openSourceIn({ baseDir: await tempDir(), clock: laterClock(0), state }, 'command', keys);
    const [part] = await source.parts(calm);
    expect(await readdir(path.join(state, 'kept'))).toEqual([expect.stringContaining(`kept-${process.pid}-`)]);
    expect(await readWhole(source, part)).toMatchObject(table);
    expect(await readdir(path.join(state, 'kept'))).toEqual([]);
  });

  test('comes from no shell', async () => {
    const source = openSource(
      'command',
      { command: ['printf', '%s\\n', 'a', '$(whoami); *'], format: 'csv' },
      await tempDir(),
      laterClock(0),
    );
    expect(await readWhole(source)).toMatchObject({ columns: ['a'], rows: [['$(whoami); *']] });
  });

  test('comes from a program beside the config', async () => {
    const dir = await tempDir();
    await writeFile(path.join(dir, 'export.sh'), `#!/bin/sh\n${csv}\n`, { mode: 0o700 });
    const source = openSource('command', { command: ['./export.sh'], format: 'csv' }, dir, laterClock(0));
    expect(await readWhole(source)).toMatchObject(table);
  });
});

describe('a program', () => {
  test('is given no variable of the agent but plain ones, and those of env', async () => {
    vi.stubEnv('DRIVERS_TOKEN', secret);
    vi.stubEnv('LANG', 'C.UTF-8');
    const source = await printing('echo name; env | cut -d= -f1', { env: { BOOKS_PASSWORD: secret } });
    const names = (await readWhole(source)).rows.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(['PATH', 'LANG', 'BOOKS_PASSWORD']));
    expect(names).not.toContain('DRIVERS_TOKEN');
  });

  test('that is still running is waited for before it is started again', async () => {
    const dir = await tempDir();
    const script = `mkdir busy || exit 9; sleep 0.1; rmdir busy; ${csv}`;
    const source = await printing(script, {}, dir);
    await Promise.all([source.parts(calm), source.parts(calm)]);
    expect(await readWhole(source)).toMatchObject(table);
  });
});

/** What another process of the agent does with turns of the source `revenue`. */
function otherAgent(state: string, program: string): ChildProcessByStdio<null, Readable, null> {
  const turns = new URL('../../src/sources/command/turn.ts', import.meta.url).href;
  const text = `
    import { mkdirSync, rmdirSync } from 'node:fs';
    import { takeTurn } from ${JSON.stringify(turns)};
    const take = async () => await takeTurn('revenue', ${JSON.stringify(state)}, new AbortController().signal);
    ${program}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', text], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

describe('a turn', () => {
  test('that another process of the agent has is waited for, until that ends or is killed', async () => {
    const state = await tempDir();
    const other = otherAgent(state, `const end = await take(); console.log('taken'); setInterval(() => end, 1000);`);
    await once(createInterface({ input: other.stdout }), 'line');
    const context = { baseDir: await tempDir(), clock: laterClock(0), state };
    const source = openSourceIn(context, 'command', { command: ['sh', '-c', `touch ran; ${csv}`], format: 'csv' });
    const late = AbortSignal.timeout(500);
    await expect(source.parts(late)).rejects.toThrow('due to timeout');
    expect(existsSync(path.join(context.baseDir, 'ran'))).toBe(false);
    other.kill('SIGKILL');
    expect(await readWhole(source)).toMatchObject(table);
  });

  test('is of one process at a time, however many ask', async () => {
    const state = await tempDir();
    const busy = JSON.stringify(path.join(state, 'busy'));
    const program = `
      for (let at = 0; at < 5; at += 1) {
        const end = await take();
        mkdirSync(${busy}); await new Promise((resolve) => setTimeout(resolve, 5)); rmdirSync(${busy});
        end();
      }`;
    const others = [1, 2, 3].map(() => otherAgent(state, program));
    const codes = await Promise.all(others.map(async (other) => ((await once(other, 'exit')) as [number])[0]));
    expect(codes).toEqual([0, 0, 0]);
  });
});

describe('an output does not count', () => {
  test.each([
    [
      'its program fails',
      `${csv}; echo 'no such table' >&2; exit 3`,
      /^the command sh ended with exit code 3: no such table$/,
    ],
    ['its program is killed', `${csv}; kill -9 $$`, /^the command sh was ended by SIGKILL$/],
    ['it is too large', `yes | head -c 2000000`, /^the output of sh has more than 1000000 bytes \(expandedMax\)$/],
    ['it is empty', 'true', /has no header: it is empty \(0 bytes\)/],
    ['a quote is not closed', `printf 'a,b\\n1,"2\\n'`, /never closed/],
  ])('where %s', async (_why, script, message) => {
    const error = await failureOf(await printing(script, { expandedMax: '1MB' }));
    expect(error.message).toMatch(message);
    expect(error.hint).toBeTruthy();
  });

  test('where the program is not there, or may not be run', async () => {
    const dir = await tempDir();
    await writeFile(path.join(dir, 'export.sh'), csv, { mode: 0o600 });
    const failing = async (name: string) =>
      await failureOf(openSource('command', { command: [name], format: 'csv' }, dir, laterClock(0)));
    expect(await failing('no-such-program')).toMatchObject({ message: 'there is no program no-such-program' });
    expect(await failing('./export.sh')).toMatchObject({ message: 'the program ./export.sh may not be run' });
  });

  test('where the program is there, and what its first line names is not', async () => {
    const dir = await tempDir();
    const failing = async (name: string, text: string) => {
      await writeFile(path.join(dir, name), text, { mode: 0o700 });
      return await failureOf(openSource('command', { command: [`./${name}`], format: 'csv' }, dir, laterClock(0)));
    };
    expect(await failing('windows.sh', `#!/bin/sh\r\n${csv}\r\n`)).toMatchObject({
      message:
        'the program ./windows.sh is there, and its first line ends with a carriage return, as lines of Windows do',
      hint: "save it with Unix line ends (sed -i 's/\\r$//' FILE does that)",
    });
    expect(await failing('old.py', '#! /no/such/python -u\nprint()\n')).toMatchObject({
      message: 'the program ./old.py is there, and its first line names "/no/such/python", which is not there',
      hint: expect.stringContaining('/usr/bin/env python3'),
    });
  });

  test('where something that the program started still has it open; that is ended', async () => {
    const dir = await tempDir();
    const error = await failureOf(await printing(`${csv}; sleep 1000 & echo $! >pid`, {}, dir));
    expect(error.message).toBe('the command sh has ended, and something that it started still holds its output open');
    const pid = Number(await readFile(path.join(dir, 'pid'), 'utf8'));
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  test('where it does not end in time; all of its processes are ended', async () => {
    const dir = await tempDir();
    const source = await printing(
      `trap '' TERM; ${csv}; sleep 1000 & echo $! >pid; while :; do sleep 0.1; done`,
      {},
      dir,
    );
    const late = new AbortController();
    const reason = new Error('late');
    const looking = source.parts(late.signal);
    const written = async (): Promise<number> => Number(await readFile(path.join(dir, 'pid'), 'utf8').catch(() => ''));
    await expect.poll(written).toBeGreaterThan(0);
    const pid = await written();
    late.abort(reason);
    await expect(looking).rejects.toBe(reason);
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  test('and a failure shows nothing secret', async () => {
    const script = `echo "$BOOKS_PASSWORD and ${secret}-2 and $2" >&2; exit 1`;
    const command = ['sh', '-c', script, 'x', '--password', `${secret}-2`];
    const source = openSource('command', { command, format: 'csv', env: { BOOKS_PASSWORD: secret } }, await tempDir());
    const error = await failureOf(source);
    expect(error.message).toContain('*** and');
    expect(everythingIn(error)).not.toContain(secret);
  });

  test.each([
    ['a word', `${secret}-${secret}`],
    ['several words', `correct horse battery ${secret}`],
  ])('and a failure shows no rest of a secret that is cut where much was said: %s', async (_what, password) => {
    // So that what is kept of it begins at every place within the secret.
    for (let at = 1; at < password.length; at += 6) {
      const filled = 4096 - password.length + at - ' it failed\n'.length;
      const script = `head -c 9000 /dev/zero | tr '\\0' ' ' >&2; printf '%s%*s it failed\\n' "$P" ${filled} '' >&2; exit 1`;
      const keys = { command: ['sh', '-c', script], format: 'csv', env: { P: password } };
      const { message } = await failureOf(openSource('command', keys, await tempDir()));
      expect(message).toMatch(/^the command sh ended with exit code 1:[ *]* it failed$/);
    }
  });

  test('and a failure shows nothing secret of the headers that a client prints', async () => {
    const basic = Buffer.from(`finance:${secret}`).toString('base64');
    const lines = [`> Authorization: Digest ${basic}1`, '> X-Api-Key: k-9', `sent Basic ${basic}, got 401`];
    const script = `printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')} >&2; exit 22`;
    const env = { API_PASSWORD: secret };
    const source = openSource('command', { command: ['sh', '-c', script], format: 'csv', env }, await tempDir());
    const error = (await failureOf(source)) as Error;
    expect(error.message).toContain('> Authorization: *** / > X-Api-Key: *** / sent Basic ***, got 401');
    expect(everythingIn(error)).not.toContain(basic.slice(0, -4));
  });

  test('and a failure shows nothing secret of the text of a shell', async () => {
    const command = ['sh', '-c', `fail() { echo "I was given $*" >&2; exit 1; }; fail --password '${secret}'`];
    const source = openSource('command', { command, format: 'csv' }, await tempDir(), laterClock(0));
    const error = await failureOf(source);
    expect(error.message).toContain('I was given --password ***');
    expect(everythingIn(error)).not.toContain(secret);
  });
});

describe('a pass', () => {
  const books = {
    type: 'command',
    command: ['sh', './export.sh'],
    format: 'csv',
    drivers: [{ path: ['{id}'], time: '{time}', value: '{value}' }],
  };
  const rows = "printf 'id,time,value\\nA,2026-01,1\\nB,2026-01,2\\n'";

  test('keeps what it has where the program fails half way, or ends within a row', async () => {
    await using w = await world({ config: { sources: { books } }, files: { 'export.sh': rows } });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    await w.write('export.sh', `printf 'id,time,value\\nA,2026-01,1\\n'; exit 1`);
    expect(await w.sync()).toMatchObject(judged(3, 'books', { state: 'unread' }));
    await w.write('export.sh', `printf 'id,time,value\\nA,2026-01,1\\nB,2026-01,2\\nC,2026-01,1'`);
    expect(await w.sync()).toMatchObject(
      judged(3, 'books', {
        state: 'unread',
        reason: 'output: it ends without a line end, and its accepted read had one',
      }),
    );
    expect(w.points()).toEqual({ A: { '2026-01': '1' }, B: { '2026-01': '2' } });
    await w.write('export.sh', rows.replace(',2\\n', ',3\\n'));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toEqual({ A: { '2026-01': '1' }, B: { '2026-01': '3' } });
  });
});

/** The scripts of docs/SOURCES.md. */
async function recipes(): Promise<readonly string[]> {
  const docs = await readFile(new URL('../../docs/SOURCES.md', import.meta.url), 'utf8');
  return [...docs.matchAll(/```python\n([^]*?)```/g)].map(([, script = '']) => script);
}

test('the script of docs/SOURCES.md reads bank statements in MT940', async () => {
  const dir = await tempDir();
  const [, script = ''] = await recipes();
  await writeFile(path.join(dir, 'mt940.py'), script);
  const lines = [
    ':20:STARTUMS',
    ':25:10020030/1234567',
    ':28C:00001/001',
    ':60F:C260131EUR1000,00',
    ':61:2601310131CR1234,5NTRFNONREF//1',
    ':86:166?00GUTSCHRIFT?20Rent',
    ':61:260228D7,NMSC',
    ':61:2602280228RC0,99N024',
    ':62F:C260228EUR2226,51',
  ];
  await writeFile(path.join(dir, 'a.sta'), lines.join('\r\n'));
  const keys = { command: ['python3', 'mt940.py', '.'], format: 'csv' };
  const source = openSource('command', keys, dir, laterClock(0));
  expect(await readWhole(source)).toMatchObject({
    columns: ['account', 'date', 'amount', 'currency'],
    rows: [
      ['10020030/1234567', '2026-01-31', '1234.5', 'EUR'],
      ['10020030/1234567', '2026-02-28', '-7.00', 'EUR'],
      ['10020030/1234567', '2026-02-28', '-0.99', 'EUR'],
    ],
  });
  await writeFile(path.join(dir, 'b.sta'), ':25:1\n:60F:C260131EUR1,00\n:61:nonsense\n');
  expect((await failureOf(source)).message).toContain('b.sta: this line cannot be read: :61:nonsense');
});

test('the script of docs/SOURCES.md makes rows of records within records, digit by digit', async () => {
  const dir = await tempDir();
  const [, , script = ''] = await recipes();
  await writeFile(path.join(dir, 'lines.py'), script);
  const lines = '[{"sku":"A-1","net":100.50},{"sku":"B-2","net":12345678901234567890.10}]';
  const invoice = `{"date":"2026-01-12","customer":{"name":"S\u00fcd KG"},"lines":${lines}}`;
  await writeFile(path.join(dir, 'invoices.json'), `{"data":[${invoice}]}`);
  const keys = { command: ['python3', 'lines.py', 'invoices.json'], format: 'csv' };
  expect(await readWhole(openSource('command', keys, dir, laterClock(0)))).toMatchObject({
    columns: ['date', 'customer', 'sku', 'net'],
    rows: [
      ['2026-01-12', 'S\u00fcd KG', 'A-1', '100.50'],
      ['2026-01-12', 'S\u00fcd KG', 'B-2', '12345678901234567890.10'],
    ],
  });
});

test('the script of docs/SOURCES.md reads bank statements', async () => {
  const [script = ''] = await recipes();
  const entry = (amount: string, sign: string, date: string, status = 'BOOK'): string =>
    `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${sign}</CdtDbtInd><Sts>${status}</Sts><BookgDt>${date}</BookgDt></Ntry>`;
  const entries = [
    entry('1234.50', 'CRDT', '<Dt>2026-01-31</Dt>'),
    entry('7.00', 'DBIT', '<DtTm>2026-02-28T10:00:00</DtTm>'),
    entry('9.99', 'DBIT', '<Dt>2026-03-01</Dt>', 'PDNG'),
  ];
  const dir = await tempDir();
  await mkdir(path.join(dir, 'statements'));
  await writeFile(path.join(dir, 'camt.py'), script);
  await writeFile(
    path.join(dir, 'statements/a.xml'),
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Acct><Id><IBAN>DE1</IBAN></Id></Acct>${entries.join('')}</Stmt></BkToCstmrStmt></Document>`,
  );
  const keys = { command: ['python3', 'camt.py', 'statements'], format: 'csv' };
  expect(await readWhole(openSource('command', keys, dir, laterClock(0)))).toMatchObject({
    columns: ['account', 'date', 'amount', 'currency'],
    rows: [
      ['DE1', '2026-01-31', '1234.50', 'EUR'],
      ['DE1', '2026-02-28', '-7.00', 'EUR'],
    ],
  });
});
