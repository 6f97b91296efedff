/** The command line: every command, its options and its examples. Commands load what they need when they run. */
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { Argument, Command, CommanderError, Option } from 'commander';
import { isAgentError } from '../core/errors.ts';
import { type CommandSpec, keepExamples, specsOf } from './command-spec.ts';
import type { Shell } from './completion.ts';
import type { CommonOptions, Context } from './context.ts';
import { fail } from './failing.ts';
import type { CheckOptions } from './check.ts';
import type { DiffOptions } from './diff.ts';
import { emulatorOptions } from './emulator-options.ts';
import { refuseEmpty } from './empty.ts';
import type { EmulatorFlags } from './emulator.ts';
import type { SupportOptions } from './support.ts';
import { meant, refusal } from './meant.ts';
import { contextHere } from './working-directory.ts';
import type { PlanOptions } from './plan.ts';
import type { SimulateOptions } from './simulate.ts';
import type { StatusOptions } from './status.ts';

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

const overview = `Examples:
  driver-sync init --from exports/    propose a config for files of your own
  driver-sync check                   is the config right, and what do the sources give?
  driver-sync plan                    what would be created, updated and deleted?
  driver-sync sync                    one pass: read, judge, push
  driver-sync run                     the daemon
  driver-sync explain revenue/north 2026-03

Exit codes:
  0 done, or nothing to do        4 something is held, or nothing may be pushed yet
  1 a bug                         5 the service refused the push
  2 plan: there are changes      64 usage, or an unknown driver, month, push or digest
  3 a source was not read,       65 what is kept was damaged or altered
    or a part is gone            75 the service or the state directory is not available now
                                 78 the config is wrong, or there is no state
`;

type Action = (context: Context) => Promise<number> | number;

/** Runs one command and returns its exit code. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  let exit = 0;
  const version = packageVersion();
  const run = async (options: CommonOptions, action: Action): Promise<void> => {
    const context = contextHere(options, version);
    try {
      exit = await action(context);
    } catch (error) {
      exit = fail(context, error);
    }
  };
  // What commander refuses comes before any command has its options.
  const isJson = argv.includes('--json');
  try {
    await buildProgram(version, run, { argv, isJson }).parseAsync(argv, { from: 'user' });
    return exit;
  } catch (error) {
    const context = contextHere({ json: isJson }, version);
    if (isAgentError(error)) return fail(context, error);
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    if (!isJson) return 64;
    return fail(context, refusal(argv, error));
  }
}

/** The commands as data. */
export function commandSpecs(): readonly CommandSpec[] {
  return specsOf(buildProgram('', async () => undefined, { argv: [], isJson: false }));
}

type Run = (options: CommonOptions, action: Action) => Promise<void>;

interface Typed {
  readonly argv: readonly string[];
  readonly isJson: boolean;
}

function buildProgram(version: string, run: Run, { argv, isJson }: Typed): Command {
  const program = new Command('driver-sync')
    .description("Keeps a planning service's drivers equal to your files and databases.")
    .version(version)
    .addHelpText('before', overview)
    .showHelpAfterError('  "driver-sync --help" shows the commands')
    .exitOverride();
  program.configureOutput({
    outputError: (text, write) => {
      const said = meant(argv, text);
      // A hint of ours is surer than the command that looks most alike.
      const fact = said === undefined ? text : `${text.replace(/\n\(Did you mean .*\)\n$/s, '\n')}  ${said}\n`;
      write(fact.replace(/^error: /, 'driver-sync: '));
    },
    // With --json the error is printed as one, by the caller.
    ...(isJson ? { writeErr: () => undefined } : {}),
  });
  for (const add of [addWorking, addDeciding, addLedger, addLooking, addStarting, addHelping]) add(program, run);
  return program;
}

function command(program: Command, usage: string, summary: string, examples: readonly string[]): Command {
  const made = program.command(usage);
  keepExamples(made, examples);
  return made
    .description(summary)
    .showHelpAfterError(`  "driver-sync ${usage} --help" shows what it takes`)
    .addHelpText('before', `Examples:\n${examples.map((example) => `  driver-sync ${example}`).join('\n')}\n`)
    .option(
      '--config <file>',
      'the config (else $DRIVER_SYNC_CONFIG, ./driver-sync.yaml, ./config/driver-sync.yaml, /etc/driver-sync/config.yaml)',
    )
    .option('--json', 'data as one line of JSON')
    .addOption(new Option('--log-level <level>', 'how much to say on stderr').choices(levels))
    .hook('preAction', refuseEmpty)
    .exitOverride();
}

const formatOption = new Option('--format <format>', 'text, or markdown for a pull request').choices([
  'text',
  'markdown',
]);

function addWorking(program: Command, run: Run): void {
  command(program, 'run', 'the daemon: watches, reads and pushes on the schedule until SIGTERM', [
    'run',
    'run --config /etc/driver-sync/config.yaml --log-level debug',
  ]).action((options: CommonOptions) => run(options, async (context) => (await import('./run.ts')).run(context)));

  command(program, 'sync', 'one pass: read what changed, judge, build, push, record', [
    'sync',
    'sync --force',
    'sync --wake',
    'sync --json | jq .outcome',
  ])
    .option('--force', 'push even if the service has it already')
    .option('--wake', 'beside a running daemon: make it run a pass now, and wait for its end')
    .action((options: CommonOptions & { force?: boolean; wake?: boolean }) =>
      run(options, async (context) => (await import('./sync.ts')).sync(context, options)),
    );

  command(program, 'check', 'validate the config and look into every source; sends no data', [
    'check',
    'check revenue',
    'check --offline',
    'check --destination',
    'check --notify',
    'check --json',
  ])
    .argument('[source...]', 'only these; default: all')
    .option('--offline', 'open no source')
    .option('--destination', 'try the address too: name, TLS, token, and an update that changes and deletes nothing')
    .option('--notify', 'send a test message to everybody whom notify names')
    .action((sources: readonly string[], options: CommonOptions & CheckOptions) =>
      run(options, async (context) => (await import('./check.ts')).check(context, { ...options, sources })),
    );

  command(program, 'plan', 'what sync would do now, with the largest changes of each source; sends nothing', [
    'plan',
    'plan --all',
    'plan --json | jq .changes',
    'plan --format markdown > comment.md',
  ])
    .option('--all', 'all changes, not only the 20 largest of each source')
    .addOption(formatOption)
    .action((options: CommonOptions & PlanOptions) =>
      run(options, async (context) => (await import('./plan.ts')).plan(context, options)),
    );
}

interface Reasoned {
  readonly reason?: string;
}

type ForgetOptions = CommonOptions & Reasoned & { readonly yes?: boolean; readonly closed?: boolean };

const reasonOption = ['--reason <text>', 'why; kept with your name, and shown by history and status'] as const;

function addDeciding(program: Command, run: Run): void {
  command(program, 'approve', 'let a held read pass', [
    'approve 3f9a1c2b',
    'approve 3f9a1c2b --reason "the old regions are closed, ticket 812"',
  ])
    .argument('<digest>', 'its digest in "driver-sync plan", or at least the first 8 characters of it')
    .option(...reasonOption)
    .action((digest: string, options: CommonOptions & Reasoned) =>
      run(options, async (context) => (await import('./approve.ts')).approve(context, digest, options)),
    );

  command(program, 'forget', 'drop what is carried for a part or a source that will not come back', [
    'forget revenue exports/revenue-2023.csv',
    'forget revenue --yes',
  ])
    .argument('<source>')
    .argument('[part]')
    .option('--yes', 'do not ask')
    .option('--closed', 'with --yes: also where points of closed months change')
    .option(...reasonOption)
    .action((source: string, part: string | undefined, { yes = false, ...options }: ForgetOptions) =>
      run(options, async (context) => {
        const { forget } = await import('./forget.ts');
        return forget(context, { source, part }, { yes, ...options });
      }),
    );

  command(
    program,
    'rollback',
    'push an acknowledged snapshot again, and nothing else until sync, SIGUSR2 or a changed config',
    ['rollback 41'],
  )
    .argument('<push>', 'its number in "driver-sync history"')
    .option('--force', 'push before the time that the service asked for with Retry-After')
    .option(...reasonOption)
    .action((push: string, options: CommonOptions & Reasoned & { force?: boolean }) =>
      run(options, async (context) => (await import('./rollback.ts')).rollback(context, push, options)),
    );
}

/** What is done with the ledger itself. */
function addLedger(program: Command, run: Run): void {
  command(program, 'ledger', 'copy the ledger and the archive to the database that agents share, or back', [
    'ledger take-over',
    'ledger give-back',
  ])
    .addArgument(
      new Argument('<way>', 'take-over: from the state directory; give-back: into it').choices([
        'take-over',
        'give-back',
      ]),
    )
    .action((way: string, options: CommonOptions) =>
      run(options, async (context) => (await import('./ledger.ts')).ledger(context, way)),
    );
}

function addLooking(program: Command, run: Run): void {
  command(
    program,
    'status',
    'whether the agent runs, what the last pass and push came to, and what waits for a person',
    ['status', 'status --exit-code --max-age 26h', 'status --live'],
  )
    .option('--exit-code', "exit with the last pass's code")
    .option('--max-age <duration>', 'with --exit-code: 75 where the last pass is older, such as 26h')
    .option('--live', "exit 0 only while a daemon's loop moves")
    .option('--state <dir>', 'with --live: look here too, should the config be away or name another one')
    .action((options: CommonOptions & StatusOptions) =>
      run(options, async (context) => (await import('./status.ts')).status(context, options)),
    );

  command(program, 'history', 'all pushes, newest first', ['history', 'history --json']).action(
    (options: CommonOptions) => run(options, async (context) => (await import('./history.ts')).history(context)),
  );

  command(program, 'diff', 'the difference of two acknowledged snapshots', ['diff 40 41', 'diff 40 41 --all'])
    .argument('<a>', 'a push number')
    .argument('<b>', 'a push number')
    .option('--all', 'all changes, not only the 20 largest (--json always has them)')
    .addOption(formatOption)
    .action((from: string, to: string, options: CommonOptions & DiffOptions) =>
      run(options, async (context) => (await import('./diff.ts')).diff(context, [from, to], options)),
    );

  command(program, 'explain', 'where a number came from', [
    'explain revenue/north',
    'explain "Sales / Revenue" 2026-03',
    'explain revenue/north 2026-03 --rows',
  ])
    .argument('<driver>', 'its id, or its path with "/" between the elements')
    .argument('[month]', 'such as 2026-03')
    .option('--rows', 'read the parts again and list every reading behind the point, with its row and line')
    .action((driver: string, month: string | undefined, options: CommonOptions & { rows?: boolean }) =>
      run(options, async (context) => {
        const { explain } = await import('./explain.ts');
        return explain(context, { driver, month, rows: options.rows === true });
      }),
    );

  command(program, 'verify', 'whether a record of the ledger or an archived snapshot was damaged or altered', [
    'verify',
    'verify --head 412:5f0e…',
    'verify --state /mnt/copy/driver-sync',
  ])
    .option('--head <n:sha256>', 'a head that was noted: prove that the ledger continues it')
    .option('--state <dir>', 'the state directory, where there is no config')
    .action((options: CommonOptions & { head?: string; state?: string }) =>
      run(options, async (context) => (await import('./verify.ts')).verify(context, options)),
    );

  command(program, 'rejects', 'rows of the newest read that could not be used, as CSV', [
    'rejects',
    'rejects revenue > rejects.csv',
  ])
    .argument('[source]')
    .action((source: string | undefined, options: CommonOptions) =>
      run(options, async (context) => (await import('./rejects.ts')).rejects(context, source)),
    );
}

function addEmulator(program: Command, run: Run): void {
  const emulator = command(program, 'emulator', 'serve the emulator of the service', [
    'emulator',
    'emulator --listen 127.0.0.1:9000 --token-file token',
    'emulator --speed 100 --credits 500 --tier 1',
    'emulator --record https://api.example.com recording.jsonl',
    'emulator --replay recording.jsonl',
  ])
    .argument('[file]', 'the recording that --record writes')
    .action((file: string | undefined, options: CommonOptions & EmulatorFlags) =>
      run(options, async (context) => (await import('./emulator.ts')).emulator(context, options, file)),
    );
  for (const [flags, about, fallback] of emulatorOptions) emulator.option(flags, about, fallback);
}

function addHelping(program: Command, run: Run): void {
  command(program, 'simulate', 'play your config in a simulated world full of faults; opens nothing, sends nothing', [
    'simulate',
    'simulate --histories 10000',
    'simulate --seed 4711 --histories 1',
    'simulate --story driver-sync-story-4711.json',
  ])
    .option('--seed <n>', 'the first seed: each one is a history of exports, faults and people, always the same', '1')
    .option('--histories <n>', 'how many of them')
    .option('--workers <n>', 'how many threads play them; the result is the same')
    .option('--story <file>', 'play a story again that an earlier run has written')
    .option('--stories <dir>', 'keep a story of each loss there that a setting lets through')
    .option('--marks', 'print how often each rare thing was reached')
    .action((options: CommonOptions & SimulateOptions) =>
      run(options, async (context) => (await import('./simulate.ts')).simulate(context, options)),
    );

  command(program, 'support', 'write one .tar.gz for a bug report: no secrets, and no rows of data', [
    'support',
    'support --output /tmp/report.tar.gz',
    'support --with-rejects',
  ])
    .option('--output <file>', 'where (else driver-sync-support-TIME.tar.gz here)')
    .option('--with-rejects', 'with the rows that could not be used')
    .action((options: CommonOptions & SupportOptions) =>
      run(options, async (context) => (await import('./support.ts')).support(context, options)),
    );

  command(program, 'mcp', 'serve agent tools on stdin and stdout that look and change nothing', [
    'mcp --config /etc/driver-sync/config.yaml',
  ]).action((options: CommonOptions) => run(options, async (context) => (await import('./mcp.ts')).mcp(context)));
}

function addStarting(program: Command, run: Run): void {
  addEmulator(program, run);

  command(program, 'init', 'write a starter config: with sample data, or proposed for your own files', [
    'init',
    'init finance',
    'init --from exports/revenue-*.csv exports/costs.xlsx',
    'init finance --from exports',
  ])
    .argument('[dir]', 'where', '.')
    .option(
      '--from <file...>',
      'propose a config for these files and folders, with the evidence for each guess as a comment',
    )
    .action((dir: string, { from, ...options }: CommonOptions & { from?: string[] }) =>
      run(options, async (context) =>
        from === undefined
          ? (await import('./init.ts')).init(context, dir)
          : await (await import('./init-from.ts')).initFrom(context, { directory: dir, files: from }),
      ),
    );

  command(program, 'completion', 'print what a shell needs to complete commands, options, sources and digests', [
    'completion bash > /etc/bash_completion.d/driver-sync',
    'completion zsh > ~/.zfunc/_driver-sync',
    'completion fish > ~/.config/fish/completions/driver-sync.fish',
  ])
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action((shell: Shell, options: CommonOptions) =>
      run(options, async () => (await import('./completion.ts')).completion(shell, specsOf(program))),
    );

  // What these completions ask for; nothing for people.
  program
    .command('complete', { hidden: true })
    .argument('<kind>')
    .option('--config <file>')
    .exitOverride()
    .action((kind: string, options: CommonOptions) =>
      run(options, async (context) => (await import('./complete.ts')).complete(context, kind)),
    );

  command(program, 'schema', "print the config's JSON Schema", ['schema > driver-sync.schema.json']).action(
    (options: CommonOptions) => run(options, async () => (await import('./schema.ts')).schema()),
  );
}

function packageVersion(): string {
  const file = findPackageJSON(import.meta.url) ?? '';
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
