/** The thread of the status page: it answers while a pass keeps the main thread busy. Started by `status-page.ts`. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { AgentSigns } from '../app/ask/status-report.ts';
import type { Log } from '../core/ports.ts';
import type { Settings, StatusSettings } from '../core/settings.ts';
import { releaseMemory } from '../edges/memory.ts';
import { confirmInPlace } from '../edges/state/in-place.ts';
import { ownHolder } from '../edges/state/lock.ts';
import { readHeartbeat } from '../edges/state/state-directory.ts';
import { type StatusServer, openStatusServer } from '../status/server.ts';
import type { Watched } from '../status/watched.ts';
import { fileStamp } from './file-stamp.ts';
import { onlyLooking, openStores, surroundingsOf } from './look.ts';
import { stalledSinceMs } from './stalled.ts';
import { type FromStatusThread, type StatusThreadData, type ToStatusThread, stillAt } from './status-messages.ts';

/** The main thread may be busy for a moment; what it said last holds until then. */
const digestPatienceMs = 1000;
const idleMs = 2000;

const port = parentPort as MessagePort;
const { version, lockFile, ...first } = workerData as StatusThreadData;

let { settings, notes } = first;
let server: { readonly of: StatusSettings; readonly open: StatusServer } | undefined;
let file: { readonly stamp: string; readonly digest: string | undefined } | undefined;
/** Those who wait for the digest of the file. */
const waiting: ((digest: string | undefined) => void)[] = [];

/** V8 collects only while a program allocates, and a page may be asked for once a day. */
const idle = setTimeout(releaseMemory, idleMs).unref();

const tell = (message: FromStatusThread): void => port.postMessage(message);

const logAt =
  (level: 'warn' | 'error') =>
  (message: string, fields: Record<string, unknown> = {}): void =>
    tell({ kind: 'log', level, message, fields });
const log: Log = { debug: () => undefined, info: () => undefined, warn: logAt('warn'), error: logAt('error') };

const agent: Watched = {
  version,
  get settings() {
    return settings;
  },
  get notes() {
    return notes;
  },
  async signs(): Promise<AgentSigns> {
    const { state } = settings;
    const holder = ownHolder(state);
    return {
      holder,
      killed: undefined,
      broken: notes.broken,
      stalledSinceMs: stalledSinceMs(holder, readHeartbeat(state), Date.now()),
      configDiffers: (await fileDigest()) !== settings.digest,
    };
  },
  confirmHeld: () => confirmInPlace(settings.state, lockFile),
  silentUntilMs: () => readHeartbeat(settings.state)?.untilMs,
  async open(look) {
    idle.refresh();
    await using state = await openStores({ ...surroundingsOf(settings, { log }), ...onlyLooking }, 'read');
    return await look(state.deps);
  },
};

/** The digest of the config file as it is now: the main thread reads it, but only where the file is another one. */
async function fileDigest(): Promise<string | undefined> {
  const stamp = stampOf(settings);
  if (file?.stamp === stamp) return file.digest;
  const known = file === undefined ? settings.digest : file.digest;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(known), digestPatienceMs);
    waiting.push((digest) => {
      clearTimeout(timer);
      file = { stamp, digest };
      resolve(digest);
    });
    if (waiting.length === 1) tell({ kind: 'fileDigest?' });
  });
}

function stampOf(of: Settings): string {
  return `${of.digest} ${fileStamp(of.file)}`;
}

/** Listens as the settings say. Where that fails, the address of before is listened at still, or again. */
async function listen(next: Settings): Promise<void> {
  const { status: wanted } = next;
  if (wanted === undefined) return;
  const before = server;
  const kept = before && stillAt(before.of, wanted);
  // What else changed holds from now on, whatever becomes of the address.
  settings = { ...next, status: kept };
  try {
    const isSame = kept?.host === wanted.host && kept.port === wanted.port;
    // Two listeners cannot share a port where one of them is at all addresses.
    const isInTheWay = before !== undefined && !isSame && before.open.port === wanted.port;
    if (isInTheWay) {
      server = undefined;
      await before.open[Symbol.asyncDispose]();
    }
    const open = isSame && before !== undefined ? before.open : await openStatusServer(wanted, agent, log);
    if (!isSame) await server?.open[Symbol.asyncDispose]();
    server = { of: wanted, open };
    settings = next;
    tell({ kind: 'listening', port: open.port });
    open.tellNews();
  } catch (error) {
    if (before !== undefined && kept !== undefined) server = await listenAgain(before.open.port, kept);
    settings = { ...next, status: server?.of };
    tell({ kind: 'unheard', code: codeOf(error), still: server?.of });
  }
}

/** Where the page listened before, unless it does so still. `undefined`: somebody else has that port by now. */
async function listenAgain(at: number, of: StatusSettings): Promise<typeof server> {
  if (server !== undefined) return { of, open: server.open };
  const open = await openStatusServer({ ...of, port: at }, agent, log).catch((error: unknown) => {
    log.error('the status page cannot listen again where it did', { code: codeOf(error) });
    return undefined;
  });
  return open && { of, open };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

port.on('message', (message: ToStatusThread) => {
  switch (message.kind) {
    case 'settings':
      void listen(message.settings);
      break;
    case 'notes':
      ({ notes } = message);
      server?.open.tellNews();
      break;
    case 'fileDigest':
      for (const got of waiting.splice(0)) got(message.digest);
  }
});

await listen(settings);
