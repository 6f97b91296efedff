import { chmodSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { exposureWarnings, fileMode } from '../../src/config/exposure.ts';
import { settings } from '../support/config-world.ts';

const sources = (lines = ''): string => `sources:
  s: { type: http, url: "http://reports.example.com/a.csv", drivers: [{ path: [a], time: "{t}", value: "{v}" }]${lines} }
`;
const files = (lines: string): string => `destination: emulator
sources:
  s: { type: csv, drivers: [{ path: [a], time: "{t}", value: "{v}" }], ${lines} }
`;
const destination = (lines: string): string => `destination: { ${lines} }\nsources: {}\n`;

/** Warnings for a config whose files have these permissions, 0600 unless named. */
function warnings(yaml: string, modes: Readonly<Record<string, number>> = {}): string[] {
  const made = settings(yaml, { files: { token: 'abc' } });
  const dir = path.dirname(made.file);
  for (const name of ['driver-sync.yaml', 'token']) chmodSync(path.join(dir, name), modes[name] ?? 0o600);
  return exposureWarnings(made, fileMode).map((warning) => warning.replaceAll(`${dir}/`, ''));
}

describe('a token that crosses the network unencrypted', () => {
  const crosses = (where: string, host: string): string =>
    `${where}: what it says to ${host} to be let in crosses the network unencrypted: use https`;

  test.each([
    [destination('url: "http://drivers.example.com:8080", token: abc'), 'destination', 'drivers.example.com:8080'],
    [destination('url: "http://10.0.0.7", tokenFile: token'), 'destination', '10.0.0.7'],
    [destination('url: "http://a.example", headers: { Authorization: x }'), 'destination', 'a.example'],
    [`destination: emulator\n${sources(', token: abc')}`, 'source s', 'reports.example.com'],
    [`destination: emulator\n${sources().replace('http://', 'http://me:secret@')}`, 'source s', 'reports.example.com'],
    [files('files: ["http://me:secret@dav.example/x/*.csv"]'), 'source s', 'dav.example'],
    [files('files: ["http://dav.example/x/*.csv"], dav: { token: abc }'), 'source s', 'dav.example'],
    [
      `destination: emulator\n${sources(', oauth: { tokenUrl: "https://x/t", clientId: a, clientSecret: b }')}`,
      'source s',
      'reports.example.com',
    ],
  ])('is warned of: %s', (yaml, where, host) => expect(warnings(yaml)).toEqual([crosses(where, host)]));

  test.each([
    destination('url: "https://drivers.example.com", token: abc'),
    destination('url: "http://localhost:8787", token: abc'),
    destination('url: "http://127.0.0.2", token: abc'),
    destination('url: "http://[::1]:8787", token: abc'),
    destination('url: "http://drivers.example.com"'),
    `destination: emulator\n${sources()}`,
    files('files: ["https://me:secret@dav.example/x/*.csv", "http://open.example/*.csv", a.csv]'),
    files(
      'files: ["s3://exports/*.csv"], s3: { endpoint: "http://minio.example", accessKeyId: a, secretAccessKey: b }',
    ),
  ])('is not there: %s', (yaml) => expect(warnings(yaml)).toEqual([]));
});

describe('a file that other users can get at', () => {
  const yaml = destination('url: "https://drivers.example.com", tokenFile: token');

  test.each([
    [{ 'driver-sync.yaml': 0o644, token: 0o640 }, []],
    [
      { 'driver-sync.yaml': 0o666 },
      ['every user of this machine can change driver-sync.yaml, and with it what is pushed and where: chmod o-w'],
    ],
    [{ token: 0o644 }, ['destination: every user of this machine can read the token file token: chmod 600']],
    [{ token: 0o602 }, ['destination: every user of this machine can change the token file token: chmod 600']],
  ])('with %j', (modes, expected) => expect(warnings(yaml, modes)).toEqual(expected));

  test.each([
    'files: ["sftp://me@host/*.csv"], sftp: { keyFile: token }',
    'files: ["s3://exports/*.csv"], s3: { accessKeyId: a, secretAccessKeyFile: token }',
  ])('may hold what lets in to other machines: %s', (lines) => {
    expect(warnings(files(lines), { token: 0o604 })).toEqual([
      'source s: every user of this machine can read the token file token: chmod 600',
    ]);
  });

  test('may be the token file of a source', () => {
    const at = `destination: emulator\n${sources(', tokenFile: token').replace('http://', 'https://')}`;
    expect(warnings(at, { token: 0o604 })).toEqual([
      'source s: every user of this machine can read the token file token: chmod 600',
    ]);
  });
});
