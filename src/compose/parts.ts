/** Parts that hold nothing open: clock, schedule, log, and how sources are opened. */
import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { Dependencies } from '../app/dependencies.ts';
import { AgentError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import type { Ledger } from '../core/ledger.ts';
import type { Settings } from '../core/settings.ts';
import { systemClock } from '../edges/clock.ts';
import { snapshotFiles } from '../edges/state/archive.ts';
import { openLedger } from '../edges/state/ledger.ts';
import { openOutlets } from '../edges/telling/outlets.ts';
import { kinds } from '../sources/index.ts';
import type { ReadThreads } from '../sources/kind.ts';
import { readLookups } from '../sources/lookups.ts';
import { type Look, surroundingsOf } from './look.ts';
import { holdOptimizer } from './optimizer.ts';
import { fileIn } from './place.ts';

export { openLog } from '../edges/log.ts';
export { systemClock } from '../edges/clock.ts';
export { openSupervisor } from '../edges/supervisor.ts';

/** The dependencies that hold nothing open. */
export function partsOf(
  settings: Settings,
  options: { readonly log: Log; readonly observe?: Dependencies['observe'] | undefined },
): Look {
  return {
    ...surroundingsOf(settings, options),
    openSource: sourceOpener(settings),
    readLookups: lookupReader(settings),
    outlets: openOutlets(settings),
  };
}

/** The ledger for the holder of the lock, who brings it up to date. @throws AgentError of `state.` */
export function openOwnLedger(settings: Settings): Ledger {
  return openLedger(fileIn(settings, 'ledger'), 'migrate', () => snapshotFiles(fileIn(settings, 'archive')));
}

/** How sources are opened; `check` needs nothing else. */
export function sourceOpener(settings: Settings): Dependencies['openSource'] {
  const { timezone } = settings;
  const { state } = settings;
  const place = { baseDir: path.dirname(settings.file), forbidden: ownFiles(settings), clock: systemClock, state };
  const isShared = settings.ledger !== undefined;
  return ({ name, type, kind, mapping, files }) => {
    const known = kinds[type];
    if (known === undefined) throw new AgentError('config.invalid', `there is no source of type "${type}"`);
    const naming = files && { files, isShared };
    return known.open(kind, { name, ...place, naming, mapping, timezone, threads: readThreads(settings) });
  };
}

/** More than a few wait for the memory and the disk, and one has nobody to share the work with. */
const threadsMax = 4;
/** Where nobody said how many: what a thread saves at a smaller file is not worth its memory. */
const threadBytesMin = 32_000_000;

function readThreads({ workers }: Settings): ReadThreads {
  const begin = holdOptimizer;
  if (workers !== undefined) return { count: workers, begin };
  const cores = availableParallelism();
  return { count: cores === 1 ? 0 : Math.min(threadsMax, cores), bytesMin: threadBytesMin, begin };
}

export function lookupReader(settings: Settings): Dependencies['readLookups'] {
  const place = { baseDir: path.dirname(settings.file), forbidden: ownFiles(settings), clock: systemClock };
  return ({ lookups }, signal) => readLookups(lookups, place, signal);
}

/** What no source may read as data: the config, what holds secrets, and the state directory. */
function ownFiles({ file, state, destination, sources, status }: Settings): readonly string[] {
  const { token, caFile } = destination === 'emulator' ? {} : destination;
  const ofDestination = [token?.kind === 'file' ? token.file : undefined, caFile, status?.tokenFile];
  const ofSources = sources.flatMap(({ kind }) => secretFiles(kind));
  const named = [...ofDestination, ...ofSources].filter((name) => typeof name === 'string');
  return [file, state, ...named.map((name) => path.resolve(path.dirname(file), name))];
}

/** Keys of kinds whose files hold secrets, and keys with such keys below them. */
const secretKeys = new Set(
  'tokenFile caFile secretAccessKeyFile passwordFile keyFile knownHosts clientSecretFile'.split(' '),
);
const accessKeys = new Set(['s3', 'sftp', 'dav', 'oauth']);

function secretFiles(keys: unknown): readonly string[] {
  if (typeof keys !== 'object' || keys === null) return [];
  return Object.entries(keys).flatMap(([key, value]: [string, unknown]) => {
    if (typeof value === 'string') return secretKeys.has(key) ? [value] : [];
    return accessKeys.has(key) ? secretFiles(value) : [];
  });
}
