import { readFile, stat } from 'node:fs/promises';
import { AgentError } from '../core/errors.ts';
import type { Emulator, FaultScriptInput, ReplayServer, TapeServer } from '../emulator/index.ts';
import { type Context, answer } from './context.ts';
import { isPortInUse } from './embedded.ts';
import { emulatorOptions } from './emulator-options.ts';
import { print, say } from './output.ts';

export interface EmulatorFlags {
  readonly listen: string;
  readonly state?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly origin?: readonly string[];
  readonly publicUrl?: string;
  readonly forkPorts?: string;
  readonly keepBodies?: string;
  readonly strict?: boolean;
  readonly speed?: string;
  readonly credits?: string;
  readonly tier?: string;
  readonly catalog?: string;
  readonly faults?: string;
  readonly fixtures?: string;
  readonly record?: string;
  readonly replay?: string;
}

const tokenVariable = 'DRIVER_SYNC_EMULATOR_TOKEN';

/** Serves the emulator until SIGTERM or SIGINT. SIGHUP reads the catalog's file again. */
export async function emulator(context: Context, flags: EmulatorFlags, file?: string): Promise<number> {
  const { host, port } = parseListen(flags.listen);
  if (flags.record !== undefined || flags.replay !== undefined) return tape(context, flags, file);
  if (file !== undefined) throw new AgentError('usage', `${file} is given without --record`);
  const { FixturesError, OriginError, StateError, startEmulator } = await import('../emulator/index.ts');
  const { state, strict } = flags;
  const options = {
    host,
    port,
    origins: flags.origin,
    publicUrl: flags.publicUrl?.replace(/\/$/, ''),
    forkPorts: flags.forkPorts === undefined ? undefined : parsePorts(flags.forkPorts),
    keptBodyBytes: parseNumber(flags.keepBodies, {
      flag: '--keep-bodies',
      pattern: /^\d{1,9}$/,
      hint: 'bytes, such as 1048576',
    }),
    state,
    token: await readToken(flags, context.env[tokenVariable]),
    strict,
    speed: parseNumber(flags.speed, {
      flag: '--speed',
      pattern: /^(?:\d{1,6}(?:\.\d+)?|1000000)$/,
      hint: 'from 0 to 1000000, such as 100',
    }),
    credits: parseNumber(flags.credits, {
      flag: '--credits',
      pattern: /^\d{1,12}$/,
      hint: 'whole credits, such as 500',
    }),
    tier: parseNumber(flags.tier, { flag: '--tier', pattern: /^[1-5]$/, hint: 'from 1 to 5' }),
    catalog: flags.catalog === undefined ? undefined : await readJson(flags.catalog, 'catalog'),
    faults: flags.faults === undefined ? undefined : await readScript(flags.faults),
  };
  const fixtures = flags.fixtures === undefined ? undefined : await readFixtures(flags.fixtures, flags.faults);
  const emulated = await startEmulator({ ...options, fixtures }).catch((error: unknown) => {
    if (error instanceof FixturesError) {
      const named = error.message.replace('the fixtures are', () => `the fixtures file ${flags.fixtures} is`);
      throw new AgentError('usage', named, { cause: error });
    }
    if (error instanceof OriginError) {
      throw new AgentError('usage', `${isOf(flags.publicUrl, error) ? '--public-url' : '--origin'}: ${error.message}`, {
        cause: error,
        hint: error.hint,
      });
    }
    if (error instanceof StateError) {
      const { code, message, hint } = error;
      throw new AgentError(code === 'held' ? 'state.locked' : 'usage', message, { cause: error, hint });
    }
    throw asListenError(flags.listen, error) ?? asCatalogError(flags.catalog, error);
  });
  await using _emulator = emulated;
  if (state !== undefined) await warnOfOpenState(state);
  if (options.token === undefined && !isLoopback(host)) {
    say(
      `warning: everybody who can reach ${flags.listen} can use the emulator: set a token with --token-file or ${tokenVariable}`,
    );
  }
  // Whoever reads the address may send a signal at once.
  if (flags.catalog !== undefined) rereadOnHangup(emulated, flags.catalog);
  const stopped = untilStopped();
  showPlaces(context, options.publicUrl ?? emulated.url, emulated.url);
  await stopped;
  return 0;
}

/** @param listens where it listens, which with port 0 nobody else knows. */
function showPlaces(context: Context, url: string, listens: string): void {
  const places = {
    emulator: url,
    listens,
    console: `${url}/console`,
    drivers: `${url}/_emulator/drivers`,
    routers: `${url}/v1/routers`,
    catalog: `${url}/_emulator/catalog`,
    agentTools: `${url}/mcp`,
  };
  answer(context, places, () => [
    `emulator: ${url}`,
    ...(listens === url ? [] : [`listens:  ${listens}`]),
    `console:  ${places.console}`,
    `drivers:  ${places.drivers}`,
    `routing:  ${places.routers}, ${places.catalog}, agent tools at ${places.agentTools}`,
  ]);
}

/** @throws AgentError where both they and `--faults` say which faults there are. */
async function readFixtures(file: string, script: string | undefined): Promise<unknown> {
  const fixtures = await readJson(file, 'fixtures file');
  if (script === undefined || typeof fixtures !== 'object' || fixtures === null || !('faults' in fixtures)) {
    return fixtures;
  }
  throw new AgentError('usage', `--faults ${script} is given, and the fixtures file ${file} has faults too`, {
    hint: 'leave out --faults, or take "faults" out of the fixtures',
  });
}

async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve());
  });
}

/** Records the exchanges with a service, or plays a recording, until SIGTERM or SIGINT. */
async function tape(context: Context, flags: EmulatorFlags, file?: string): Promise<number> {
  const { listen, origin, record, replay } = flags;
  const { startRecorder, startReplay, TapeError } = await import('../emulator/index.ts');
  const place = { ...parseListen(listen), origins: origin };
  if ((record === undefined) === (replay === undefined) || (record === undefined) !== (file === undefined)) {
    throw new AgentError('usage', 'what to do with a recording is not clear', {
      hint: 'emulator --record https://api.example.com recording.jsonl, or emulator --replay recording.jsonl',
    });
  }
  refuseIdle(flags, record === undefined ? '--replay' : '--record');
  const started: Promise<TapeServer | ReplayServer> =
    record !== undefined && file !== undefined
      ? startRecorder({ ...place, service: record, file })
      : startReplay({ ...place, file: replay ?? '' });
  await using server = await started.catch((error: unknown) => {
    if (error instanceof TapeError) throw new AgentError('usage', error.message, { cause: error, hint: error.hint });
    throw asListenError(listen, error) ?? error;
  });
  const what = record === undefined ? 'replay' : 'recorder';
  const stopped = untilStopped();
  answer(context, { [what]: server.url }, () => [`${what}: ${server.url}`]);
  for (const line of 'leftOut' in server ? server.leftOut : []) {
    say(`warning: line ${line} of ${replay} breaks off, and is left out`);
  }
  await stopped;
  return 0;
}

/** Whoever names a token relies on it, and a tape has none. */
function refuseIdle(flags: EmulatorFlags, mode: '--record' | '--replay'): void {
  for (const [written] of emulatorOptions) {
    const [option = ''] = written.split(' ');
    if (['--listen', '--origin', '--record', '--replay'].includes(option)) continue;
    const name = option.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (flags[name as keyof EmulatorFlags] === undefined) continue;
    throw new AgentError('usage', `${option} does nothing with ${mode}`, { hint: 'leave it out' });
  }
}

/** `undefined` where the error is about something else. */
function asListenError(listen: string, error: unknown): AgentError | undefined {
  if (isPortInUse(error)) {
    return new AgentError('emulator.port', `${listen} is in use`, { hint: 'choose another port with --listen' });
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const [why, hint] = unusable[code] ?? [];
  if (why === undefined) return undefined;
  return new AgentError('usage', `the emulator cannot listen at ${listen}: ${why}`, { cause: error, hint });
}

const unusable: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  EACCES: ['only root may use this port', 'choose a port above 1023 with --listen'],
  EADDRNOTAVAIL: ['this machine has no such address', 'choose one that it has with --listen, such as 127.0.0.1:8787'],
  ENOTFOUND: ['no such name is known', 'name an address of this machine with --listen, such as 127.0.0.1:8787'],
  EAI_AGAIN: ['the name cannot be looked up now', 'name an address with --listen, such as 127.0.0.1:8787'],
};

function rereadOnHangup(emulated: Emulator, file: string): void {
  process.on('SIGHUP', () => {
    void readJson(file, 'catalog')
      .then((catalog) => {
        emulated.catalog(catalog, 'start');
        print(`catalog:  ${file} was read again`);
      })
      // The emulator goes on with the catalog that it has.
      .catch((error: unknown) => say(asCatalogError(file, error).message));
  });
}

/** The token of `--token`, `--token-file` or the environment: others on the machine can read a command line. */
async function readToken({ token, tokenFile }: EmulatorFlags, fromEnvironment?: string): Promise<string | undefined> {
  if (token !== undefined && tokenFile !== undefined) {
    throw new AgentError('usage', '--token and --token-file were both given', { hint: 'name the token once' });
  }
  if (token !== undefined) return checkToken(token, '--token');
  if (tokenFile !== undefined) {
    const text = await readFile(tokenFile, 'utf8').catch((cause: Error) => {
      throw new AgentError('usage', `the token file ${tokenFile} cannot be read: ${cause.message}`, { cause });
    });
    return checkToken(text.trim(), `the token file ${tokenFile}`);
  }
  return fromEnvironment === undefined || fromEnvironment === ''
    ? undefined
    : checkToken(fromEnvironment, tokenVariable);
}

/** A token that no request could send would lock everybody out. */
function checkToken(token: string, where: string): string {
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(token)) return token;
  const what = token === '' ? 'is empty' : 'holds characters that no header can carry';
  throw new AgentError('usage', `${where} ${what}`, { hint: 'it must hold the token and nothing else' });
}

/** Whether the address in question is this one. */
function isOf(url: string | undefined, error: Error): boolean {
  return url !== undefined && error.message.includes(JSON.stringify(url.replace(/\/$/, '')));
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);
}

async function warnOfOpenState(state: string): Promise<void> {
  const { mode } = await stat(state);
  if ((mode & 0o077) === 0) return;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  say(`warning: the state directory ${state} is open to other users (${shown}): chmod 700 it`);
}

async function readJson(file: string, what: string): Promise<unknown> {
  const { parseOnce } = await import('../emulator/json-once.ts');
  try {
    return parseOnce(await readFile(file));
  } catch (cause) {
    throw new AgentError('usage', `the ${what} ${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** @throws AgentError */
async function readScript(file: string): Promise<FaultScriptInput> {
  const { faultScriptSchema } = await import('../emulator/index.ts');
  const read = faultScriptSchema.safeParse(await readJson(file, 'script of faults'));
  if (read.success) return read.data;
  const [first] = read.error.issues;
  const place = first === undefined || first.path.length === 0 ? '' : ` at ${first.path.map(String).join('.')}`;
  throw new AgentError('usage', `the script of faults ${file} is not valid${place}: ${first?.message ?? ''}`, {
    hint: 'such as {"seed": 7, "faults": [{"status": 503, "probability": 0.1, "times": "always"}]}',
  });
}

/** The first problem of a catalog, in one line; other errors are returned as they are. */
function asCatalogError(file: string | undefined, error: unknown): Error {
  const [first] = issuesOf(error);
  if (first === undefined || file === undefined) return error as Error;
  const place = first.path.length === 0 ? '' : ` at ${first.path.map(String).join('.')}`;
  return new AgentError('usage', `the catalog ${file} is not valid${place}: ${first.message}`, {
    cause: error,
    hint: 'GET /_emulator/catalog shows the shape',
  });
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The issues of an error that zod threw, which is not always an `Error`. */
function issuesOf(error: unknown): readonly Issue[] {
  const { issues } = error as { issues?: unknown };
  return Array.isArray(issues) ? (issues as Issue[]) : [];
}

interface NumberFlag {
  readonly flag: string;
  readonly pattern: RegExp;
  readonly hint: string;
}

function parseNumber(text: string | undefined, { flag, pattern, hint }: NumberFlag): number | undefined {
  if (text === undefined) return undefined;
  if (!pattern.test(text)) throw new AgentError('usage', `${flag} ${text} is not understood`, { hint });
  return Number(text);
}

function parseListen(listen: string): { host: string; port: number } {
  const found = /^(?:(.+):)?(\d{1,5})$/.exec(listen);
  const port = Number(found?.[2]);
  const host = found?.[1]?.replace(/^\[|\]$/g, '') ?? '127.0.0.1';
  if (found === null || host === '' || port > 65_535) {
    throw new AgentError('usage', `"${listen}" is not an address to listen on`, { hint: 'write it as 127.0.0.1:8787' });
  }
  return { host, port };
}

function parsePorts(text: string): readonly [first: number, last: number] {
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (first >= 1 && first <= last && last <= 65_535) return [first, last];
  throw new AgentError('usage', `--fork-ports ${text} is not understood`, { hint: 'write it as 8788-8797' });
}
