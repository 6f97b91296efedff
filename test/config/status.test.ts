/** `status:`, where the status page listens, and who could look at it. */
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { exposureWarnings, fileMode } from '../../src/config/exposure.ts';
import { problems, rest, settings } from '../support/config-world.ts';

const statusOf = (yaml: string): unknown => settings(`status: ${yaml}${rest}`, { files: { token: 'abc' } }).status;

test.each([
  ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
  ['localhost:0', { host: 'localhost', port: 0 }],
  ['"[::1]:9464"', { host: '::1', port: 9464 }],
  ['Status.Example.com:80', { host: 'status.example.com', port: 80 }],
  [
    '{ listen: "0.0.0.0:9464", hosts: [A.example, 10.0.0.7] }',
    { host: '0.0.0.0', port: 9464, hosts: ['a.example', '10.0.0.7'] },
  ],
])('%s is a place to listen at', (yaml, expected) => {
  expect(statusOf(yaml)).toEqual({ tokenFile: undefined, hosts: [], ...expected });
});

test('the page is off unless it is asked for', () => {
  expect(settings(rest).status).toBeUndefined();
  expect(statusOf('off')).toBeUndefined();
});

test('a token file is relative to the config', () => {
  expect(statusOf('{ listen: "127.0.0.1:9464", tokenFile: token }')).toMatchObject({
    tokenFile: expect.stringMatching(/^\/.*\/token$/),
  });
});

test.each([
  ['9464', 'the host is missing (write 127.0.0.1:9464, or 0.0.0.0:9464 for every address of this machine)'],
  ['":9464"', 'the host is missing (write 127.0.0.1:9464, or 0.0.0.0:9464 for every address of this machine)'],
  [
    '/run/driver-sync.sock',
    'a socket path, and the status page listens at a port (write 127.0.0.1:9464: a proxy finds it there)',
  ],
  [
    'unix:/run/x',
    'a socket path, and the status page listens at a port (write 127.0.0.1:9464: a proxy finds it there)',
  ],
  ['127.0.0.1', 'expected a host and a port (such as 127.0.0.1:9464 or "[::1]:9464")'],
  ['http://127.0.0.1:9464', 'expected a host and a port (such as 127.0.0.1:9464 or "[::1]:9464")'],
  ['127.0.0.1:70000', 'there is no port 70000 (the last one is 65535)'],
])('%s is refused with what to write', (yaml, problem) => {
  expect(problems(`status: ${yaml}${rest}`)).toEqual([`1:9 status: ${problem}`]);
});

test('a token file that is not there or empty is a problem, and so is a name with a scheme', () => {
  const of = (keys: string): string[] =>
    problems(`status: { listen: "127.0.0.1:1", ${keys} }${rest}`, { files: { empty: ' \n' } });
  expect(of('tokenFile: nowhere')).toEqual([expect.stringContaining('it does not exist')]);
  expect(of('tokenFile: empty')).toEqual([expect.stringContaining('the token file is empty')]);
  expect(of('hosts: ["http://a.example"]')).toEqual([expect.stringContaining('expected the name of a host')]);
  expect(of('token: abc')).toEqual([
    expect.stringMatching(/unknown key "token" \(name a file that holds it: tokenFile\)$/),
  ]);
  expect(problems(`status: { tokenFile: x }${rest}`)).toEqual([
    expect.stringContaining('status.listen'),
    expect.stringContaining('it does not exist'),
  ]);
});

test('check warns of a page that others can reach without a token, and of a token that others can read', () => {
  const warnings = (yaml: string, mode = 0o600): readonly string[] => {
    const made = settings(`status: ${yaml}${rest}`, { files: { token: 'abc' } });
    const dir = path.dirname(made.file);
    for (const name of ['driver-sync.yaml', 'token']) chmodSync(path.join(dir, name), mode);
    return exposureWarnings(made, fileMode).map((warning) => warning.replaceAll(`${dir}/`, ''));
  };
  const seen = 'status: whoever reaches 0.0.0.0:9464 sees the numbers: set tokenFile, or listen at 127.0.0.1';
  expect(warnings('0.0.0.0:9464')).toEqual([seen]);
  for (const safe of ['127.0.0.1:9464', 'localhost:9464', '"[::1]:9464"']) expect(warnings(safe), safe).toEqual([]);
  const withToken = '{ listen: "0.0.0.0:9464", tokenFile: token }';
  expect(warnings(withToken)).toEqual([]);
  expect(warnings(withToken, 0o644)).toEqual([
    'status: every user of this machine can read the token file token: chmod 600',
  ]);
});
