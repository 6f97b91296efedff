/** Files of real servers: OpenSSH's SFTP, and WebDAV by rclone. */
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import {
  cannotRclone,
  cannotSsh,
  davPassword,
  davServer,
  rcloneName,
  sshName,
  sshServer,
} from '../support/remote-servers.ts';
import { calm, laterClock, openSource, readWhole, tempDir, writeFiles } from '../support/source-world.ts';
import { csv, everythingIn, failureOf, table } from '../support/web-world.ts';
import { judged, longFile, longSource, world } from '../support/world.ts';

const odd = ['a+b %20&=#', "it's (1)!", 'ü 😀 日本', '%', '<&>"', '$(x);', '{a}'];

async function namesOf(source: Source, root: string): Promise<readonly string[]> {
  return (await source.parts(calm)).map(({ name }) => name.replace(root, ''));
}

/** One folder, several patterns, and files with odd names, each of them read. */
async function expectAllNames(at: (...files: string[]) => Source, root: string): Promise<void> {
  expect(await namesOf(at('a/*.csv', 'z.txt'), root)).toEqual(['a/x.csv', 'z.txt']);
  expect(await namesOf(at('*.odd'), root)).toEqual(odd.map((name) => `${name}.odd`).toSorted());
  const source = at('*.odd');
  for (const part of await source.parts(calm)) expect(await readWhole(source, part)).toMatchObject(table);
}

describe.skipIf(cannotSsh)(`files of ${sshName}`, () => {
  test('are listed and read by a pinned key of the server', async () => {
    const { port, user, folder, keyFile, hostKey } = await sshServer();
    await writeFiles(folder, { 'a/x.csv': csv, 'a/.x.csv': csv, 'a/b/y.csv': csv, 'z.txt': csv });
    for (const name of odd) await writeFile(path.join(folder, `${name}.odd`), csv);
    await symlink(path.join(folder, 'a/x.csv'), path.join(folder, 'linked.csv'));
    const root = `sftp://127.0.0.1:${port}${folder}/`;
    const at = (...files: string[]): Source =>
      openSource(
        'csv',
        { files: files.map((file) => `sftp://${user}@127.0.0.1:${port}${folder}/${file}`), sftp: { keyFile, hostKey } },
        '/',
      );
    expect(await namesOf(at('**/*.csv'), root)).toEqual(['a/b/y.csv', 'a/x.csv', 'linked.csv']);
    await expectAllNames(at, root);

    const read = at('a/x.csv');
    const [before] = await read.parts(calm);
    expect(before!.version).toBe((await readWhole(read, before)).content.version);
    await writeFile(path.join(folder, 'a/x.csv'), csv.replace('1.50', '2.75'));
    await utimes(path.join(folder, 'a/x.csv'), new Date(), new Date(Date.now() + 5000));
    const [after] = await read.parts(calm);
    expect(after!.version).not.toBe(before!.version);

    await rm(path.join(folder, 'a/x.csv'));
    await expect(readWhole(read, after)).rejects.toMatchObject({ code: 'part.changing' });
    await expect(read.parts(calm)).rejects.toMatchObject({ message: `nothing matches ${root}a/x.csv` });
    const gone = at('gone/*.csv').parts(calm);
    await expect(gone).rejects.toMatchObject({ message: `${root}gone does not exist` });
  });

  test('are refused from a server whose key is another one, or is not known', async () => {
    const { port, user, folder, keyFile, hostKey, knownHost } = await sshServer();
    await writeFiles(folder, { 'x.csv': csv });
    const dir = await tempDir();
    const failing = async (sftp: object) =>
      await failureOf(openSource('csv', { files: [`sftp://${user}@127.0.0.1:${port}${folder}/*.csv`], sftp }, dir));
    const other = `SHA256:${'A'.repeat(43)}`;
    expect(await failing({ keyFile, hostKey: other })).toMatchObject({
      code: 'source.unreadable',
      message: `sftp://127.0.0.1:${port}: its key has changed: it is ${hostKey}, and sftp.hostKey says ${other}`,
    });
    await writeFile(path.join(dir, 'none'), '# nobody\n');
    expect(await failing({ keyFile, knownHosts: 'none' })).toMatchObject({
      message: `sftp://127.0.0.1:${port}: its key is not known: ${hostKey}`,
      hint: expect.stringContaining(`sftp: { hostKey: "${hostKey}" }`),
    });
    await writeFile(path.join(dir, 'other'), knownHost.replace(/ssh-ed25519 \S+/, `ssh-ed25519 ${'A'.repeat(68)}`));
    expect((await failing({ keyFile, knownHosts: 'other' })).message).toContain('its key has changed');
    await writeFile(path.join(dir, 'known'), `\n${knownHost}`);
    const sftp = { keyFile, knownHosts: 'known' };
    const source = openSource('csv', { files: [`sftp://${user}@127.0.0.1:${port}${folder}/*.csv`], sftp }, dir);
    expect(await readWhole(source)).toMatchObject(table);
    await writeFile(path.join(dir, 'revoked'), `@revoked ${knownHost}`);
    expect((await failing({ keyFile, knownHosts: 'revoked' })).message).toContain('marked as revoked');
  });

  test('are carried by a pass after the key of their server changed, which says so', async () => {
    const server = await sshServer();
    const { port, user, folder, keyFile } = server;
    const configOf = (hostKey: string): { sources: Record<string, object> } => ({
      sources: {
        bank: longSource(`sftp://${user}@127.0.0.1:${port}${folder}/*.csv`, { sftp: { keyFile, hostKey } }),
        local: longSource('local.csv'),
      },
    });
    await writeFiles(folder, { 'bank.csv': longFile({ A: { '2026-01': 1 }, B: { '2026-01': 2 } }) });
    const files = { 'local.csv': longFile({ C: { '2026-01': 3 } }) };
    await using w = await world({ config: configOf(server.hostKey), files });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    const before = w.points();

    const renewed = await server.renewKey();
    // What another server would have the agent believe.
    await writeFiles(folder, { 'bank.csv': longFile({ A: { '2026-01': 9 } }) });
    await w.write('local.csv', longFile({ C: { '2026-01': 4 } }));
    const reason = `sftp://127.0.0.1:${port}: its key has changed: it is ${renewed}, and sftp.hostKey says ${server.hostKey}`;
    const unread = judged(3, 'bank', { state: 'unread', reason: expect.stringContaining(reason) });
    expect(await w.sync()).toMatchObject({ ...unread, outcome: 'acknowledged' });
    expect(w.points()).toEqual({ ...before, C: { '2026-01': '4' } });
    expect((await w.status()).sources).toMatchObject([{ name: 'bank', state: 'unread' }, { name: 'local' }]);

    await writeFiles(folder, { 'bank.csv': longFile({ A: { '2026-01': 1 }, B: { '2026-01': 5 } }) });
    await w.reconfigure(configOf(renewed));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toMatchObject({ A: { '2026-01': '1' }, B: { '2026-01': '5' } });
  });

  test('say who was not let in, and never by what', async () => {
    const { port, folder, hostKey } = await sshServer();
    const files = [`sftp://nobody:${encodeURIComponent(davPassword)}@127.0.0.1:${port}${folder}/*.csv`];
    const error = await failureOf(openSource('csv', { files, sftp: { hostKey } }, '/'));
    expect(error.message).toBe(`sftp://127.0.0.1:${port}: it does not let the user in`);
    expect(everythingIn(error)).not.toContain(davPassword);
    const nowhere = await failureOf(
      openSource('csv', { files: ['sftp://a@127.0.0.1:9/x/*.csv'], sftp: { hostKey } }, '/'),
    );
    expect(nowhere.message).toContain('the connection was refused');
  });
});

describe.skipIf(cannotRclone)(`files of ${rcloneName}`, () => {
  test('are listed and read over WebDAV', async () => {
    const { url, folder } = await davServer();
    await mkdir(path.join(folder, 'dav/a/b'), { recursive: true });
    await writeFiles(folder, { 'dav/a/x.csv': csv, 'dav/a/.x.csv': csv, 'dav/a/b/y.csv': csv, 'dav/z.txt': csv });
    for (const name of odd) await writeFile(path.join(folder, 'dav', `${name}.odd`), csv);
    const root = `${url.replace(/\/\/.*@/, '//')}/dav/`;
    const at = (...files: string[]): Source =>
      openSource('csv', { files: files.map((file) => `${url}/dav/${file}`) }, '/', laterClock());
    expect(await namesOf(at('**/*.csv'), root)).toEqual(['a/b/y.csv', 'a/x.csv']);
    await expectAllNames(at, root);

    const read = at('a/x.csv');
    const [before] = await read.parts(calm);
    expect(before!.version).toBe((await readWhole(read, before)).content.version);
    await writeFile(path.join(folder, 'dav/a/x.csv'), csv.replace('1.50', '2.755'));
    const [after] = await read.parts(calm);
    expect(after!.version).not.toBe(before!.version);
    expect((await readWhole(read, after)).rows[0]).toEqual(['2026-01-31', '2.755']);

    await rm(path.join(folder, 'dav/a/x.csv'));
    await expect(at('a/x.csv').parts(calm)).rejects.toMatchObject({ message: `nothing matches ${root}a/x.csv` });
    const gone = at('gone/*.csv').parts(calm);
    await expect(gone).rejects.toMatchObject({ message: `${root}gone does not exist` });
  });

  test('are not read where the password is wrong', async () => {
    const { url } = await davServer();
    const wrong = url.replace(/:[^:@]*@/, ':wrong-and-secret@');
    const error = await failureOf(openSource('csv', { files: [`${wrong}/*.csv`] }, '/'));
    expect(error).toMatchObject({ code: 'source.unreadable', message: expect.stringContaining('401 Unauthorized') });
    expect(everythingIn(error)).not.toContain('wrong-and-secret');
  });
});
