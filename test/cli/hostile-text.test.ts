/** Names and texts from data that would forge or hide lines of a terminal: line breaks, escape sequences, turned text. */
import { expect, onTestFinished, test } from 'vitest';
import type { Ran } from '../support/command-line.ts';
import { type CommandsWorld, commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';

const hostile = 'x\nFORGED revenue: all is well\u001b[2J\u009b31m\u2028\u202e';
const fileName = 'a\nFORGED.csv';

/** What may not reach a terminal. */
const obeyed = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

function expectHarmless({ stdout, stderr }: Ran, about: string): void {
  for (const line of [...stdout.split('\n'), ...stderr.split('\n')]) {
    expect(line, about).not.toMatch(obeyed);
    expect(line, about).not.toMatch(/^FORGED/);
  }
}

const row = (id: string, rest: string): string => `"${id}",${rest}\n`;

/** A held and an unread source, two pushes, rejects, a carried part: each named by hostile text. */
async function hostileWorld(): Promise<CommandsWorld> {
  const head = 'id,time,value\n';
  const ids = Array.from({ length: 20 }, (_, index) => `${hostile}${index}`);
  const commands = await commandsWorld(
    { revenue: csv('a*.csv'), costs: csv('b*.csv') },
    {
      [fileName]: head + ids.map((id) => row(id, '2026-01,1')).join('') + row(hostile, `2026-01,"${hostile}"`),
      'b.csv': head + row(hostile, '2026-02,1'),
      'b\nFORGED.csv': head + row('carried', '2026-02,1'),
    },
    { guard: { maxRejects: '90%' } },
  );
  await commands.run('sync');
  await commands.at.write('b.csv', head + row(hostile, '2026-02,2'));
  await commands.at.remove('b\nFORGED.csv');
  await commands.run('sync');
  await commands.at.write(fileName, head + row(hostile, `2026-01,"${hostile}"`) + row(`${hostile}0`, '2026-01,3'));
  return commands;
}

test('text from data stays on its line and is shown, in every command and in the log', async () => {
  const { run } = await hostileWorld();
  const commands = [
    ['check'],
    ['plan'],
    ['sync', '--log-level', 'trace'],
    ['status'],
    ['history'],
    ['diff', '1', '2'],
    ['explain', hostile],
    ['explain', 'x'],
    ['explain', `${hostile}0`, '2026-01'],
    ['rejects', hostile],
    ['forget', 'costs', hostile],
    ['forget', 'costs', 'b\nFORGED.csv'],
    ['approve', hostile],
    ['rollback', hostile],
  ];
  for (const args of commands) {
    const ran = await run(...args);
    expect(ran.stdout + ran.stderr, args.join(' ')).not.toBe('');
    expectHarmless(ran, args.join(' '));
    expectHarmless(await run(...args, '--json'), `${args.join(' ')} --json`);
  }
  expect((await run('diff', '1', '2')).stdout).toContain(
    'x\\nFORGED revenue: all is well\\u001b[2J\\u009b31m\\u2028\\u202e',
  );
});

test('JSON is the same data, whatever a terminal would make of it', async () => {
  const { json } = await hostileWorld();
  expect(await json('explain', hostile)).toMatchObject({ driver: hostile, path: [hostile] });
});

test('rejects are exact where a program reads them, and one line each on a terminal', async () => {
  const { run } = await hostileWorld();
  const piped = (await run('rejects', 'revenue')).stdout;
  expect(piped).toContain(`revenue,"${fileName}",21,`);
  expect(piped).toContain(`"""${hostile}"",2026-01,""${hostile}"""`);

  const { isTTY } = process.stdout;
  process.stdout.isTTY = true;
  onTestFinished(() => void (process.stdout.isTTY = isTTY));
  const shown = await run('rejects', 'revenue');
  expectHarmless(shown, 'rejects');
  expect(shown.stdout.trimEnd().split('\n')).toHaveLength(2);
  expect(shown.stdout).toContain('revenue,a\\nFORGED.csv,21,');
});
