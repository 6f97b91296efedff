/** The status page in this process, over the state that commands leave, and whoever asks it. */
import { request } from 'node:http';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { onlyLooking, openStores, surroundingsOf } from '../../src/compose/look.ts';
import { settingsToLook } from '../../src/compose/status-messages.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Archive, Snapshot } from '../../src/core/ledger.ts';
import type { StatusSettings } from '../../src/core/settings.ts';
import { openStatusServer } from '../../src/status/server.ts';
import type { PassNotes, Watched } from '../../src/status/watched.ts';
import type { CommandsWorld } from './commands-world.ts';
import { type LogLine, memoryLog } from './memory-log.ts';

export interface Asked {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface StatusWorld {
  readonly port: number;
  readonly log: readonly LogLine[];
  /** What the agent is known to have done; a test may change it. */
  readonly agent: {
    notes: PassNotes;
    silentUntilMs: number | undefined;
    broken: string | undefined;
    /** How often the points of a snapshot were walked. */
    walks: number;
  };
  readonly ask: (address: string, options?: AskOptions) => Promise<Asked>;
  readonly json: <T>(address: string) => Promise<T>;
  readonly url: string;
  readonly tellNews: () => void;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Ends with its test. */
export async function statusWorld(
  { at }: Pick<CommandsWorld, 'at'>,
  status: Partial<StatusSettings> = {},
): Promise<StatusWorld> {
  const listen = { host: '127.0.0.1', port: 0, tokenFile: undefined, hosts: [], ...status };
  const log = memoryLog();
  const known: StatusWorld['agent'] = {
    notes: { lastMs: 1500, readAtMs: {} },
    silentUntilMs: Date.now() + 60_000,
    broken: undefined,
    walks: 0,
  };
  const agent: Watched = {
    version: '1.2.3',
    get settings() {
      const { settings } = loadConfig(path.join(at.dir, 'driver-sync.yaml'), { env: {}, secrets: 'required' });
      if (settings === undefined) throw new Error('the config is not valid');
      return { ...settingsToLook(settings), status: listen };
    },
    get notes() {
      return known.notes;
    },
    signs: async () => ({
      holder: { pid: 7, command: 'run', since: '2026-03-01T00:00:00.000Z' },
      killed: undefined,
      broken: known.broken === undefined ? undefined : { at: new Date().toISOString(), exit: 75, reason: known.broken },
      stalledSinceMs: (known.silentUntilMs ?? Infinity) < Date.now() ? known.silentUntilMs : undefined,
      configDiffers: false,
    }),
    confirmHeld: () => undefined,
    silentUntilMs: () => known.silentUntilMs,
    async open(look) {
      await using state = await openStores({ ...surroundingsOf(agent.settings, { log }), ...onlyLooking }, 'read');
      const { archive } = state.deps;
      const open: Archive['open'] = async (digest) => {
        const snapshot = await archive.open(digest);
        const readPoints: Snapshot['readPoints'] = (without) => {
          known.walks++;
          return (snapshot as Snapshot).readPoints(without);
        };
        return snapshot && { ...snapshot, readPoints };
      };
      return await look({ ...state.deps, archive: { ...archive, open } });
    },
  };
  const server = await openStatusServer(listen, agent, log);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const ask: StatusWorld['ask'] = (address, options) => askAt(server.port, address, options);
  return {
    port: server.port,
    log: log.lines,
    agent: known,
    ask,
    url: `http://127.0.0.1:${server.port}`,
    tellNews: () => server.tellNews(),
    json: async <T>(address: string) => JSON.parse((await ask(address)).body) as T,
  };
}

/** `fetch` would not send another `Host`. */
export function askAt(
  port: number,
  address: string,
  { method = 'GET', headers = {} }: AskOptions = {},
): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path: address, method, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    sent.on('error', reject).end();
  });
}
