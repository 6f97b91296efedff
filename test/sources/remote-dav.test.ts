/** Shares that answer badly: half a list, another file than was listed, folders of others. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { receiver } from '../support/destination-world.ts';
import { calm, laterClock, openSource, readWhole } from '../support/source-world.ts';
import { csv, failureOf, table } from '../support/web-world.ts';

interface Entry {
  readonly href: string;
  readonly properties?: string;
}

const etag = '"v1"';
const plain = `<D:getetag>"v1"</D:getetag><D:getcontentlength>${csv.length}</D:getcontentlength><D:getlastmodified>Fri, 02 Jan 2026 03:04:05 GMT</D:getlastmodified><D:resourcetype/>`;
const folder = '<D:resourcetype><D:collection/></D:resourcetype>';

function listOf(entries: readonly Entry[]): string {
  const responses = entries.map(
    ({ href, properties = plain }) =>
      `<D:response><D:href>${href}</D:href><D:propstat><D:prop>${properties}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat><D:propstat><D:prop><D:quota/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat></D:response>`,
  );
  return `<?xml version="1.0"?>\n<D:multistatus xmlns:D="DAV:">${responses.join('')}</D:multistatus>`;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Something of a list that has a status instead of properties. */
function failing(href: string, status: string): string {
  return `<D:response><D:href>${href}</D:href><D:status>HTTP/1.1 ${status}</D:status></D:response>`;
}

/** A list and more in it. */
function withMore(list: string, ...more: readonly string[]): string {
  return list.replace('</D:multistatus>', `${more.join('')}</D:multistatus>`);
}

/** A share with one file in a folder, and what is otherwise about it. */
async function shareOf({ list, get }: { list?: string; get?: Answer } = {}, keys: object = {}): Promise<Source> {
  const usual = listOf([{ href: '/dav/a/', properties: folder }, { href: '/dav/a/x.csv' }]);
  const url = await receiver((request, response) => {
    if (request.method === 'PROPFIND')
      return response.writeHead(207, { 'content-type': 'application/xml' }).end(list ?? usual);
    if (get !== undefined) return get(request, response);
    return response.writeHead(200, { etag }).end(csv);
  });
  return openSource('csv', { files: [`${url}/dav/a/*.csv`], ...keys }, '/', laterClock(0));
}

test('a file is read in the version that was listed', async () => {
  const source = await shareOf();
  expect(await readWhole(source)).toMatchObject(table);
});

test('an address may be percent-encoded, and answers may name their host', async () => {
  const list = listOf([{ href: 'http://other/dav/Caf%C3%A9%20a/x.csv' }]);
  const asked: string[] = [];
  const url = await receiver((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.method === 'PROPFIND') return response.writeHead(207).end(list);
    return response.writeHead(200, { etag }).end(csv);
  });
  const source = openSource('csv', { files: [`${url}/dav/Caf%C3%A9%20a/*.csv`] }, '/', laterClock(0));
  expect(await readWhole(source)).toMatchObject(table);
  expect(asked).toEqual(['PROPFIND /dav/Caf%C3%A9%20a/', 'GET /dav/Caf%C3%A9%20a/x.csv']);
});

test('a token goes with every request', async () => {
  const seen = new Set<string | undefined>();
  const url = await receiver((request, response) => {
    seen.add(request.headers.authorization);
    if (request.method === 'PROPFIND') return response.writeHead(207).end(listOf([{ href: '/dav/x.csv' }]));
    return response.writeHead(200, { etag }).end(csv);
  });
  const source = openSource('csv', { files: [`${url}/dav/*.csv`], dav: { token: 'abc' } }, '/', laterClock(0));
  expect(await readWhole(source)).toMatchObject(table);
  expect([...seen]).toEqual(['Bearer abc']);
});

describe('a share is not read', () => {
  test.each([
    ['its list ends in the middle', listOf([{ href: '/dav/a/x.csv' }]).slice(0, -20), 'is not whole'],
    ['its list is a page', '<html><body>Sign in</body></html>', 'is not whole'],
    ['its list is empty', '', 'is not whole'],
    ['its list is of another folder', listOf([{ href: '/dav/b/x.csv' }]), 'names something outside of it'],
    ['its list has a name with a raw #', listOf([{ href: '/dav/a/x#1.csv' }]), 'not well written: /dav/a/x#1.csv'],
    ['its list has a name with a raw ?', listOf([{ href: '/dav/a/x?y.csv' }]), 'not well written: /dav/a/x?y.csv'],
    ['its list has a name with a raw %', listOf([{ href: '/dav/a/5% more.csv' }]), 'not well written: /dav/a/5%'],
    ['its list climbs', listOf([{ href: '/dav/a/..%2F..%2Fetc' }]), 'names something outside of it'],
  ])('where %s', async (_why, list, message) => {
    expect(await failureOf(await shareOf({ list }))).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringContaining(message),
    });
  });

  const here = listOf([{ href: '/dav/a/', properties: folder }, { href: '/dav/a/x.csv' }]);
  const refusing = `<D:propstat><D:prop><D:resourcetype/></D:prop><D:status>HTTP/1.1 403 Forbidden</D:status></D:propstat>`;
  test.each([
    [
      'it says that there is more',
      withMore(here, failing('/dav/a/', '507 Insufficient Storage')),
      '/dav/a has the status 507',
    ],
    [
      'it fails for a file',
      withMore(here, failing('/dav/a/y.csv', '503 Busy')),
      '/dav/a/y.csv has the status 503 Busy',
    ],
    [
      'it fails for several at once',
      withMore(here, failing('/dav/a/y.csv</D:href><D:href>/dav/a/z', '403 Forbidden')),
      '/dav/a/y.csv has the status 403',
    ],
    [
      'it does not say what something is',
      withMore(here, `<D:response><D:href>/dav/a/y.csv</D:href>${refusing}</D:response>`),
      '/dav/a/y.csv has the status 403',
    ],
    ['it names nothing at all', listOf([]), 'it does not even name the folder'],
  ])('whose list is not whole: %s', async (_why, list, message) => {
    expect(await failureOf(await shareOf({ list }))).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(new RegExp(`list of the folder is not whole: .*${message}`)),
    });
  });

  test.each(['*/*.csv', '**/*.csv'])('where %s leads into a folder that is not shown', async (pattern) => {
    const url = await receiver((request, response) => {
      if (request.method !== 'PROPFIND') return response.writeHead(200, { etag }).end(csv);
      const list = request.url?.endsWith('/one/')
        ? listOf([{ href: '/dav/one/x.csv' }])
        : withMore(listOf([{ href: '/dav/one/', properties: folder }]), failing('/dav/two/', '403 Forbidden'));
      return response.writeHead(207).end(list);
    });
    const source = openSource('csv', { files: [`${url}/dav/${pattern}`] }, '/', laterClock(0));
    expect(await failureOf(source)).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringContaining('/dav/two has the status 403 Forbidden'),
    });
  });

  /** A share with the folder `sub`, which is not there when it is opened; `lists`: what its parent says of it each time. */
  const withSub = async (lists: readonly boolean[]): Promise<Source> => {
    let looks = 0;
    const url = await receiver((request, response) => {
      if (request.method !== 'PROPFIND') return response.writeHead(200, { etag }).end(csv);
      if (request.url?.endsWith('/sub/')) return response.writeHead(404).end();
      const sub = lists[looks++] === true ? [{ href: '/dav/sub/', properties: folder }] : [];
      return response.writeHead(207).end(listOf([...sub, { href: '/dav/x.csv' }]));
    });
    return openSource('csv', { files: [`${url}/dav/**/*.csv`] }, '/', laterClock(0));
  };

  test('where a folder is listed and does not open, as one that may not be seen', async () => {
    expect(await failureOf(await withSub([true, true, true, true]))).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(/\/dav\/sub is listed, and not there when it is opened$/),
    });
  });

  test('but is read where a folder went while the list was made', async () => {
    const parts = await (await withSub([true, true])).parts(calm);
    expect(parts.map(({ name }) => name.replace(/.*\//, ''))).toEqual(['x.csv']);
  });

  test.each<[string, Answer]>([
    ['is another one by now', (_request, response) => response.writeHead(200, { etag: '"v2"' }).end(csv)],
    ['does not fit If-Match', (_request, response) => response.writeHead(412).end()],
    ['has another length', (_request, response) => response.writeHead(200, { etag }).end(csv.slice(0, -3))],
    ['is gone', (_request, response) => response.writeHead(404).end()],
  ])('where a file %s', async (_why, get) => {
    const source = await shareOf({ get });
    const [part] = await source.parts(calm);
    await expect(readWhole(source, part)).rejects.toMatchObject({ code: 'part.changing' });
  });

  test.each([
    ['does not show its tag', {}],
    ['shows a weak tag', { etag: 'W/"v1"' }],
  ])('where the answer %s, and the list after it has another one', async (_what, headers) => {
    let reads = 0;
    const url = await receiver((request, response) => {
      if (request.method === 'PROPFIND')
        return response.writeHead(207).end(listOf([{ href: '/dav/x.csv' }]).replace('"v1"', `"v${reads + 1}"`));
      reads++;
      return response.writeHead(200, headers).end(csv);
    });
    const source = openSource('csv', { files: [`${url}/dav/*.csv`] }, '/', laterClock(0));
    await expect(readWhole(source)).rejects.toMatchObject({ code: 'part.changing' });
  });

  test('where a file without a tag has another time after it was read', async () => {
    let reads = 0;
    const at = (minute: number): string =>
      listOf([
        {
          href: '/dav/x.csv',
          properties: plain.replace(/<D:getetag>.*<\/D:getetag>/, '').replace('03:04', `03:0${minute}`),
        },
      ]);
    const url = await receiver((request, response) => {
      if (request.method === 'PROPFIND') return response.writeHead(207).end(at(reads));
      reads++;
      return response.writeHead(200).end(csv);
    });
    const source = openSource('csv', { files: [`${url}/dav/*.csv`] }, '/', laterClock(0));
    await expect(readWhole(source)).rejects.toMatchObject({ code: 'part.changing' });
  });
});

test('what a pattern does not mean may be hidden', async () => {
  const list = withMore(
    listOf([{ href: '/dav/a/', properties: folder }, { href: '/dav/a/x.csv' }]),
    failing('/dav/a/private/', '403 Forbidden'),
  );
  const parts = await (await shareOf({ list })).parts(calm);
  expect(parts.map(({ name }) => name.replace(/.*\//, ''))).toEqual(['x.csv']);
});

test.each(['404 Not Found', '410 Gone'])(
  'what is listed, and is not there, leaves no whole list: %s',
  async (status) => {
    const list = withMore(
      listOf([{ href: '/dav/a/', properties: folder }, { href: '/dav/a/x.csv' }]),
      failing('/dav/a/y.csv', status),
    );
    await expect((await shareOf({ list })).parts(calm)).rejects.toMatchObject({
      code: 'source.unreadable',
      message: expect.stringContaining(`y.csv has the status ${status}`),
    });
  },
);

test('a weak tag may stay while the content changes: the date tells versions apart beside it', async () => {
  let minute = 4;
  const url = await receiver((request, response) => {
    if (request.method !== 'PROPFIND') return response.writeHead(200).end(csv);
    const properties = plain.replace('"v1"', 'W/"v1"').replace('03:04', `03:0${minute}`);
    return response.writeHead(207).end(listOf([{ href: '/dav/x.csv', properties }]));
  });
  const source = openSource('csv', { files: [`${url}/dav/*.csv`] }, '/', laterClock(0));
  const [before] = await source.parts(calm);
  expect(await readWhole(source, before)).toMatchObject(table);
  minute = 5;
  const [after] = await source.parts(calm);
  expect(after!.version).not.toBe(before!.version);
});

test('a file of which the share tells neither a tag nor a time is read, and is another one at each look', async () => {
  const properties = plain.replace(/<D:(getetag|getlastmodified)>.*?<\/D:\1>/g, '');
  const list = listOf([{ href: '/dav/x.csv', properties }]);
  const url = await receiver((request, response) =>
    request.method === 'PROPFIND' ? response.writeHead(207).end(list) : response.writeHead(200).end(csv),
  );
  const source = openSource('csv', { files: [`${url}/dav/*.csv`] }, '/', laterClock(0));
  const [before] = await source.parts(calm);
  expect(await readWhole(source, before)).toMatchObject(table);
  expect((await source.parts(calm))[0]!.version).not.toBe(before!.version);
});

test.each([
  [200, 'is this the address of a WebDAV share, and no login page?'],
  [401, 'check user, password or token of dav, and what that user may see'],
  [405, 'is this the address of a WebDAV share, and no login page?'],
  [500, 'the server failed: it is tried again'],
])('a share that answers %i says what to do in the words of the config', async (status, hint) => {
  const url = await receiver((_request, response) => response.writeHead(status).end());
  const source = openSource('csv', { files: [`${url}/dav/*.csv`] }, '/', laterClock(0));
  expect(await failureOf(source)).toMatchObject({ code: 'source.unreadable', hint });
});

describe('two users of one server', () => {
  /** A server that shows each user files of another content, and its address for a user. */
  const serverOf = async (): Promise<(user: string) => string> => {
    const url = await receiver((request, response) => {
      if (request.method !== 'PROPFIND') return response.writeHead(200, { etag }).end(csv);
      return response.writeHead(207).end(listOf([{ href: '/out/a.csv' }]));
    });
    return (user) => (user === '' ? url : url.replace('//', `//${user}:x@`));
  };

  test('are refused in the config where all else is the same', async () => {
    const at = await serverOf();
    const open = (...users: string[]) =>
      openSource('csv', { files: users.map((user) => `${at(user)}/out/*.csv`) }, '/', laterClock(0));
    const refused = 'the same files as those of files[0], for another user';
    expect(() => open('alice', 'bob')).toThrow(refused);
    expect(() => open('', 'bob')).toThrow(refused);
    expect(await open('alice', 'alice').parts(calm)).toHaveLength(1);
  });

  test('are not read where a file of each has the same name', async () => {
    const at = await serverOf();
    const files = [`${at('alice')}/out/*.csv`, `${at('bob')}/out/a*`];
    const error = await failureOf(openSource('csv', { files }, '/', laterClock(0)));
    expect(error).toMatchObject({
      code: 'source.unreadable',
      message: `${at('')}/out/a.csv is there for two users: by ${at('')}/out/*.csv and by ${at('')}/out/a*`,
      hint: expect.stringContaining('a source for each user'),
    });
    const dav = { token: 'abc' };
    expect(await openSource('csv', { files, dav }, '/', laterClock(0)).parts(calm)).toHaveLength(1);
  });
});
