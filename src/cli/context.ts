/** What every command is given, its config, and how it answers. */
import { refuseOtherConfig } from '../compose/agent-config.ts';
import { openLog } from '../compose/parts.ts';
import { stalledSinceMs } from '../compose/stalled.ts';
import { heartbeatOf, runningAgent, stateWarning } from '../compose/state.ts';
import { namesHint } from '../core/nearest.ts';
import type { Environment } from '../config/document.ts';
import { type LoadedConfig, findConfigFile, loadConfig } from '../config/load.ts';
import { AgentError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import type { Settings } from '../core/settings.ts';
import { ConfigError } from './failing.ts';
import { print, printJson, say } from './output.ts';

export interface CommonOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly logLevel?: string;
}

export interface Context {
  readonly options: CommonOptions;
  readonly env: NodeJS.ProcessEnv;
  /** @throws AgentError `usage` where it is gone: to be read where it is needed */
  readonly cwd: string;
  readonly version: string;
}

/** The whole path of the config. @throws AgentError `config.missing` */
export function configFile(context: Context): string {
  const { options, env } = context;
  return findConfigFile({
    ...(options.config === undefined ? {} : { flag: options.config }),
    env,
    get cwd() {
      return context.cwd;
    },
  });
}

export function load(context: Context, secrets: Environment['secrets']): LoadedConfig {
  return loadConfig(configFile(context), { env: context.env, secrets });
}

/** The settings for a command that sends nothing: what only a push needs may be missing, what a source needs may not. */
export function loadUnsentSettings(context: Context): Settings {
  const whole = load(context, 'required');
  if (whole.settings !== undefined) return whole.settings;
  const elsewhere = whole.problems.filter(({ path: key }) => !/^(destination|notify|heartbeat)\b/.test(key));
  if (elsewhere.length > 0) throw new ConfigError(whole.problems);
  return loadSettings(context, 'optional');
}

/** A daemon holds the state directory, or agents share a ledger, of which one may lead. */
export interface BesideAgent {
  /** Without variables and secrets that are not set here: the agent has its own. */
  readonly settings: Settings;
  /** `undefined`: the one that leads is asked, wherever it is. */
  readonly pid: number | undefined;
}

/**
 * For a command that the agent carries out; `undefined`: none can, or the config says nothing of where it would be.
 * @throws AgentError `usage` where it runs with another config
 */
export function loadBesideAgent(context: Context): BesideAgent | undefined {
  const { settings } = load(context, 'optional');
  if (settings === undefined) return undefined;
  if (settings.ledger !== undefined) return { settings, pid: undefined };
  const holder = runningAgent(settings);
  refuseOtherConfig(settings, holder);
  return holder?.command === 'run' && holder.pid !== undefined ? { settings, pid: holder.pid } : undefined;
}

/** The settings. @throws ConfigError, AgentError `config.missing` */
export function loadSettings(context: Context, secrets: Environment['secrets']): Settings {
  const { settings, problems } = load(context, secrets);
  if (settings === undefined) throw new ConfigError(problems);
  return settings;
}

/** The sources of these names. @throws AgentError `usage` */
export function sourcesNamed({ sources }: Settings, names: readonly string[]): Settings['sources'] {
  const known = sources.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new AgentError('usage', `there is no source "${unknown}"`, { hint: namesHint(unknown, known) });
  }
  return sources.filter(({ name }) => names.includes(name));
}

export function commandLog({ options }: Context, level = 'warn'): Log {
  const pretty = process.stderr.isTTY;
  return openLog({ level: options.logLevel ?? level, pretty, stream: process.stderr });
}

/** Data: one line of JSON, or lines for a person. */
export function answer(context: Context, data: unknown, lines: () => readonly string[]): void {
  if (context.options.json === true) printJson(data);
  else print(lines());
}

/** For a format of its own. @throws AgentError `usage` where `--json` asks for another one */
export function refuseJson({ options }: Context): void {
  if (options.json === true)
    throw new AgentError('usage', '--format and --json ask for two formats', { hint: 'say one of them' });
}

/** Says on stderr where other users may look into the state directory. */
export function warnOfState(settings: Settings): void {
  const warning = stateWarning(settings);
  if (warning !== undefined) say(`warning: ${warning}`);
}

/** When something that was left in the ledger takes effect. */
export function nextStep(settings: Settings): string {
  if (settings.ledger !== undefined) return 'the agent that leads takes it up';
  const holder = runningAgent(settings);
  if (holder?.command !== 'run') return 'the next sync takes it up';
  const isStalled = stalledSinceMs(holder, heartbeatOf(settings), Date.now()) !== undefined;
  return isStalled
    ? 'the agent takes it up once its loop moves: see "driver-sync status"'
    : 'the agent takes it up now';
}
