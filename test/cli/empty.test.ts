/** Empty options and arguments: what a script gives whose variable is not set. */
import { expect, test } from 'vitest';
import { commandSpecs } from '../../src/cli/program.ts';
import { commandLine } from '../support/command-line.ts';

const wordFor = ({ choices }: { readonly choices: readonly string[] }): string => choices[0] ?? 'word';

const options = commandSpecs().flatMap((command) => {
  const needed = command.arguments.filter(({ isRequired }) => isRequired).map(wordFor);
  const given = command.options.filter(({ takes, choices }) => takes !== 'nothing' && choices.length === 0);
  return given.map(({ long }) => ({ typed: [command.name, ...needed, long], long }));
});

const positions = commandSpecs().flatMap(({ name, arguments: all }) =>
  all
    .filter(({ name: of, choices }) => of !== 'digest' && choices.length === 0)
    .map((one) => ({ typed: [name, ...all.slice(0, all.indexOf(one)).map(wordFor)], argument: one.name })),
);

test.each(options)('$typed refuses an empty value, by its name', async ({ typed, long }) => {
  for (const empty of ['', ' ']) {
    const { code, stdout, stderr } = await commandLine(...typed, empty);
    const said = `driver-sync: ${long} is empty\n  give it a value, or leave it out\n`;
    expect({ code, stdout, stderr }).toEqual({ code: 64, stdout: '', stderr: said });
  }
});

test.each(positions)('$typed refuses an empty $argument', async ({ typed, argument }) => {
  // Whatever follows it has to be there, or that would be what is missing.
  const { code, stderr } = await commandLine(...typed, '', ...(argument === 'a' ? ['41'] : []));
  expect({ code, stderr }).toEqual({ code: 64, stderr: `driver-sync: argument '${argument}' is empty\n` });
});

test('a script is told the same', async () => {
  expect((await commandLine('check', '--json', '--config', '')).json()).toEqual({
    error: { code: 'usage', message: '--config is empty', hint: 'give it a value, or leave it out' },
    exit: 64,
  });
});
