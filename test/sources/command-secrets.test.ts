/** What messages about a program do not repeat of its arguments. */
import { describe, expect, test } from 'vitest';
import { mask } from '../../src/http/masking.ts';
import { secretsInCommand } from '../../src/sources/command/secrets.ts';

/** What a message shows of a program's own words where the program repeats its arguments. */
const shown = (command: readonly string[]): string => mask(command.slice(1).join(' '), secretsInCommand(command));

describe('of a secret nothing is shown', () => {
  test.each([
    ['in an option', ['x', '--password', 'hunter2']],
    ['in an option with a mark', ['x', '--api-token=hunter2']],
    ['at a short option', ['mysqldump', '-phunter2']],
    ['in a login', ['curl', '-u', 'ann:hunter2']],
    ['in a header', ['curl', '-H', 'Authorization: Bearer hunter2']],
    ['in an address', ['curl', 'https://ann:hunter2@books.example/']],
    ['in the text of a shell', ['bash', '-c', 'export.sh --all --password hunter2 | sort']],
    ['in the text of a shell, with a mark', ['bash', '-c', 'export.sh --password=hunter2;sort']],
    ['in the text of a shell, in quotes', ['bash', '-c', `export.sh --password='hunter2' "--token" "hunter2"`]],
    ['in a variable of the text of a shell', ['sh', '-c', 'PGPASSWORD=hunter2 psql -c "select 1"']],
    ['in a header in the text of a shell', ['sh', '-c', `curl -H 'X-Api-Key: hunter2' https://books.example`]],
    ['in a login in the text of a shell', ['sh', '-c', 'curl --user "ann:hunter2" https://books.example']],
    ['in an address in the text of a shell', ['sh', '-c', `curl 'https://books.example/x?token=hunter2' | jq .`]],
    ['behind a short option', ['sshpass', '-p', 'hunter2', 'sftp', 'books.example']],
    ['behind a short option in the text of a shell', ['sh', '-c', 'redis-cli -a hunter2 get books']],
    ['at a short option in the text of a shell', ['sh', '-c', 'mysql -u ann -phunter2 books']],
  ])('%s', (_where, command) => {
    expect(shown(command)).toContain('***');
    expect(shown(command)).not.toContain('hunter2');
  });

  test('also where it has several words', () => {
    const command = ['bash', '-c', `export.sh --password "correct horse battery" >out`];
    expect(shown(command)).not.toMatch(/correct|horse|battery/);
  });
});

test('other arguments are shown as they are', () => {
  const command = ['sh', '-c', 'psql --host db.example -c "select region, amount from bookings" | sort -u'];
  expect(shown(command)).toBe(command.slice(1).join(' '));
});
