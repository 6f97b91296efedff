/** What people type who have not read the manual, and the command that does it here. */
import type { CommanderError } from 'commander';
import { AgentError } from '../core/errors.ts';

const commands: Readonly<Record<string, string>> = {
  validate: 'check',
  lint: 'check',
  doctor: 'check',
  test: 'check',
  start: 'run',
  daemon: 'run',
  serve: 'run',
  server: 'run',
  watch: 'run',
  once: 'sync',
  push: 'sync',
  apply: 'sync',
  upload: 'sync',
  import: 'sync',
  preview: 'plan',
  'dry-run': 'plan',
  changes: 'plan',
  accept: 'approve',
  confirm: 'approve',
  log: 'history',
  logs: 'history',
  list: 'history',
  pushes: 'history',
  compare: 'diff',
  why: 'explain',
  trace: 'explain',
  lineage: 'explain',
  errors: 'rejects',
  undo: 'rollback',
  revert: 'rollback',
  restore: 'rollback',
  info: 'status',
  ps: 'status',
  health: 'status --live',
  new: 'init',
  setup: 'init',
  create: 'init',
  propose: 'init --from FILE…',
  infer: 'init --from FILE…',
  mock: 'emulator',
  fsck: 'verify',
  audit: 'verify',
  debug: 'support',
  bundle: 'support',
  completions: 'completion SHELL',
  version: '--version',
};

/** Where `of` is there, it is for these commands alone: whoever wants to look again should not start a daemon. `''`: before any command. */
const options: readonly (readonly [pattern: RegExp, says: string, of?: readonly string[]])[] = [
  [
    /^(--dry-?run|-n|--check|--preview|--what-?if|--diff)$/,
    '"driver-sync plan" says what would be sent, and sends nothing',
  ],
  [/^(--watch|-w|--loop)$/, '"watch driver-sync status" looks again and again', ['status']],
  [
    /^(--watch|-w|--daemon|-d|--background|--loop)$/,
    '"driver-sync run" goes on until it is stopped',
    ['', 'sync', 'run'],
  ],
  [/^(--once|--one-?shot)$/, '"driver-sync sync" is one pass', ['', 'sync', 'run']],
  [/^(--verbose|-v+|--debug)$/, '--log-level debug says more'],
  [/^(--quiet|-q|--silent)$/, '--log-level error says less'],
  [/^(-c|-f|--file|--conf|--config-file)$/, '--config names the config'],
  [/^(--output|-o|--format=json|--format)$/, '--json prints data as JSON'],
  [/^(--force|-f)$/, 'only sync and rollback have --force'],
  [/^(--yes|-y)$/, 'only forget asks, and has --yes'],
  [/^(--from|--file)$/, '"driver-sync init --from FILE…" proposes a config for files'],
  // Every command has these, so only one that stands before the command is unknown.
  [/^--(config|json|log-level)$/, 'options stand behind the command: driver-sync status --config FILE'],
  [/^(--token|--url|--host)$/, 'the address and its token stand in the config, under destination'],
];

/** What to do instead of what commander refused; `undefined` where nobody can tell. */
export function meant(argv: readonly string[], message: string): string | undefined {
  const [, option] = /unknown option '([^']+)'/.exec(message) ?? [];
  if (option !== undefined) {
    const [first = ''] = argv;
    const command = first.startsWith('-') ? '' : first;
    return options.find(([pattern, , of]) => pattern.test(option) && of?.includes(command) !== false)?.[1];
  }
  if (message.includes("missing required argument 'digest'"))
    return '"driver-sync status" names what is held, with the digest that approves it';
  const [, command = ''] = /unknown command '([^']+)'/.exec(message) ?? [];
  if (command === 'stop') return '"driver-sync status" shows its pid: kill PID, or systemctl stop driver-sync';
  if (command === 'reload') return '"driver-sync status" shows its pid: kill -HUP PID, or systemctl reload driver-sync';
  if (command === 'restart') return 'systemctl restart driver-sync; a changed config needs only kill -HUP PID';
  const known = Object.hasOwn(commands, command.toLowerCase()) ? commands[command.toLowerCase()] : undefined;
  if (known === undefined) return undefined;
  const words = known.split(' ');
  const rest = argv.slice(argv.indexOf(command) + 1);
  return `"driver-sync ${[...words, ...(words.length === 1 && known !== '--version' ? rest : [])].join(' ')}" does that`;
}

/** What commander refused, with the hint that a person gets. */
export function refusal(argv: readonly string[], { code, message }: CommanderError): AgentError {
  // Commander has no words for `help COMMAND` of a command that is none.
  const said = code === 'commander.help' ? `unknown command '${argv[1] ?? ''}'` : message.replace(/^error: /, '');
  const [, fact = said, near] = /^(.*?)(?:\n\((Did you mean .*)\))?$/s.exec(said) ?? [];
  return new AgentError('usage', fact, {
    hint: meant(argv, fact) ?? near?.replace('Did', 'did') ?? helpFor(argv, fact),
  });
}

function helpFor([command = '-']: readonly string[], fact: string): string {
  return command.startsWith('-') || fact.startsWith('unknown command')
    ? '"driver-sync --help" shows the commands'
    : `"driver-sync ${command} --help" shows what it takes`;
}
