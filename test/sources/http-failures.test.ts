import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { AgentError } from '../../src/core/errors.ts';
import { kinds } from '../../src/sources/index.ts';
import { canCertify, certify } from '../support/certificate.ts';
import { handling, openProxy, rawReceiver, receiver, serve } from '../support/destination-world.ts';
import { calm, openSource, readWhole, tempDir } from '../support/source-world.ts';
import { answer, csv, everythingIn, failureOf, secret, sourceOf, table } from '../support/web-world.ts';

describe('a redirect', () => {
  interface Hop {
    readonly base: string;
    readonly asked: IncomingHttpHeaders[];
  }

  /** A server that redirects to `location`, or gives the report. */
  async function hop(location?: () => string, status = 302): Promise<Hop> {
    const asked: IncomingHttpHeaders[] = [];
    const base = await receiver((request, response) => {
      asked.push({ ...request.headers, ':path': request.url });
      if (location === undefined || request.url === '/there.csv') return void response.end(csv);
      response.writeHead(status, { location: location() }).end();
    });
    return { base, asked };
  }

  const own = { token: secret, headers: { 'x-api-key': secret, cookie: secret } };
  const sent = { authorization: `Bearer ${secret}`, 'x-api-key': secret, cookie: secret };

  test.each([301, 302, 303, 307, 308])('%i within the same server is followed with all headers', async (status) => {
    const { base, asked } = await hop(() => '/there.csv', status);
    const source = openSource('http', { url: `${base}/here`, ...own }, await tempDir());
    expect(await readWhole(source)).toMatchObject(table);
    expect(asked).toEqual([expect.objectContaining(sent), expect.objectContaining({ ...sent, ':path': '/there.csv' })]);
  });

  test('to another server carries nothing of yours, and nor does what follows', async () => {
    const home: Hop = await hop(() => `${other.base}/away`);
    const other: Hop = await hop(() => `${home.base}/there.csv`);
    const source = openSource('http', { url: `${home.base}/here`, ...own }, await tempDir());
    expect(await readWhole(source)).toMatchObject(table);
    expect(home.asked[0]).toMatchObject(sent);
    expect(home.asked).toHaveLength(2);
    expect(JSON.stringify([other.asked, home.asked[1]])).not.toContain(secret);
  });

  test.each([
    ['without end', () => '/again', 'it redirects for the 6th time'],
    ['to a file', () => 'file:///etc/passwd', 'it redirects to something that is not a web address'],
    ['to nowhere', () => 'http://', 'it redirects to something that is not a web address'],
  ])('%s is a failure', async (_where, location, message) => {
    const { base, asked } = await hop(location);
    const source = openSource('http', { url: `${base}/here.csv` }, await tempDir());
    await expect(source.parts(calm)).rejects.toMatchObject({
      code: 'source.unreadable',
      message: `${base}: ${message}`,
    });
    expect(asked.length).toBeLessThanOrEqual(6);
  });
});

describe('a failure says what, where and what to do, and nothing secret', () => {
  const keys = { headers: { 'x-api-key': secret } };

  test.each([
    [204, 'there is no content: is the report still to be made?'],
    [202, 'only 200 says that this is all of it'],
    [206, 'only 200 says that this is all of it'],
    [300, 'set url to where the content is now'],
    [400, 'the server does not take this request: check url and headers'],
    [401, 'check the credentials: token, tokenFile and headers'],
    [403, 'check the credentials: token, tokenFile and headers'],
    [404, 'check url: nothing is at this address'],
    [410, 'check url: nothing is at this address'],
    [429, 'it is asked too often: raise poll'],
    [500, 'the server failed: it is tried again'],
    [503, 'the server is busy: it is tried again later'],
  ])('status %i', async (status, hint) => {
    const base = await receiver((request, response) => {
      response.writeHead(status, `No ${secret}`, { 'content-type': 'application/json' });
      response.end(status === 204 ? '' : `{"error":"not with ${String(request.headers['x-api-key'])}\\u0000"}`);
    });
    const url = `${base.replace('//', '//ann:p%40ssword@')}/${secret}?key=${secret}`;
    const failure = await failureOf(openSource('http', { url, ...keys }, await tempDir()));
    expect(failure).toMatchObject({ code: 'source.unreadable', hint });
    expect(failure.message).toContain(`${base}: it answered ${status} No ***`);
    expect(failure.message).toContain(status === 204 ? '' : '"not with ***');
    expect(everythingIn(failure)).not.toMatch(new RegExp(`${secret}|p@ssword|p%40ssword`));
  });

  test('a server that repeats the address, and one that redirects to a signed one', async () => {
    const key = 'AbCdEf0123456789xyz';
    const repeating = await receiver((request, response) => {
      response.writeHead(404, { 'content-type': 'text/plain' }).end(`Cannot GET ${request.url}`);
    });
    const home = await receiver((_request, response) => {
      response.writeHead(302, { location: `${repeating}/signed.csv?signature=${key}` }).end();
    });
    for (const url of [`${repeating}/hooks/${key}/x.csv?key=${secret}`, `${home}/x.csv`]) {
      const failure = await failureOf(openSource('http', { url }, await tempDir()));
      expect(failure.message).toContain(`${repeating}: it answered 404 Not Found: Cannot GET /`);
      expect(everythingIn(failure)).not.toMatch(new RegExp(`${key}|${secret}`));
    }
  });

  test('a web page instead of the data', async () => {
    const page = '\uFEFF\n<!DOCTYPE html><html><form>Log in</form></html>';
    const pages = [
      await sourceOf(answer(page, { 'content-type': 'text/html; charset=utf-8' })),
      await sourceOf(answer(page, { 'content-type': 'text/html' }), { format: 'csv' }),
      await sourceOf(answer(page, { 'content-type': 'text/csv' })),
    ];
    for (const source of pages) {
      expect(await failureOf(source)).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+: a web page answered, such as a login page$/),
        hint: 'check url, the credentials and the proxy',
      });
    }
  });

  test('a host that has no address, and a port where nothing listens', async () => {
    const gone = createServer();
    await once(gone.listen(0, '127.0.0.1'), 'listening');
    const { port } = gone.address() as { port: number };
    await new Promise((closed) => gone.close(closed));
    const unknown = openSource('http', { url: `http://ann:${secret}@nowhere.invalid/x.csv` }, await tempDir());
    expect(await failureOf(unknown)).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(
        /^http:\/\/nowhere\.invalid: (the host is unknown|the name of the host could not be looked up)/,
      ),
    });
    const refused = openSource('http', { url: `http://127.0.0.1:${port}/x.csv`, ...keys }, await tempDir());
    expect(await failureOf(refused)).toMatchObject({
      code: 'source.unreadable',
      message: `http://127.0.0.1:${port}: the connection was refused: nothing listens there (ECONNREFUSED)`,
      hint: 'check host and port, and whether the server is running',
    });
  });

  test('a server that drops the connection, or speaks no HTTP', async () => {
    const dropping = await rawReceiver((socket) => socket.destroy());
    expect(await failureOf(openSource('http', { url: `${dropping}/x.csv` }, '/'))).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringContaining(`${dropping}: the connection was cut`),
    });
    const babbling = await rawReceiver((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    expect(await failureOf(openSource('http', { url: `${babbling}/x.csv` }, '/'))).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringContaining(babbling),
    });
  });

  test('a server that speaks no TLS', async () => {
    const plain = (await receiver(answer(csv))).replace('http:', 'https:');
    expect(await failureOf(openSource('http', { url: `${plain}/x.csv` }, '/'))).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(/: no safe connection: |: the connection was cut/),
    });
  });

  test('a token file or caFile that cannot be used', async () => {
    const dir = await tempDir();
    await writeFile(path.join(dir, 'empty'), ' \n');
    await writeFile(path.join(dir, 'two'), `${secret}\n${secret}`);
    const failing = async (keysOfIt: object): Promise<AgentError> =>
      failureOf(openSource('http', { url: 'http://127.0.0.1:1/x.csv', ...keysOfIt }, dir));
    expect((await failing({ tokenFile: 'none' })).message).toBe('the file of tokenFile cannot be read (ENOENT)');
    expect((await failing({ tokenFile: 'empty' })).message).toBe('the token in tokenFile is empty');
    const two = await failing({ tokenFile: 'two' });
    expect(two.message).toBe('the token in tokenFile has a character that no token has');
    expect(everythingIn(two)).not.toContain(secret);
    expect((await failing({ caFile: 'empty' })).message).toMatch(/^the caFile .*empty holds no certificate$/);
  });

  test('what is wrong with the keys', () => {
    const problems = (keysOfIt: object): string[] => {
      const { error } = kinds['http']!.schema.safeParse(keysOfIt);
      expect(JSON.stringify(error ?? null)).not.toContain(secret);
      return (error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    };
    const url = `https://reports.example.com/x.csv?key=${secret}`;
    const user = `https://ann:${secret}@reports.example.com/x.csv`;
    expect(problems({ url, token: secret })).toEqual([]);
    expect(problems({ url: `ftp://ann:${secret}@x` })).toEqual(['url: expected an http or https address']);
    expect(problems({ url: `${url}#${secret}` })).toEqual(['url: a fragment in the address']);
    expect(problems({ url: `https://%zz:${secret}@x` })).toEqual(['url: a user or password that is not well written']);
    expect(problems({ url, token: `${secret}\n` })).toEqual([
      'token: the token is empty, or has a character that no token has',
    ]);
    expect(problems({ url, token: secret, tokenFile: 'x' })).toEqual(['tokenFile: token and tokenFile are both there']);
    expect(problems({ url: user, token: secret })).toEqual(['url: credentials in the address, and a token']);
    expect(problems({ url, headers: { 'x-key': `${secret}\n` } })).toEqual([
      'headers.x-key: a line end or another character that no header may have',
    ]);
    expect(problems({ url, headers: { Range: 'bytes=0-9' } })).toEqual([
      'headers.Range: the agent sets the header range itself',
    ]);
    expect(problems({ url: user, headers: { Authorization: secret } })).toEqual([
      'headers.Authorization: the header authorization is set by the token or the address already',
    ]);
    expect(problems({ url, expandedMax: '4' })).toEqual(['expandedMax: not a size such as 4GB or 500MB']);
    expect(problems({ url, encoding: 'utf-9' })[0]).toContain('encoding: unknown encoding');
  });
});

describe('a proxy of the environment', () => {
  test('is asked, and what is wrong with it is said without its password', async () => {
    const proxy = await openProxy(407);
    vi.stubEnv('HTTP_PROXY', proxy.url.replace('http://', `ann:${secret}@`));
    const source = openSource('http', { url: 'http://reports.example.com/x.csv' }, await tempDir());
    const failure = await failureOf(source);
    expect(proxy.seen[0]).toContain('reports.example.com');
    expect(failure).toMatchObject({
      code: 'source.unreadable',
      hint: expect.stringContaining('put them into its address in HTTPS_PROXY or HTTP_PROXY'),
    });
    for (const wrong of [`socks://ann:${secret}@proxy`, `http://ann:${secret}%zz@proxy`, `http://${secret}:x`]) {
      vi.stubEnv('HTTP_PROXY', wrong);
      const refused = await failureOf(source);
      expect(refused.message).toBe('the environment variable HTTP_PROXY is not the address of an HTTP proxy');
      expect(everythingIn(refused)).not.toContain(secret);
    }
    expect(everythingIn(failure)).not.toContain(secret);
  });
});

describe('an answer that trickles ends with the signal of its read, and its connection with it', () => {
  const csvHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\n';
  const jsonHead = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

  test.each([
    ['http', 'within its head', 'HTTP/1.1 200 OK\r\nx-trickle: '],
    ['http', 'within the rows', `${csvHead}content-length: 1000\r\n\r\ndate,amount\n`],
    [
      'http',
      'within the words of a failure',
      'HTTP/1.1 500 No\r\ncontent-type: text/plain\r\ncontent-length: 1000\r\n\r\n',
    ],
    ['routing', 'within its head', 'HTTP/1.1 200 OK\r\nx-trickle: '],
    ['routing', 'within a page', `${jsonHead}content-length: 1000\r\n\r\n{"data":[`],
    [
      'routing',
      'within the words of a failure',
      'HTTP/1.1 500 No\r\ncontent-type: text/plain\r\ncontent-length: 1000\r\n\r\n',
    ],
  ])('%s: %s', async (type, _where, begin) => {
    const closed = Promise.withResolvers<void>();
    const trickled = Promise.withResolvers<void>();
    const url = await rawReceiver((socket) => {
      socket.on('close', () => closed.resolve());
      socket.once('data', () => {
        socket.write(begin);
        const drip = (left: number): void => {
          if (left === 0 || socket.destroyed) trickled.resolve();
          else socket.write('x', () => setImmediate(drip, left - 1));
        };
        drip(50);
      });
    });
    const controller = new AbortController();
    const reason = new Error('the read took too long');
    const source = openSource(type, { url }, await tempDir());
    const reading = (async () => {
      const [part] = await source.parts(controller.signal);
      await source.rows(part!, controller.signal).next();
    })();
    await trickled.promise;
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    await closed.promise;
  });
});

describe.skipIf(!canCertify)('over TLS (the certificates need openssl on this machine)', () => {
  const identity = canCertify ? certify('reports.example.com') : { key: '', cert: '' };
  const secure = (handle: Parameters<typeof handling>[0]): Promise<string> =>
    serve(createSecureServer(identity, handling(handle)), 'https');

  test('a server that nobody vouches for is a failure, and caFile vouches for it', async () => {
    const dir = await tempDir();
    await writeFile(path.join(dir, 'ca.pem'), identity.cert);
    const url = `${await secure(answer(csv))}/x.csv`;
    const failure = await failureOf(openSource('http', { url, token: secret }, dir));
    expect(failure).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+: no safe connection: .*\(\w*SELF_SIGNED\w*\)$/),
      hint: 'name the authority of the certificate with caFile',
    });
    expect(await readWhole(openSource('http', { url, token: secret, caFile: 'ca.pem' }, dir))).toMatchObject(table);
  });

  test('a redirect to where nothing is encrypted is not followed', async () => {
    const dir = await tempDir();
    await writeFile(path.join(dir, 'ca.pem'), identity.cert);
    const plain = await receiver(answer(csv));
    const url = await secure((_request, response) => response.writeHead(302, { location: `${plain}/x.csv` }).end());
    expect(await failureOf(openSource('http', { url, caFile: 'ca.pem' }, dir))).toMatchObject({
      code: 'source.unreadable',
      message: `${url}: it redirects to ${plain}, which is not encrypted`,
    });
  });
});
