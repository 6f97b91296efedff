/** What every command is given, and the ways it speaks: data to stdout, talk to stderr. */
import path from 'node:path';
import { openLog } from '../compose/parts.ts';
import { runningAgent } from '../compose/state.ts';
import { findConfigFile } from '../config/find.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Problem } from '../config/problems.ts';
import { AgentError, isAgentError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import type { Settings } from '../core/settings.ts';
import { print } from './output.ts';

export interface CommonOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly logLevel?: string;
}

export interface Context {
  readonly options: CommonOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly version: string;
}

/** A config with problems: all of them, for people and for scripts. */
export class ConfigError extends AgentError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], hint = '"driver-sync check" shows them again') {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    super('config.invalid', `the config has ${count}\n${problems.map(problemLine).join('\n')}`, {
      hint,
    });
    this.problems = problems;
  }
}

export function problemLine({ file, line, column, message, hint }: Problem): string {
  const shown = path.relative(process.cwd(), file);
  const place = shown.startsWith('..') ? file : shown;
  return `${place}:${line}:${column} ${message}${hint === undefined ? '' : ` (${hint})`}`;
}

function configFile(context: Context): string {
  const { options, env, cwd } = context;
  const found = findConfigFile({ ...(options.config === undefined ? {} : { flag: options.config }), env, cwd });
  return path.resolve(cwd, found);
}

export function load(context: Context, secrets: 'required' | 'optional'): LoadedConfig {
  return loadConfig(configFile(context), { env: context.env, secrets });
}

/** The settings for a command that sends nothing: what only a push needs may be missing, what a source needs may not. */
export function loadUnsentSettings(context: Context): Settings {
  const whole = load(context, 'required');
  if (whole.settings !== undefined) return whole.settings;
  const elsewhere = whole.problems.filter(({ path: key }) => !key.startsWith('destination'));
  if (elsewhere.length > 0) throw new ConfigError(whole.problems);
  return loadSettings(context, 'optional');
}

/** The settings. @throws ConfigError, AgentError `config.missing` */
export function loadSettings(context: Context, secrets: 'required' | 'optional'): Settings {
  const { settings, problems } = load(context, secrets);
  if (settings === undefined) throw new ConfigError(problems);
  return settings;
}

export function commandLog({ options }: Context, level = 'warn'): Log {
  const pretty = process.stderr.isTTY;
  return openLog({ level: options.logLevel ?? level, pretty, stream: process.stderr });
}

/** Data, as one line of JSON or as text for a person. */
export function answer(context: Context, data: unknown, text: () => string): void {
  print(context.options.json === true ? JSON.stringify(data) : harmless(text()));
}

export function say(text: string): void {
  process.stderr.write(`${harmless(text)}\n`);
}

/** Control characters of data, which could hide lines of a terminal from whoever has to approve them, as escapes. */
function harmless(text: string): string {
  return text.replaceAll(
    /[[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]--[\n\t]]/gv,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Says why a command failed, and gives its exit code. */
export function fail(context: Context, error: unknown): number {
  if (!isAgentError(error)) {
    const bug = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (context.options.json === true) printError({ code: 'bug', message: bug }, 1);
    say(`driver-sync: a bug, please report it\n${bug}`);
    return 1;
  }
  const { code, message, hint, exit } = error;
  if (context.options.json === true) {
    const problems = error instanceof ConfigError ? { problems: error.problems } : {};
    printError({ code, message, ...(hint === undefined ? {} : { hint }), ...problems }, exit);
  } else {
    say(`driver-sync: ${message}${hint === undefined ? '' : `\n  ${hint}`}`);
  }
  return exit;
}

function printError(error: Record<string, unknown>, exit: number): void {
  print(JSON.stringify({ error, exit }));
}

/** When something that was left in the ledger takes effect. */
export function nextStep(settings: Settings): string {
  return runningAgent(settings)?.command === 'run' ? 'the agent takes it up now' : 'the next sync takes it up';
}
