/** What people type who have not read the manual. */
import { describe, expect, test } from 'vitest';
import { commandLine } from '../support/command-line.ts';

describe('another name for a command', () => {
  test.each([
    [['validate'], '"driver-sync check" does that'],
    [['start'], '"driver-sync run" does that'],
    [['undo', '41'], '"driver-sync rollback 41" does that'],
    [['why', 'revenue/north', '2026-03'], '"driver-sync explain revenue/north 2026-03" does that'],
    [['stop'], '"driver-sync status" shows its pid: kill PID, or systemctl stop driver-sync'],
    [['reload'], '"driver-sync status" shows its pid: kill -HUP PID, or systemctl reload driver-sync'],
  ])('%j', async (typed, hint) => {
    const { code, stderr, stdout } = await commandLine(...typed);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toContain(`driver-sync: unknown command '${typed[0]}'\n  ${hint}\n`);
  });
});

describe('an option that another command is', () => {
  test.each([
    [['sync', '--dry-run'], '"driver-sync plan" says what would be sent, and sends nothing'],
    [['sync', '--watch'], '"driver-sync run" goes on until it is stopped'],
    [['status', '--watch'], '"watch driver-sync status" looks again and again'],
    [['run', '--once'], '"driver-sync sync" is one pass'],
    [['check', '-v'], '--log-level debug says more'],
    [['status', '-o', 'json'], '--json prints data as JSON'],
  ])('%j', async (typed, hint) => {
    const { code, stderr } = await commandLine(...typed);
    expect(code).toBe(64);
    expect(stderr).toContain(`unknown option '${typed[1]}'`);
    expect(stderr).toContain(hint);
  });
});

test('nobody who wants to look again is sent to what would begin to push', async () => {
  for (const command of ['status', 'plan', 'history', 'check']) {
    for (const option of ['--watch', '--daemon', '--once']) {
      const { stderr } = await commandLine(command, option);
      expect(stderr, `${command} ${option}`).not.toMatch(/driver-sync (run|sync)"/);
    }
  }
});

test('approve without a digest says where the digest stands', async () => {
  const { code, stderr } = await commandLine('approve');
  expect(code).toBe(64);
  expect(stderr).toContain('"driver-sync status" names what is held, with the digest that approves it');
});

test('a script is told the same', async () => {
  expect((await commandLine('validate', '--json')).json()).toEqual({
    error: { code: 'usage', message: "unknown command 'validate'", hint: '"driver-sync check --json" does that' },
    exit: 64,
  });
});

test.each([
  [['statsu', '--json'], "unknown command 'statsu'", 'did you mean status?'],
  [['plan', '--al', '--json'], "unknown option '--al'", 'did you mean --all?'],
  [['explain', '--json'], "missing required argument 'driver'", '"driver-sync explain --help" shows what it takes'],
  [['help', 'me', '--json'], "unknown command 'me'", '"driver-sync --help" shows the commands'],
  [
    ['--json', 'status'],
    "unknown option '--json'",
    'options stand behind the command: driver-sync status --config FILE',
  ],
])('a script gets the hint that a person gets: %j', async (typed, message, hint) => {
  const { code, json } = await commandLine(...typed);
  expect(code).toBe(64);
  expect(json()).toEqual({ error: { code: 'usage', message, hint }, exit: 64 });
});

test('what resembles a command is still guessed by its letters', async () => {
  expect((await commandLine('statsu')).stderr).toContain('(Did you mean status?)');
});
