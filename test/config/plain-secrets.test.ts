/** Secrets that stand in the config itself, which `check` warns of. */
import { describe, expect, test } from 'vitest';
import { maskConfig } from '../../src/config/masked.ts';
import { load } from '../support/config-world.ts';

const secret = 'canary0123456789abcdef';
const source = (keys: string): string =>
  `destination: emulator\nsources:\n  s: { type: http, url: "https://a.example/x", format: json, ${keys}, drivers: [{ path: [a], time: "{t}", value: "{v}" }] }\n`;

/** Where they stand, and what. */
function exposed(yaml: string, env: NodeJS.ProcessEnv = {}): string[] {
  const found = load(yaml, { env }).exposed;
  expect(JSON.stringify(found)).not.toContain(secret);
  return found.map(({ line, path, message }) => `${line} ${path}: ${message.replace(/ stands in the file.*/, '')}`);
}

test.each([
  [`destination: { url: "https://a.example", token: ${secret} }\nsources: {}\n`, '1 destination.token: the token'],
  [
    `destination: { url: "https://a.example", headers: { Authorization: "Bearer ${secret}" } }\nsources: {}\n`,
    '1 destination.headers.Authorization: the header Authorization',
  ],
  [source(`token: ${secret}`), '3 sources.s.token: the token'],
  [
    source('poll: 1m').replace(
      'type: http, url: "https://a.example/x", format: json',
      `type: command, command: [x], format: csv, env: { PGPASSWORD: ${secret} }`,
    ),
    '3 sources.s.env.PGPASSWORD: the variable PGPASSWORD',
  ],
  [source(`headers: { X-Api-Key: ${secret} }`), '3 sources.s.headers.X-Api-Key: the header X-Api-Key'],
  [
    source('poll: 1m').replace('https://a.example/x', `https://me:${secret}@a.example/x`),
    '3 sources.s.url: the password of the address',
  ],
  [
    `destination: emulator\nheartbeat: "https://ping.example/${secret}"\nsources: {}\n`,
    '2 heartbeat: an address that lets in whoever knows it',
  ],
])('is told with its place, and never shown', (yaml, where) => {
  expect(exposed(yaml)).toEqual([where]);
});

test('what comes from the environment or a file does not stand in the config', () => {
  const env = { TOKEN: secret, HOOK: `https://ping.example/${secret}` };
  expect(
    exposed('destination: { url: "https://a.example", token: "${TOKEN}" }\nheartbeat: "${HOOK}"\nsources: {}\n', env),
  ).toEqual([]);
  expect(exposed('destination: { url: "https://a.example", tokenFile: token }\nsources: {}\n')).toEqual([]);
});

test('columns and texts of data may be called as they like', () => {
  expect(exposed(source('where: { token: x }, maps: { token: { a: b } }'))).toEqual([]);
});

describe('a secret among the arguments of a command', () => {
  const inCommand = (command: string): string[] => {
    const yaml = `destination: emulator\nsources:\n  s: { type: command, command: ${command}, format: csv, drivers: [{ path: [a], time: "{t}", value: "{v}" }] }\n`;
    const found = load(yaml, { env: { PW: secret } }).exposed;
    expect(JSON.stringify(found)).not.toContain(secret);
    return found.map(({ path, message }) => `${path}: ${message}`);
  };
  const plain =
    'stands in the file, and is an argument of a program, which every user of this machine can see while it runs';

  test.each([
    [`[x, --password, ${secret}]`, `sources.s.command[2]: the value of --password ${plain}`],
    [`[x, "--api-key=${secret}"]`, `sources.s.command[1]: the value of --api-key ${plain}`],
    [`[curl, -u, "ann:${secret}"]`, `sources.s.command[2]: the password at -u ${plain}`],
    [`[curl, -H, "Authorization: Bearer ${secret}"]`, `sources.s.command[2]: the Authorization ${plain}`],
    [`[curl, "https://ann:${secret}@a.example/"]`, `sources.s.command[1]: the password of the address ${plain}`],
    [`[sh, -c, "PGPASSWORD='${secret}' psql"]`, `sources.s.command[2]: the PGPASSWORD ${plain}`],
    [`[mysql, -u, ann, "-p${secret}", books]`, `sources.s.command[3]: the password at -p ${plain}`],
    [`[/usr/bin/sshpass, -p, ${secret}, ssh, a.example]`, `sources.s.command[2]: the password at -p ${plain}`],
    [
      `[bash, -c, "set -e; mysqldump -uann -p${secret} books | gzip"]`,
      `sources.s.command[2]: the password at -p ${plain}`,
    ],
    [`[sqlcmd, -S, db, -P, ${secret}]`, `sources.s.command[4]: the password at -P ${plain}`],
    [
      `[bash, -c, "curl --fail 'https://ann:${secret}@a.example/x' | jq ."]`,
      `sources.s.command[2]: the password of the address ${plain}`,
    ],
    [
      '[mysql, "-p${PW}", books]',
      'sources.s.command[1]: the password at -p is an argument of a program, which every user of this machine can see while it runs; it comes from ${PW}',
    ],
    [
      '[x, "--token=${PW}"]',
      'sources.s.command[1]: the value of --token is an argument of a program, which every user of this machine can see while it runs; it comes from ${PW}',
    ],
  ])('%s is told with its place, and never shown', (command, told) => {
    expect(inCommand(command)).toEqual([told]);
  });

  test('is looked for among whatever else stands there', () => {
    expect(inCommand('[x, { a: b }, --token, [c], 5]')).toEqual([]);
  });

  test.each([
    '[x, --password-file, /run/secrets/pw]',
    '[x, --key, id.pem, --token, "@token.txt"]',
    `[sh, -c, 'mysql -p"$PW" --password="$PW" books | sort -k 2']`,
    '[x, --tokens, "5", "monkey=banana", "-u", "ann"]',
    '[x, "https://a.example:8443/x?y=z"]',
    '[mysql, -p, books]',
    '[ssh, -p2222, a.example]',
    `[sh, -c, "mysql -e 'select 1' | ssh -p 2222 a.example 'mkdir -p /data'"]`,
  ])('%s holds none', (command) => {
    expect(inCommand(command)).toEqual([]);
  });
});

describe('a problem of the config shows nothing that may be secret', () => {
  const kind = (type: string, keys: string): string =>
    `destination: emulator\nsources:\n  s: { type: ${type}, ${keys}, drivers: [{ path: [a], time: "{t}", value: "{v}" }] }\n`;
  const command = (keys: string): string => kind('command', `format: csv, ${keys}`);
  const web = (keys: string): string => kind('http', `url: "https://a.example/x", format: json, ${keys}`);
  const top = (keys: string): string => `destination: emulator\n${keys}\nsources: {}\n`;

  test.each([
    ['arguments without brackets', command(`command: "curl -u ann:${secret}"`)],
    ['variables as a text', command(`command: [x], env: "PW=${secret}"`)],
    ['headers as a text', web(`headers: "Authorization: ${secret}"`)],
    ['headers that look like a file', web(`headers: ${secret}.abc`)],
    ['a client as a text', web(`oauth: ${secret}`)],
    ['keys of a store as a text', kind('csv', `files: [a], s3: ${secret}`)],
    ['an address without brackets', kind('csv', `files: "sftp://ann:${secret}@a.example/*.csv"`)],
    ['headers of all sources', `defaults: { headers: "Authorization: ${secret}" }\n${web('poll: 1m')}`],
    ['a hook as a text', top(`notify: "https://hooks.example/${secret}"`)],
    ['a database as a list', top(`ledger: [${secret}]`)],
  ])('%s', (_what, yaml) => {
    const { problems } = load(yaml);
    expect(problems).not.toEqual([]);
    expect(JSON.stringify(problems)).not.toContain(secret);
  });

  test.each([
    ['a destination as a list', `destination: ["https://a.example", ${secret}]\n`],
    ['a token in braces', `destination: { url: "https://a.example", token: { ${secret}: null } }\n`],
  ])('and neither does a masked config: %s', (_what, yaml) => {
    const { text } = maskConfig(yaml, {});
    expect(text).toContain('***');
    expect(text).not.toContain(secret);
  });
});
