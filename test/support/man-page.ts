/** `man/driver-sync.1`, made of the definitions of the commands. */
import type { ArgumentSpec, CommandSpec } from '../../src/cli/command-spec.ts';

export function manPage(commands: readonly CommandSpec[]): string {
  return `${[
    '.\\" Made by test/support/update-man-page.ts of the definitions of the commands: do not edit.',
    '.TH DRIVER-SYNC 1 "" driver-sync "User commands"',
    '.SH NAME',
    'driver\\-sync \\- keep the drivers of a planning service equal to files and databases',
    '.SH SYNOPSIS',
    '.B driver\\-sync',
    '.I COMMAND',
    '.RI [ OPTIONS ]',
    '.SH DESCRIPTION',
    text(
      'driver-sync reads monthly series of numbers from exports and databases and keeps a planning service equal to them. It deletes nothing without evidence, changes no digit, and can say where every number came from.',
    ),
    '.PP',
    text('Start with'),
    '.BR "driver\\-sync init \\-\\-from" " \\fIFILE\\fR...,"',
    text('which proposes a config for files of your own, and then'),
    '.BR "driver\\-sync check" .',
    '.SH COMMANDS',
    ...commands.flatMap(commandSection),
    '.SH EXIT STATUS',
    ...exits.flatMap(([code, what]) => ['.TP', `.B ${code}`, text(what)]),
    '.SH FILES',
    text('The config is the one of --config, else the first of these:'),
    ...files.flatMap((file) => ['.TP', `.I ${text(file)}`, text(file.startsWith('$') ? 'the file that it names' : '')]),
    '.SH ENVIRONMENT',
    ...environment.flatMap(([name, what]) => ['.TP', `.B ${text(name)}`, text(what)]),
    '.SH SEE ALSO',
    text(
      'The documents of the package, in its folder docs: CONFIG.md has every key of the config, OPERATIONS.md what to do when something is held, unread or refused.',
    ),
  ].join('\n')}\n`;
}

const exits: readonly (readonly [string, string])[] = [
  ['0', 'done, or nothing to do'],
  ['1', 'a bug'],
  ['2', 'from plan only: there are changes'],
  ['3', 'a source was not read, or a part is gone and its data is carried'],
  ['4', 'something is held, or nothing may be pushed yet'],
  ['5', 'the service refused the push'],
  ['64', 'usage, or an unknown driver, month, push or digest'],
  ['65', 'what is kept was damaged or altered'],
  ['75', 'the service or the state directory is not available now'],
  ['78', 'the config is wrong, or there is no state'],
];

const files = [
  '$DRIVER_SYNC_CONFIG',
  './driver-sync.yaml',
  './config/driver-sync.yaml',
  '/etc/driver-sync/config.yaml',
];

const environment: readonly (readonly [string, string])[] = [
  ['DRIVER_SYNC_CONFIG', 'the config, where --config does not name one'],
  ['NO_COLOR', 'no colours on a terminal'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'the proxy to reach addresses through'],
];

function commandSection({ name, summary, arguments: taken, options, examples }: CommandSpec): string[] {
  const usage = taken.map((argument) => `\\fI${text(usageOf(argument))}\\fR`).join(' ');
  return [
    `.SS ${text(name)}${usage === '' ? '' : ` ${usage}`}`,
    text(sentence(summary)),
    ...taken
      .filter(({ description }) => description !== '')
      .flatMap((argument) => ['.TP', `.I ${text(argument.name.toUpperCase())}`, text(argument.description)]),
    ...options.flatMap(({ flags, description, choices }) => [
      '.TP',
      `.B ${text(flags)}`,
      text(description + (choices.length === 0 ? '' : `: ${choices.join(', ')}`)),
    ]),
    '.PP',
    'Examples:',
    '.PP',
    '.EX',
    ...examples.map((example) => `    ${text(`driver-sync ${example}`)}`),
    '.EE',
  ];
}

function usageOf({ name, isRequired, isVariadic }: ArgumentSpec): string {
  const shown = `${name.toUpperCase()}${isVariadic ? '...' : ''}`;
  return isRequired ? shown : `[${shown}]`;
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

/** Text for roff: dashes are typed as they are, and no line begins a request. */
function text(plain: string): string {
  return plain
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('…', '...')
    .replace(/^\./, String.raw`\&.`);
}
