import { isUtf8 } from 'node:buffer';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { updateSchema } from '../../src/contract/driver-push.ts';
import { updatePath } from '../../src/contract/update-path.ts';
import { runsOf } from '../support/campaign.ts';
import { driver, emulatorWorld, push, refusalOf, send, streamOf } from '../support/emulator-world.ts';

const good = '{"id":"a","path":["A"],"timeSeries":[{"time":"0","value":"1"}]}';

/** The issues of an update whose second driver is this. */
async function issuesOf(element: string): Promise<Record<string, string>> {
  const refusal = await refusalOf(await emulatorWorld(), `{"extDrivers":[${good},${element}]}`);
  expect(refusal.status).toBe(400);
  return Object.fromEntries(refusal.issues.map(({ path, message }) => [path, message]));
}

describe('a driver is refused', () => {
  const points = (point: string): string => `{"id":"b","path":["B"],"timeSeries":[{"time":"0","value":"0"},${point}]}`;
  const decimal = 'must be a plain number such as "-12.50": no plus, exponent, grouping or symbol';
  const seconds = 'must be UNIX seconds: digits, with or without a minus';
  const atPoint = 'extDrivers[1].timeSeries[1]';

  test.for(['+1', '1.', '.5', '1e3', '1,000', '$1', '1%', ' 1', '1 ', '', '-', 'NaN', '0x1f', '١', '1\\n', '−1'])(
    'for the value "%s"',
    async (value) => {
      expect(await issuesOf(points(`{"time":"1","value":"${value}"}`))).toEqual({ [`${atPoint}.value`]: decimal });
    },
  );

  test.for(['', '-', '+1', '1.0', '2026-03-01', '1e9', ' 1', '1\\n'])('for the time "%s"', async (time) => {
    expect(await issuesOf(points(`{"time":"${time}","value":"1"}`))).toEqual({ [`${atPoint}.time`]: seconds });
  });

  test.for([
    ['a number for a value', points('{"time":"1","value":1}'), `${atPoint}.value`, 'must be a string, not a number'],
    ['a number for a time', points('{"time":1,"value":"1"}'), `${atPoint}.time`, 'must be a string, not a number'],
    ['null for a value', points('{"time":"1","value":null}'), `${atPoint}.value`, 'must be a string, not null'],
    ['a point without a value', points('{"time":"1"}'), `${atPoint}.value`, 'is required'],
    [
      'an unknown key of a point',
      points('{"time":"1","value":"1","unit":"m"}'),
      `${atPoint}.unit`,
      'is not a known key',
    ],
    ['a key twice in a point', points('{"time":"1","time":"1","value":"1"}'), `${atPoint}.time`, 'is given twice'],
    ['a point that is not an object', points('["1","1"]'), atPoint, 'must be an object, not an array'],
    ['an empty id', '{"id":"","path":["B"],"timeSeries":[]}', 'extDrivers[1].id', 'must not be empty'],
    ['a numeric id', '{"id":7,"path":["B"],"timeSeries":[]}', 'extDrivers[1].id', 'must be a string, not a number'],
    ['no id', '{"path":["B"],"timeSeries":[]}', 'extDrivers[1].id', 'is required'],
    ['an empty path', '{"id":"b","path":[],"timeSeries":[]}', 'extDrivers[1].path', 'must not be empty'],
    [
      'an empty path element',
      '{"id":"b","path":["B",""],"timeSeries":[]}',
      'extDrivers[1].path[1]',
      'must not be empty',
    ],
    [
      'a path that is a text',
      '{"id":"b","path":"B","timeSeries":[]}',
      'extDrivers[1].path',
      'must be an array, not a string',
    ],
    ['no timeSeries', '{"id":"b","path":["B"]}', 'extDrivers[1].timeSeries', 'is required'],
    [
      'an unknown key',
      '{"id":"b","path":["B"],"timeSeries":[],"na me":1}',
      'extDrivers[1]["na me"]',
      'is not a known key',
    ],
    [
      '__proto__',
      '{"id":"b","path":["B"],"timeSeries":[],"__proto__":{}}',
      'extDrivers[1].__proto__',
      'is not a known key',
    ],
    ['a key twice', '{"id":"b","path":["B"],"\\u0069d":"b","timeSeries":[]}', 'extDrivers[1].id', 'is given twice'],
    [
      'points twice',
      `{"timeSeries":[],${points('{"time":"1","value":"1"}').slice(1)}`,
      'extDrivers[1].timeSeries',
      'is given twice',
    ],
    [
      'half a surrogate pair',
      '{"id":"\\ud800","path":["B"],"timeSeries":[]}',
      'extDrivers[1].id',
      'must be well-formed Unicode, and holds half a surrogate pair',
    ],
    ['null', 'null', 'extDrivers[1]', 'must be an object, not null'],
    ['a text', '"b"', 'extDrivers[1]', 'must be an object, not a string'],
    ['a number', '7', 'extDrivers[1]', 'must be an object, not a number'],
    ['a list', '[]', 'extDrivers[1]', 'must be an object, not an array'],
  ] as const)('for %s', async ([, element, path, message]) => {
    expect(await issuesOf(element)).toEqual({ [path]: message });
  });

  test('with every issue of every driver, but no more than twenty', async () => {
    expect(await issuesOf(`{"id":"","path":[""],"timeSeries":[]},{"id":"c","path":["C"],"timeSeries":7}`)).toEqual({
      'extDrivers[1].id': 'must not be empty',
      'extDrivers[1].path[0]': 'must not be empty',
      'extDrivers[2].timeSeries': 'must be an array, not a number',
    });
    const many = await issuesOf(`{"id":"b","path":["B"],"timeSeries":[${Array(100).fill('7').join(',')}]}`);
    expect(Object.keys(many)).toHaveLength(20);
  });
});

describe('an update is refused', () => {
  test('with a line for a log, which says the first issue and how many there are besides', async () => {
    const emulator = await emulatorWorld();
    const body = `{"extDrivers":[${good},{"id":"b","path":["B"],"timeSeries":[{"time":"1","value":1},{"time":1,"value":"1"}]}]}`;
    expect(await refusalOf(emulator, body)).toEqual({
      status: 400,
      error: 'extDrivers[1].timeSeries[0].value: must be a string, not a number (and 1 more)',
      issues: [
        { path: 'extDrivers[1].timeSeries[0].value', message: 'must be a string, not a number' },
        { path: 'extDrivers[1].timeSeries[1].time', message: 'must be a string, not a number' },
      ],
    });
  });

  test.for([
    [19, '(and 18 more)'],
    [20, '(and at least 19 more)'],
    [30, '(and at least 19 more)'],
  ] as const)('with %i problems, of which twenty are counted: %s', async ([count, more]) => {
    const emulator = await emulatorWorld();
    const timeSeries = Array.from({ length: count }, () => ({ time: 'x', value: '1' }));
    const { error } = await refusalOf(emulator, JSON.stringify({ extDrivers: [{ id: 'a', path: ['A'], timeSeries }] }));
    expect(error.slice(error.indexOf('('))).toBe(more);
  });

  test.for([
    ['', '', 'cannot be read as JSON: the body is empty at byte 0'],
    ['  ', '', 'cannot be read as JSON: the body is empty at byte 2'],
    ['[]', '', 'must be an object, not an array'],
    ['null', '', 'must be an object, not null'],
    ['"{}"', '', 'must be an object, not a string'],
    [' -1', '', 'must be an object, not a number'],
    ['[1', '', 'cannot be read as JSON: it ends within a value that begins at byte 0'],
    ['nothing', '', 'cannot be read as JSON: "n" where a value should be at byte 0'],
    ['extDrivers=1', '', 'cannot be read as JSON: "e" where the object of an update should be at byte 0'],
    ['{}', 'extDrivers', 'is required'],
    ['{"shouldDeleteMissing":true}', 'extDrivers', 'is required'],
    ['{"extDrivers":{}}', 'extDrivers', 'must be an array, not an object'],
    ['{"extDrivers":null}', 'extDrivers', 'must be an array, not null'],
    ['{"extDrivers":[],"extDrivers":[]}', 'extDrivers', 'is given twice'],
    ['{"extDrivers":[],"dryRun":true}', 'dryRun', 'is not a known key'],
    ['{"shouldDeleteMissing":"true","extDrivers":[]}', 'shouldDeleteMissing', 'must be true or false, not a string'],
    ['{"shouldDeleteMissing":null,"extDrivers":[]}', 'shouldDeleteMissing', 'must be true or false, not null'],
    ['{"extDrivers":[],"shouldDeleteMissing":1', 'shouldDeleteMissing', 'must be true or false, not a number'],
    ['{"extDrivers":[', 'extDrivers[0]', 'cannot be read as JSON: it ends where a value should follow at byte 15'],
    [
      '{"extDrivers":[{"id":"a"',
      'extDrivers[0]',
      'cannot be read as JSON: it ends within a value that begins at byte 15',
    ],
    ['{"extDrivers":[,]}', 'extDrivers[0]', 'cannot be read as JSON: "," where a value should be at byte 15'],
    [
      `{"extDrivers":[${good},]}`,
      'extDrivers[1]',
      `cannot be read as JSON: "]" where a value should be at byte ${good.length + 16}`,
    ],
    [
      `{"extDrivers":[${good} ${good}]}`,
      'extDrivers[0]',
      `cannot be read as JSON: "{" where "," or "]" should be at byte ${good.length + 16}`,
    ],
    [
      '{"extDrivers":[{"id":"a",}]}',
      'extDrivers[0]',
      'cannot be read as JSON: "}" where a key in double quotes should be at byte 25',
    ],
    ["{'extDrivers':[]}", '', 'cannot be read as JSON: "\'" where a key in double quotes or "}" should be at byte 1'],
    ['{"extDrivers":[],}', '', 'cannot be read as JSON: "}" where a key in double quotes should be at byte 17'],
    ['{1:2}', '', 'cannot be read as JSON: "1" where a key in double quotes or "}" should be at byte 1'],
    ['{"extDrivers":[]', '', 'cannot be read as JSON: it ends where "," or "}" should follow at byte 16'],
    ['{"extDrivers":[]} x', '', 'cannot be read as JSON: more text after the end of the object at byte 18'],
    ['\uFEFF', '', 'cannot be read as JSON: the body is empty at byte 3'],
    ['\uFEFF[', '', 'cannot be read as JSON: it ends within a value that begins at byte 3'],
    [' \uFEFF{}', '', 'cannot be read as JSON: byte 0xef where the object of an update should be at byte 1'],
    ['{"extDrivers":[{"é":é}]}', 'extDrivers[0]', 'cannot be read as JSON: "é" where a value should be at byte 21'],
    [
      '{"extDrivers":[{"id":"a\u0001"}]}',
      'extDrivers[0]',
      'cannot be read as JSON: a string with a control character begins at byte 21',
    ],
    [
      '{"extDrivers":[{"id":"\\x"}]}',
      'extDrivers[0]',
      'cannot be read as JSON: a string with an unknown escape begins at byte 21',
    ],
    [
      '{"extDrivers":[{"id":01}]}',
      'extDrivers[0]',
      'cannot be read as JSON: "1" where "," or a closing bracket should be at byte 22',
    ],
    [`{"extDrivers":[${'['.repeat(100_000)}`, 'extDrivers[0]', 'cannot be read as JSON: nested too deeply at byte 79'],
  ] as const)('for %s', async ([body, path, message]) => {
    const { status, issues } = await refusalOf(await emulatorWorld(), body);
    expect(status).toBe(400);
    expect(issues[0]).toEqual({ path, message });
  });

  test.for([
    ['a lone continuation byte', [0x80]],
    ['a lead byte alone', [0xc3, 0x61]],
    ['an overlong form', [0xc0, 0x80]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['a byte that never occurs', [0xff]],
  ] as const)('for invalid UTF-8: %s', async ([, bytes]) => {
    const before = Buffer.from('{"extDrivers":[{"id":"é');
    const body = Buffer.concat([before, Buffer.from(bytes), Buffer.from('","path":["A"],"timeSeries":[]}]}')]);
    const { issues } = await refusalOf(await emulatorWorld(), body);
    expect(issues).toEqual([
      { path: 'extDrivers[0]', message: `cannot be read as JSON: invalid UTF-8 at byte ${before.length}` },
    ]);
  });

  test('for a driver of more than 16 MiB', async () => {
    const body = `{"extDrivers":[{"id":"${'a'.repeat(16 * 1024 * 1024)}","path":["A"],"timeSeries":[]}]}`;
    expect((await refusalOf(await emulatorWorld(), body)).issues).toEqual([
      {
        path: 'extDrivers[0]',
        message: 'cannot be read as JSON: a value of more than 16777216 bytes begins at byte 15',
      },
    ]);
  });

  test('without a body', async () => {
    expect((await refusalOf(await emulatorWorld(), null)).issues).toEqual([
      { path: '', message: 'cannot be read as JSON: the body is empty at byte 0' },
    ]);
  });

  test('and then changes nothing, however much of it was good', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('kept', '0 1')] });
    const many = Array.from({ length: 2_000 }, (_, index) => JSON.stringify(driver(`new-${index}`, '0 1')));
    const body = Buffer.from(`{"shouldDeleteMissing":true,"extDrivers":[${many.join(',')},{"id":""}]}`);
    expect((await send(emulator, streamOf(body, 10_000))).status).toBe(400);
    expect(emulator.drivers()).toEqual([driver('kept', '0 1')]);
  });

  test('exactly if the contract or JSON.parse refuses it, with any wrong byte and any cut', async () => {
    const emulator = await emulatorWorld();
    const base = Buffer.from(
      `{"shouldDeleteMissing":false, "extDrivers":[${good},{ "path":["\\u00e9é\\n"] ,"id":"b","timeSeries":[]}, ` +
        '{"id":"c","path":["C","D"],"timeSeries":[{"value":"-1.50","time":"-9"},{"time":"99","value":"2"}]}]}',
    );
    const anyByte = fc.oneof(fc.constantFrom(...Buffer.from('{}[]",:\\ \n0-.eut1é')), fc.integer({ min: 0, max: 255 }));
    const edit = fc.record({
      at: fc.nat(base.length - 1),
      removed: fc.nat(2),
      added: fc.array(anyByte, { maxLength: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(edit, { maxLength: 2 }),
        fc.integer({ min: 1, max: 200 }),
        async (edits, pieceBytes) => {
          let body = base;
          for (const { at, removed, added } of edits) {
            body = Buffer.concat([body.subarray(0, at), Buffer.from(added), body.subarray(at + removed)]);
          }
          const { status } = await send(emulator, streamOf(body, pieceBytes));
          expect(status).toBe(isGood(body) ? 200 : 400);
        },
      ),
      runsOf(250, 2000),
    );
  });
});

function isGood(body: Buffer): boolean {
  if (!isUtf8(body)) return false;
  try {
    return updateSchema.safeParse(JSON.parse(body.toString())).success;
  } catch {
    return false;
  }
}

describe('a body', () => {
  const update = JSON.stringify({ extDrivers: [driver('a', '0 1')] });

  test('may be gzip', async () => {
    const emulator = await emulatorWorld();
    for (const coding of ['gzip', 'GZIP', 'x-gzip']) {
      expect((await send(emulator, gzipSync(update), { 'content-encoding': coding })).status).toBe(200);
    }
    expect(emulator.drivers()).toEqual([driver('a', '0 1')]);
  });

  test('is refused where it says gzip and is not, or not all of it', async () => {
    const emulator = await emulatorWorld();
    const gzip = { 'content-encoding': 'gzip' };
    for (const [body, why] of [
      [update, 'incorrect header check'],
      [gzipSync(update).subarray(0, -9), 'unexpected end of file'],
    ] as const) {
      const refused = await send(emulator, body, gzip);
      expect(refused.status).toBe(400);
      const message = `content-encoding says gzip, but: ${why}`;
      expect(await refused.json()).toEqual({ error: `the body: ${message}`, issues: [{ path: '', message }] });
      const router = await emulator.fetch('/v1/routers', { method: 'POST', headers: gzip, body });
      expect([router.status, await router.json()]).toEqual([400, { error: message }]);
    }
    expect(emulator.drivers()).toEqual([]);
  });

  test('in another coding is refused with 415', async () => {
    const response = await send(await emulatorWorld(), update, { 'content-encoding': 'br' });
    expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'gzip']);
  });

  test.for([
    ['that says so', { 'content-length': '101' }, (body: Buffer) => body],
    ['that does not say so', {}, (body: Buffer) => body],
    ['that was small before it was expanded', { 'content-encoding': 'gzip' }, (body: Buffer) => gzipSync(body)],
  ] as const)('longer than the limit, %s, is refused with 413', async ([, headers, encode]) => {
    const emulator = await emulatorWorld({ bodyBytesMax: 100 });
    const start = '{"extDrivers":[]}';
    expect(
      (await send(emulator, encode(Buffer.from(start.padEnd(100))), { ...headers, 'content-length': '100' })).status,
    ).toBe(200);
    const tooLong = await send(emulator, streamOf(encode(Buffer.from(start.padEnd(101))), 40), headers);
    expect(tooLong.status).toBe(413);
    expect(await tooLong.json()).toEqual({ error: 'the body is longer than 100 bytes' });
    expect(emulator.requests()[0]).toMatchObject({ status: 413, applied: false });
  });

  test('longer than the limit is refused with 413 while a client still sends it', async () => {
    const { url } = await emulatorWorld({ bodyBytesMax: 100_000 });
    const body = streamOf(Buffer.alloc(4_000_000, ' '), 10_000);
    const response = await fetch(url + updatePath, { method: 'POST', body, duplex: 'half' });
    expect(response.status).toBe(413);
  });

  test('that never ends applies nothing when its client leaves', async () => {
    const emulator = await emulatorWorld();
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(Buffer.from(update));
        controller.error(new Error('left'));
      },
    });
    await expect(send(emulator, body)).rejects.toThrow('fetch failed');
    expect(emulator.drivers()).toEqual([]);
    expect(emulator.requests()[0]).toMatchObject({ status: null, applied: false, sha256: null });
  });
});
