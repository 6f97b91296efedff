/** Servers of SFTP that break off, lie or change, in this process. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import ssh2, { type SFTPWrapper } from 'ssh2';
import { describe, expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { atEnd } from '../support/destination-world.ts';
import { type SleepClock, calm, laterClock, openSource, readWhole } from '../support/source-world.ts';
import { csv, everythingIn, failureOf, secret, table } from '../support/web-world.ts';

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;
const attributes = { mode: 0o100_644, uid: 0, gid: 0, size: csv.length, atime: 0, mtime: 1_767_322_800 };

// The keys that ssh2 itself makes are, now and then, of a form that it cannot read.
const hostKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'sec1', format: 'pem' });

/** What a server does otherwise than a good one. */
interface Ways {
  readonly list?: ((sftp: SFTPWrapper, id: number, asked: number) => void) | undefined;
  readonly read?: ((sftp: SFTPWrapper, id: number, offset: number) => void) | undefined;
  /** The agent's. */
  readonly clock?: SleepClock;
  /** Hears of each connection. */
  readonly connected?: () => void;
  /** All that the server says of the file, each time. Default: `attributes`. */
  readonly said?: Partial<typeof attributes>;
  readonly longname?: string;
  /** What it says of one file, by its path. Default: `said`. */
  readonly stat?: (name: string) => Partial<typeof attributes> | 'gone';
  /** The file as it is after it was read. */
  readonly after?: Partial<typeof attributes> | 'gone' | undefined;
}

/** The source of a pattern on a server with one file. */
async function sourceOf(
  { connected, clock = laterClock(0), ...ways }: Ways = {},
  keys: object = {},
  pattern = '/a/*.csv',
): Promise<Source> {
  const parsed = ssh2.utils.parseKey(hostKey);
  if (parsed instanceof Error) throw parsed;
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    connected?.();
    // As sshd does; the types lack it.
    (client as typeof client & Pick<ssh2.Client, 'setNoDelay'>).setNoDelay();
    client.on('error', () => undefined);
    client.on('authentication', (context) => {
      if (context.method === 'password' && context.password === secret) context.accept();
      else context.reject(['password']);
    });
    client.on('session', (accept) => {
      accept().on('sftp', (begin) => serve(begin(), ways));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => server.close());
  const { port } = server.address() as { port: number };
  const fingerprint = createHash('sha256').update(parsed.getPublicSSH()).digest('base64').replace(/=+$/, '');
  const sftp = { password: secret, hostKey: `SHA256:${fingerprint}`, ...keys };
  return openSource('csv', { files: [`sftp://me@127.0.0.1:${port}${pattern}`], sftp }, '/', clock);
}

function serve(sftp: SFTPWrapper, { list, read, after, said, longname = '', stat: statOf }: Ways): void {
  // The types want all of them; the protocol does not.
  const attrs = (said ?? attributes) as typeof attributes;
  let hasRead = false;
  let asked = 0;
  const handle = Buffer.from('h');
  sftp.on('OPENDIR', (id) => {
    asked = 0;
    sftp.handle(id, handle);
  });
  sftp.on('READDIR', (id) => {
    asked++;
    if (list !== undefined) list(sftp, id, asked);
    else if (asked === 1) sftp.name(id, [{ filename: 'x.csv', longname, attrs }]);
    else sftp.status(id, STATUS_CODE.EOF);
  });
  sftp.on('CLOSE', (id) => sftp.status(id, STATUS_CODE.OK));
  const stat = (id: number, of: string | Buffer): void => {
    const own = statOf?.(String(of)) ?? {};
    if (own === 'gone' || (hasRead && after === 'gone')) sftp.status(id, STATUS_CODE.NO_SUCH_FILE);
    else sftp.attrs(id, { ...attrs, ...own, ...(hasRead && typeof after === 'object' && after) });
  };
  sftp.on('STAT', stat);
  sftp.on('FSTAT', stat);
  sftp.on('OPEN', (id, _name, flags) => {
    if ((flags & OPEN_MODE.WRITE) !== 0) sftp.status(id, STATUS_CODE.PERMISSION_DENIED);
    else sftp.handle(id, handle);
  });
  sftp.on('READ', (id, _handle, offset, length) => {
    hasRead = true;
    if (read !== undefined) read(sftp, id, offset);
    else if (offset >= csv.length) sftp.status(id, STATUS_CODE.EOF);
    else sftp.data(id, Buffer.from(csv).subarray(offset, offset + length));
  });
}

const entry = (filename: string): { filename: string; longname: string; attrs: typeof attributes } => ({
  filename,
  longname: '',
  attrs: attributes,
});

test('a file is read with a password, in the version that was listed', async () => {
  expect(await readWhole(await sourceOf())).toMatchObject(table);
});

test('a list and the reads after it take one connection, and a failure the next one', async () => {
  let connections = 0;
  const source = await sourceOf({
    connected: () => connections++,
  });
  await readWhole(source);
  await source.parts(calm);
  expect(connections).toBe(1);
  const other = await sourceOf({
    connected: () => connections++,
    read: (sftp, id) => sftp.status(id, STATUS_CODE.FAILURE),
  });
  await expect(readWhole(other)).rejects.toMatchObject({ code: 'part.unreadable' });
  await other.parts(calm);
  expect(connections).toBe(3);
});

describe('files that were changed a moment ago', () => {
  const ten = Array.from({ length: 10 }, (_, at) => `${at}.csv`);
  /** A server with ten files that were changed so long ago, of which one goes on changing, and a clock that stands still but for sleep. */
  const freshly = async (agoMs: number, moving?: string) => {
    const clock = laterClock(0);
    const at = (): number => Math.floor((clock.now().getTime() - agoMs) / 1000);
    const mtime = at();
    const said = { ...attributes, mtime };
    const server = {
      clock,
      said,
      list: (sftp: SFTPWrapper, id: number, asked: number) =>
        asked === 1
          ? sftp.name(
              id,
              ten.map((filename) => ({ ...entry(filename), attrs: said })),
            )
          : sftp.status(id, STATUS_CODE.EOF),
      stat: (name: string) => (name.endsWith(`/${moving}`) ? { ...said, mtime: at() } : said),
    };
    return { clock, source: await sourceOf(server, {}) };
  };

  test.each([
    ['some seconds ago', 10_000, 2000],
    // Times have seconds: in the one after a look, a change may be no other time.
    ['just now', 0, 3000],
  ])('%s are waited for once, all together', async (_when, agoMs, waitMs) => {
    const { clock, source } = await freshly(agoMs);
    const parts = await source.parts(calm);
    expect(parts).toHaveLength(ten.length);
    for (const part of parts) expect(await readWhole(source, part)).toMatchObject(table);
    expect(clock.sleptMs).toEqual([waitMs]);
  });

  test('are waited for as long as each of them moves', async () => {
    const { clock, source } = await freshly(10_000, '7.csv');
    const parts = await source.parts(calm);
    for (const part of parts.slice(0, 7)) expect(await readWhole(source, part)).toMatchObject(table);
    expect(clock.sleptMs).toEqual([2000]);
    await expect(readWhole(source, parts[7])).rejects.toMatchObject({
      code: 'part.changing',
      message: expect.stringMatching(/7\.csv did not hold still for 2 s$/),
    });
    expect(clock.sleptMs.length).toBeGreaterThan(20);
  });
});

describe('a server that says little of its files', () => {
  const { size, mode, mtime, atime } = attributes;

  test('has other ones at each look where it gives no times', async () => {
    const source = await sourceOf({ said: { size, mode } });
    const [before] = await source.parts(calm);
    expect(before!.revisedAtMs).toBeGreaterThan(mtime * 1000);
    expect(await readWhole(source, before)).toMatchObject(table);
    const [after] = await source.parts(calm);
    expect(after!.version).not.toBe(before!.version);
  });

  test('may tell files from folders in the words of its list alone', async () => {
    const source = await sourceOf({ said: { size, mtime, atime }, longname: '-rw-r--r-- 1 me us 43 Jan 2 x.csv' });
    expect(await readWhole(source)).toMatchObject(table);
  });

  test('is not read where it does not say at all what is a file', async () => {
    expect(await failureOf(await sourceOf({ said: { size, mtime, atime } }))).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(/\/a\/x\.csv: the server does not say whether that is a file or a folder$/),
    });
  });
});

describe('a link that leads nowhere', () => {
  const links = ['dangling.csv', 'dangling.txt', '.hidden.csv'];
  const withLinks = (pattern: string, leaving: readonly string[]) =>
    sourceOf(
      {
        list: (sftp, id, asked) => {
          if (asked > 1) return sftp.status(id, STATUS_CODE.EOF);
          const attrs = { ...attributes, mode: 0o120_777 };
          return sftp.name(id, [entry('x.csv'), ...leaving.map((filename) => ({ ...entry(filename), attrs }))]);
        },
        stat: (name) => (name.includes('angling') || name.includes('hidden') ? 'gone' : attributes),
      },
      {},
      pattern,
    );

  test.each(['/a/*.csv', '/a/**/*.csv'])('is nothing to %s where it does not mean it', async (pattern) => {
    const source = await withLinks(pattern, links.slice(1));
    expect(await source.parts(calm)).toHaveLength(1);
    expect(await readWhole(source)).toMatchObject(table);
  });

  test.each(['/a/*.csv', '/a/**/*.csv', '/*/x.csv'])('is a failure where %s may mean it', async (pattern) => {
    expect(await failureOf(await withLinks(pattern, links))).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(/\/dangling\.csv is a link that leads nowhere$/),
      hint: expect.stringContaining('remove the link'),
    });
  });
});

describe('a server is not read', () => {
  test.each<[string, Ways['list'], RegExp]>([
    [
      'fails after a first part of the list',
      (sftp, id, asked) => (asked === 1 ? sftp.name(id, [entry('x.csv')]) : sftp.status(id, STATUS_CODE.FAILURE)),
      /\/a cannot be read: /,
    ],
    [
      'breaks off within the list',
      (sftp, id, asked) => (asked === 1 ? sftp.name(id, [entry('x.csv')]) : sftp.end()),
      /\/a cannot be read: /,
    ],
    [
      'forbids the folder',
      (sftp, id) => sftp.status(id, STATUS_CODE.PERMISSION_DENIED),
      /\/a: the user has no permission to read it$/,
    ],
    [
      'has names that are no text',
      (sftp, id, asked) => (asked === 1 ? sftp.name(id, [entry('x\uFFFD.csv')]) : sftp.status(id, STATUS_CODE.EOF)),
      /that name is not utf-8$/,
    ],
  ])('that %s', async (_what, list, message) => {
    expect(await failureOf(await sourceOf({ list }))).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(message),
    });
  });

  test.each<[string, Ways, string]>([
    ['changed while it was read', { after: { mtime: attributes.mtime + 60 } }, 'part.changing'],
    ['grew while it was read', { after: { size: csv.length + 1 } }, 'part.changing'],
    ['went while it was read', { after: 'gone' }, 'part.changing'],
    ['ends before its length', { read: (sftp, id) => sftp.status(id, STATUS_CODE.EOF) }, 'part.changing'],
    ['breaks off', { read: (sftp) => sftp.end() }, 'part.unreadable'],
  ])('whose file %s', async (_what, ways, code) => {
    const source = await sourceOf(ways);
    const [part] = await source.parts(calm);
    await expect(readWhole(source, part)).rejects.toMatchObject({ code });
  });

  test('that does not take the password, which nobody sees', async () => {
    const error = await failureOf(await sourceOf({}, { password: `${secret}-wrong` }));
    expect(error.message).toMatch(/: it does not let the user in$/);
    expect(everythingIn(error)).not.toContain(secret);
  });
});
