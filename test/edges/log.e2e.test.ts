import { execFileSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { AgentError } from '../../src/core/errors.ts';
import type { Log } from '../../src/core/ports.ts';
import { openLog } from '../../src/edges/log.ts';

/** What a log writes at `level`, line by line. */
function written(level: string, pretty: boolean, use: (log: Log) => void): string[] {
  const stream = new PassThrough();
  use(openLog({ level, pretty, stream, color: false }));
  return String(stream.read() ?? '')
    .trimEnd()
    .split('\n');
}

const json = (use: (log: Log) => void): unknown[] =>
  written('info', false, use).map((line): unknown => JSON.parse(line));

test('a line is JSON with its level as a word and its time in UTC', () => {
  expect(json((log) => log.info('pushed', { digest: 'abc', bytes: 12 }))).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      pid: process.pid,
      digest: 'abc',
      bytes: 12,
      msg: 'pushed',
    },
  ]);
});

test('lines below the level are left out', () => {
  const lines = written('warn', false, (log) => {
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
  });
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['c', 'd']);
});

test('secrets that slipped in are not written', () => {
  const [line] = written('info', false, (log) =>
    log.info('sent', {
      token: 's3cret',
      headers: { authorization: 's3cret' },
      request: { headers: { Authorization: 's3cret' } },
      password: 's3cret',
    }),
  );
  expect(line).toContain('[Redacted]');
  expect(line).not.toContain('s3cret');
});

test('a foreseen failure is told with its hint, a bug with its stack', () => {
  const foreseen = new AgentError('source.unreadable', 'no such file', {
    hint: 'check files',
    cause: new Error('ENOENT'),
  });
  const [first, second] = json((log) => {
    log.error('not read', { error: foreseen });
    log.error('crashed', { error: new TypeError('x is not a function') });
  });
  expect(first).toMatchObject({
    error: { code: 'source.unreadable', message: 'no such file', hint: 'check files', cause: 'ENOENT' },
  });
  expect(first).not.toHaveProperty('error.stack');
  expect(second).toMatchObject({
    error: { name: 'TypeError', message: 'x is not a function', stack: expect.stringContaining('log.e2e.test') },
  });
});

test('a terminal gets lines for a person, in UTC too', () => {
  const [line] = written('info', true, (log) => log.info('pushed', { digest: 'abc' }));
  expect(line).toMatch(/^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\] INFO: pushed \{"digest":"abc"\}$/);
});

test.each([true, false])(
  'text from data neither breaks a line nor reaches a terminal as a command (pretty: %s)',
  (pretty) => {
    const hostile = 'a\nFORGED\u001b[2J\u009b31m\u2028\u202e';
    const lines = written('info', pretty, (log) => {
      log.warn('not read', { source: hostile, error: new AgentError('usage', hostile), parts: [hostile] });
      log.error('broke', { error: new Error(hostile) });
    });
    expect(lines).toHaveLength(2);
    // eslint-disable-next-line no-control-regex
    for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e]/);
  },
);

test('the last line before an exit is written, and a closed pipe is no crash', () => {
  const module = new URL('../../src/edges/log.ts', import.meta.url).href;
  const program = `import { openLog } from ${JSON.stringify(module)};
    const log = openLog({ level: 'info', pretty: false, stream: 2 });
    for (let line = 0; line < 1000; line += 1) log.info('line ' + line);
    process.exit(0);`;
  const run = (redirect: string): string =>
    execFileSync('sh', ['-c', `"$0" --input-type=module --eval "$1" ${redirect}`, process.execPath, program], {
      encoding: 'utf8',
    });
  const lines = run('2>&1').trimEnd().split('\n');
  expect(lines).toHaveLength(1000);
  expect(lines.at(-1)).toContain('line 999');
  expect(run('2>&1 | head -n 1; echo done')).toContain('done');
});
