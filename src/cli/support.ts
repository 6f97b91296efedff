/** `support`: one archive for a bug report. It holds no secret, and no row of data unless that is asked for. */
import { existsSync, lstatSync, readFileSync, readdirSync, statfsSync, writeFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { createTarGzip } from 'nanotar';
import { openState, verifyIn, whyHidden } from '../compose/state.ts';
import { type MaskedConfig, maskConfig, maskTexts } from '../config/masked.ts';
import { historyReport } from '../app/ask/history-report.ts';
import { rejectsReport } from '../app/ask/rejects-report.ts';
import { AgentError, isAgentError } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import { showBytes } from '../core/size.ts';
import { statusOf } from './status.ts';
import { type Context, answer, commandLog, configFile, load } from './context.ts';
import { shortPath, wholePath } from './working-directory.ts';

export interface SupportOptions {
  readonly output?: string;
  readonly withRejects?: boolean;
}

interface Piece {
  readonly name: string;
  readonly text: string;
}

const pushesMax = 50;
const rejectsMax = 1000;
/** Walking a larger archive takes longer than a person waits. */
const verifiedBytesMax = 20_000_000;

/** Writes the archive; parts of it that cannot be had say why. */
export async function support(context: Context, { output, withRejects = false }: SupportOptions): Promise<number> {
  const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const file = wholePath(context, output ?? `driver-sync-support-${stamp}.tar.gz`);
  const masked = configOf(context);
  const state = await statePieces(context, withRejects);
  const pieces: Piece[] = [
    { name: 'README.txt', text: readme(withRejects) },
    await pieceOf('versions.json', async () => versionsOf(context)),
    { name: 'config.yaml', text: masked.text },
    { name: 'variables.json', text: json(variablesOf(masked, context.env)) },
    ...state.pieces,
  ];
  const secrets = [...masked.secrets, ...secretTexts(context, masked)];
  const hidden = pieces.map(({ name, text }) => ({
    name: `driver-sync-support/${name}`,
    data: maskTexts(text, secrets),
  }));
  const bytes = await createTarGzip(hidden);
  try {
    writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
    if (code === undefined) throw cause;
    throw new AgentError('usage', `${file} ${writeFailures[code] ?? `cannot be written (${code})`}`, {
      cause,
      hint: '--output names another file',
    });
  }
  const { unverified } = state;
  const said = { file, bytes: bytes.length, files: pieces.map(({ name }) => name), unverified };
  answer(context, said, () => [
    `wrote ${shortPath(file)} (${showBytes(bytes.length)}): ${pieces.map(({ name }) => name).join(', ')}`,
    ...(unverified === undefined ? [] : [`the ledger and the archive were not verified: ${unverified}`]),
    'look into it before you send it: secrets are masked, names of sources, drivers and files are not',
  ]);
  return 0;
}

const writeFailures: Readonly<Record<string, string>> = {
  EEXIST: 'is there already',
  ENOENT: 'cannot be written: there is no such directory',
  EACCES: 'cannot be written: no permission',
  ENOSPC: 'cannot be written: the disk is full',
};

function json(data: unknown): string {
  return `${JSON.stringify(data, null, 2)}\n`;
}

function readme(withRejects: boolean): string {
  return `What driver-sync support gathers: versions, the config with secrets masked, status, the last pushes, what lies in the state
directory, and whether the ledger is whole.${withRejects ? ' Rows that could not be read are in rejects.json, since --with-rejects asked for them: their number and the first 1000.' : ' No row of data is in it.'}

The log of the agent is not in it, since the agent does not keep one. Where it is:
  systemd      journalctl -u driver-sync --since "2 days ago" > driver-sync.log
  container    docker logs --since 48h NAME > driver-sync.log 2>&1
  by hand      what "driver-sync run" printed
`;
}

const require = createRequire(import.meta.url);

function versionsOf({ version }: Context): object {
  const limited = process.constrainedMemory();
  const { peerDependencies } = JSON.parse(readFileSync(findPackageJSON(import.meta.url) ?? '', 'utf8')) as {
    peerDependencies: Record<string, string>;
  };
  const peers = Object.keys(peerDependencies);
  return {
    'driver-sync': version,
    node: process.versions.node,
    sqlite: (require('better-sqlite3/package.json') as { version: string }).version,
    packages: Object.fromEntries(peers.map((name) => [name, versionOf(name)])),
    platform: `${process.platform} ${process.arch}`,
    system: `${os.type()} ${os.release()}`,
    processors: os.availableParallelism(),
    memory: showBytes(os.totalmem()),
    // The limit of a container; without one Linux says a number beyond all memory.
    memoryMax: limited > 0 && limited < os.totalmem() ? showBytes(limited) : null,
  };
}

function versionOf(name: string): string | null {
  try {
    const main = require.resolve(name);
    const root = main.slice(
      0,
      main.lastIndexOf(path.join('node_modules', name)) + path.join('node_modules', name).length,
    );
    return (JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }).version;
  } catch {
    // It is not installed, which is what is to be told.
    return null;
  }
}

function configOf(context: Context): MaskedConfig {
  const { env } = context;
  try {
    return maskConfig(readFileSync(configFile(context), 'utf8'), env);
  } catch (error) {
    if (!isAgentError(error) && !(error instanceof Error && 'code' in error)) throw error;
    return { ...maskConfig('{}', env), text: `# ${error.message}\n` };
  }
}

/** Only whether they are set. */
function variablesOf({ variables }: MaskedConfig, env: NodeJS.ProcessEnv): object {
  const names = [
    ...variables,
    'DRIVER_SYNC_CONFIG',
    'HTTPS_PROXY',
    'HTTP_PROXY',
    'NO_PROXY',
    'NODE_OPTIONS',
    'NODE_EXTRA_CA_CERTS',
  ];
  return Object.fromEntries(names.map((name) => [name, env[name] === undefined ? 'not set' : 'set']));
}

/** What stands in the files of secrets. */
function secretTexts(context: Context, { secretFiles }: MaskedConfig): readonly string[] {
  const config = configPath(context);
  if (config === undefined) return [];
  const baseDir = path.dirname(config);
  return secretFiles.flatMap((name) => {
    try {
      const text = readFileSync(path.resolve(baseDir, name), 'utf8').trim();
      return text.length < 3 ? [] : [text, ...text.split(/\s+/).filter((word) => word.length >= 3)];
    } catch {
      // What cannot be read cannot be told either.
      return [];
    }
  });
}

function configPath(context: Context): string | undefined {
  try {
    return configFile(context);
  } catch {
    return undefined;
  }
}

/** A report about something broken is about what cannot be had, too. */
async function pieceOf(name: string, make: () => Promise<unknown>): Promise<Piece> {
  try {
    return { name, text: json(await make()) };
  } catch (error) {
    return { name, text: json({ error: messageOf(error) }) };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface StatePieces {
  readonly pieces: readonly Piece[];
  /** Why nobody looked whether the state is whole, and what does. */
  readonly unverified: string | undefined;
}

async function statePieces(context: Context, withRejects: boolean): Promise<StatePieces> {
  const pieces: Piece[] = [];
  let unverified: string | undefined;
  const add = async (name: string, make: () => Promise<unknown>): Promise<void> =>
    void pieces.push(await pieceOf(name, make));
  const loaded = configPath(context) === undefined ? undefined : load(context, 'optional');
  await add('problems.json', async () => loaded?.problems ?? [{ message: 'there is no config' }]);
  const { settings, state } = loaded ?? {};
  if (state !== undefined) {
    await add('sizes.json', async () => sizesOf(state));
    unverified = whyUnverified(state, settings);
    await add('integrity.json', async () =>
      unverified === undefined
        ? { verified: true, ...(await verifyIn({ state })) }
        : { verified: false, why: unverified },
    );
  }
  if (settings === undefined) return { pieces, unverified };
  await add('status.json', async () => {
    await using opened = await openState(settings, commandLog(context));
    return withoutValues(await statusOf(opened.deps));
  });
  await add('history.json', async () => {
    await using opened = await openState(settings, commandLog(context));
    const { pushes, decisions } = await historyReport(opened.deps);
    return { pushes: pushes.slice(0, pushesMax), decisions: decisions.slice(0, pushesMax) };
  });
  if (withRejects) {
    await add('rejects.json', async () => {
      await using opened = await openState(settings, commandLog(context));
      const { rejects, total } = rejectsReport(opened.deps.buffer);
      return { total, rejects: rejects.slice(0, rejectsMax) };
    });
  }
  return { pieces, unverified };
}

/** Findings show examples of values, and reasons may quote a field. */
function withoutValues(status: object): unknown {
  return JSON.parse(
    JSON.stringify(status, (key, value: unknown) => {
      if (key === 'examples' || key === 'old' || key === 'new') return undefined;
      return (key === 'reason' || key === 'why') && typeof value === 'string'
        ? value.replaceAll(/"(?:[^"\\]|\\.)*"/g, '"…"')
        : value;
    }),
  );
}

interface StateFile {
  readonly name: string;
  readonly bytes: number;
  readonly modified: string;
}

const filesMax = 200;

function sizesOf(state: string): object {
  const files = existsSync(state) ? filesIn(state, '') : [];
  const { bavail, bsize } = existsSync(state) ? statfsSync(state) : { bavail: 0, bsize: 0 };
  return {
    state,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    free: bavail * bsize,
    count: files.length,
    files: files.toSorted((a, b) => b.bytes - a.bytes).slice(0, filesMax),
  };
}

function filesIn(directory: string, below: string): StateFile[] {
  return readdirSync(path.join(directory, below), { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(below, entry.name);
    if (entry.isDirectory()) return filesIn(directory, name);
    const stats = lstatSync(path.join(directory, name), { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ name, bytes: stats.size, modified: stats.mtime.toISOString() }];
  });
}

function whyUnverified(state: string, settings: Settings | undefined): string | undefined {
  if (settings?.ledger !== undefined) return 'they are shared: driver-sync verify';
  const hidden = whyHidden({ state });
  if (hidden !== undefined) return hidden;
  try {
    const files = existsSync(state) ? filesIn(state, '') : [];
    const bytes = files.filter(({ name }) => /^(archive|ledger)/.test(name)).reduce((sum, one) => sum + one.bytes, 0);
    return bytes > verifiedBytesMax ? `${showBytes(bytes)} take long: driver-sync verify` : undefined;
  } catch (error) {
    return messageOf(error);
  }
}
