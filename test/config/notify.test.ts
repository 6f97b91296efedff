/** Who is told, as a config says it. */
import { describe, expect, test } from 'vitest';
import { exposureWarnings } from '../../src/config/exposure.ts';
import { noticeEvents } from '../../src/core/telling/notice.ts';
import { parseSmtp } from '../../src/core/telling/smtp.ts';
import { load, settings } from '../support/config-world.ts';

const rest = 'destination: emulator\nsources: {}\n';

describe('notify', () => {
  test('names hooks and people, and is told of everything unless it says otherwise', () => {
    const made = settings(
      `${rest}notify:
  - { url: "https://hooks.example.com/a?key=b" }
  - { url: "https://hooks.example.com/c", format: slack, on: [held, stale] }
  - { email: [finance@example.com, "cfo@example.com"], smtp: "smtps://me:pass@mail.example.com", caFile: ca.pem }
heartbeat: https://ping.example.com/x
`,
      { files: { 'ca.pem': '' } },
    );
    expect(made.heartbeat).toBe('https://ping.example.com/x');
    expect(made.notify).toMatchObject([
      { kind: 'hook', url: 'https://hooks.example.com/a?key=b', format: 'json', on: noticeEvents },
      { kind: 'hook', format: 'slack', on: ['held', 'stale'] },
      {
        kind: 'mail',
        to: ['finance@example.com', 'cfo@example.com'],
        smtp: 'smtps://me:pass@mail.example.com',
        caFile: expect.stringMatching(/^\/.*ca\.pem$/),
      },
    ]);
  });

  test.each([
    ['notify: [{ on: [held] }]', 'notify[0].url', 'nobody to tell'],
    ['notify: { url: "https://a.example" }', 'notify', 'expected a list'],
    ['notify: [{ url: "ftp://secret-key" }]', 'notify[0].url', 'expected an http or https address'],
    ['notify: [{ url: "https://a.example", on: [hold] }]', 'notify[0].on[0]', 'expected "held", "unread", "refused"'],
    ['notify: [{ url: "https://a.example", on: [] }]', 'notify[0].on', 'the list is empty'],
    [
      'notify: [{ url: "https://a.example", format: discord }]',
      'notify[0].format',
      'expected "json", "slack" or "teams"',
    ],
    ['notify: [{ url: "https://a.example", formt: json }]', 'notify[0].formt', 'unknown key "formt"'],
    ['notify: [{ email: [a@b.example] }]', 'notify[0].smtp', '"smtp" is missing'],
    ['notify: [{ smtp: "smtp://a" }]', 'notify[0].email', '"email" is missing'],
    ['notify: [{ email: ["a b@c"], smtp: "smtp://a" }]', 'notify[0].email[0]', 'expected an e-mail address'],
    ['notify: [{ email: [a@b], smtp: "https://secret-key" }]', 'notify[0].smtp', 'the address of a mail server'],
    ['notify: [{ email: [a@b], smtp: "smtp://a", url: "https://b" }]', 'notify[0].url', 'url belongs to a hook'],
    ['notify: [{ url: "https://b", from: a@b }]', 'notify[0].from', 'from belongs to e-mail'],
    ['heartbeat: secret-key', 'heartbeat', 'expected an http or https address'],
    ['heartbeat: [secret-key]', 'heartbeat', 'expected an http or https address'],
  ])('%s', (yaml, path, message) => {
    const { problems } = load(`${rest}${yaml}\n`);
    expect(problems).toEqual([expect.objectContaining({ path, message: expect.stringContaining(message), line: 3 })]);
    expect(JSON.stringify(problems)).not.toContain('secret-key');
  });

  test('needs its variables where something is told, and nowhere else', () => {
    const yaml = `${rest}notify: [{ url: "\${HOOK}" }, { email: [a@b.example], smtp: "\${SMTP_URL}" }]\nheartbeat: "\${PING}"\n`;
    expect(load(yaml).problems.map(({ path }) => path)).toEqual(['notify[0].url', 'notify[1].smtp', 'heartbeat']);
    const { settings: made, problems } = load(yaml, { secrets: 'optional' });
    expect(problems).toEqual([]);
    expect(made).toMatchObject({ notify: [], heartbeat: undefined });
    expect(made?.unaddressed.notify).toEqual([{ on: noticeEvents }, { on: noticeEvents }]);
    expect(made?.unaddressed.heartbeat).toBe(true);
    const { settings: known } = load(`${rest}notify: [{ url: "https://b" }]\n`);
    expect(known?.unaddressed).toEqual({ notify: [], heartbeat: false });
  });
});

describe('the address of a mail server', () => {
  test.each([
    ['smtps://a.example', { port: 465, tls: 'implicit', user: undefined, password: undefined }],
    ['smtps://me%40a.example:p%3A%2F@a.example:4465', { port: 4465, user: 'me@a.example', password: 'p:/' }],
    ['smtp://a.example', { port: 587, tls: 'starttls' }],
    ['smtp://a.example:25?tls=none', { port: 25, tls: 'none' }],
    ['smtp://localhost:25', { host: 'localhost', tls: 'none' }],
    ['smtp://[::1]:25', { host: '::1', tls: 'none' }],
  ])('%s', (text, expected) => expect(parseSmtp(text)).toMatchObject(expected));

  test.each([
    'a.example',
    'mailto:a@b',
    'smtp://',
    'smtp://a/x',
    'smtp://a?tls=no',
    'smtps://a?tls=none',
    'smtp://%:a@b',
  ])('%s is none', (text) => expect(parseSmtp(text)).toHaveProperty('problem'));
});

test('check warns of what is told without encryption over the network', () => {
  const warnings = (yaml: string): readonly string[] => exposureWarnings(settings(`${rest}${yaml}\n`), () => 0o600);
  const crosses = (where: string, host: string, better: string): string =>
    `${where}: what it says to ${host} to be let in crosses the network unencrypted: use ${better}`;
  expect(warnings('notify: [{ url: "http://h.example/key" }]')).toEqual([crosses('notify', 'h.example', 'https')]);
  expect(warnings('heartbeat: "http://h.example/key"')).toEqual([crosses('heartbeat', 'h.example', 'https')]);
  expect(warnings('notify: [{ email: [a@b], smtp: "smtp://u:p@m.example?tls=none" }]')).toEqual([
    crosses('notify', 'm.example', 'smtps'),
  ]);
  expect(warnings('notify: [{ email: [a@b], smtp: "smtp://m.example" }]\nheartbeat: "http://127.0.0.1:1"')).toEqual([]);
});
