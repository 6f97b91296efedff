/** Secrets that stand in the config itself, which `check` warns of. */
import { expect, test } from 'vitest';
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
