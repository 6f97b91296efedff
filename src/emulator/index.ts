/**
 * `driver-sync/emulator`: the service for tests and for a first run with no account.
 *
 * ```ts
 * await using emulator = await startEmulator();
 * await fetch(`${emulator.url}/api/extDrivers/update`, { method: 'POST', body });
 * expect(emulator.drivers()).toHaveLength(1);
 * ```
 *
 * `docs/EMULATOR.md` says what it emulates and what not.
 */
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Driver } from '../contract/driver-push.ts';
import { wholeOf } from './answers.ts';
import { bendOf, bentInMemory } from './bent-answer.ts';
import { ConnectionDropped } from './connection.ts';
import { createHttpServer } from './listener.ts';
import { faultSchema, faultScriptSchema } from '../contract/fault-script.ts';
import type { FaultInput, FaultScriptInput } from '../contract/fault-script.ts';
import { checkBytes, checkHost, checkMilliseconds, checkPort, checkSwitch } from './option-checks.ts';
import type { EmulatorOptions } from './options.ts';
import { checkToken } from './keys.ts';
import { nameOfHost, OriginError } from './origins.ts';
import type { LoggedRequest } from './request-record.ts';
import { FixturesError } from './fixtures-error.ts';
import type { Fixtures } from './fixtures-schema.ts';
import { parseCatalog } from './routing/catalog.ts';
import { advanceSchema } from './routing/controls.ts';
import { bind, isInUse, portsOf } from './ports.ts';
import { Refusal } from './routing/refusal.ts';
import { send } from './sending.ts';
import { Service } from './service.ts';
import { forkUrl } from './snapshot-routes.ts';
import type { Fork } from './snapshot-routes.ts';
import { StateError } from './state-error.ts';
import { startReplay } from './tape/player.ts';
import type { ReplayOptions, ReplayServer } from './tape/player.ts';
import { startRecorder } from './tape/recorder.ts';
import type { RecordOptions } from './tape/recorder.ts';
import { TapeError } from './tape/tape-error.ts';
import type { TapeServer } from './tape/tape-server.ts';

export type {
  Driver as EmulatedDriver,
  EmulatorOptions,
  Fixtures,
  FaultInput,
  FaultScriptInput,
  LoggedRequest as RequestRecord,
};
export type { RecordOptions, ReplayOptions, ReplayServer, TapeServer };
export { faultScriptSchema, FixturesError, OriginError, startRecorder, startReplay, StateError, TapeError };

export interface ClockChange {
  readonly now?: Date | string | number | undefined;
  readonly speed?: number | undefined;
}

export interface ClockView {
  readonly now: Date;
  readonly speed: number;
}

export interface ForkOptions {
  /** Default: what there is now. */
  readonly snapshot?: string | undefined;
  /** 0: any free port. Default: one of `forkPorts`, or else any free port. */
  readonly port?: number | undefined;
}

export interface Emulator extends AsyncDisposable {
  /** Without a trailing slash, such as `http://127.0.0.1:8787`. */
  readonly url: string;
  readonly port: number;
  /** Like the global `fetch`, without a network; a path is enough. A dropped connection rejects, and a redirect is not followed. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Sorted by the UTF-8 bytes of their ids, points by month; `time` and `value` as sent. */
  drivers(): Driver[];
  /** The newest thousand requests to the service's paths, newest first. */
  requests(): LoggedRequest[];
  /**
   * Queues faults for the next requests, behind those that wait already; one whose `id` waits takes the place of that one.
   * @throws ZodError
   */
  faults(...faults: readonly FaultInput[]): void;
  /** Merges changes into a fault that waits; null removes a key. @throws Error where none waits under this id; ZodError */
  changeFault(id: string, changes: Readonly<Record<string, unknown>>): void;
  /** @throws Error where none waits under this id. */
  removeFault(id: string): void;
  clearFaults(): void;
  /** Puts a script of faults in the place of all faults. Its moments are counted from now. @throws ZodError */
  play(script: FaultScriptInput): void;
  /** Sets the time of model routing forward, by at most a hundred years. @throws ZodError */
  advance(seconds: number): void;
  /**
   * Reads the time of model routing, and sets it or its speed; speed 0 freezes it. It goes back only where nothing has
   * happened in model routing yet. @throws Error
   */
  clock(change?: ClockChange): ClockView;
  /**
   * Changes the catalog as `POST /_emulator/catalog` does; `builtIn` makes the changes on the built-in one, and `start` does so
   * in the place of the option `catalog`: it is not kept, and a reset goes back to it.
   * @throws ZodError
   */
  catalog(catalog: unknown, base?: 'present' | 'builtIn' | 'start'): void;
  /** Adds drivers, routers and the like, all or nothing. @throws Error */
  load(fixtures: Fixtures): void;
  /**
   * Keeps all that it holds under a name, until it is closed; requests, faults and logins of agents are no part of it. It
   * takes no copy, whatever the size. @throws Error
   */
  snapshot(name: string): void;
  /** Goes back to a snapshot, also in its time, with no requests and no faults; requests under way fail and are not applied. @throws Error for a name that is not known. */
  restore(name: string): void;
  /**
   * Starts another emulator with what this one holds, or a snapshot of it. Neither sees what the other changes from then on.
   * It takes no copy, is not kept by `state`, and is closed with this one.
   */
  fork(from?: ForkOptions): Promise<Emulator>;
  /** Empties it: no drivers, routers, tasks, requests or faults. Snapshots stay. Requests under way fail and are not applied. */
  reset(): void;
  /** Ends every connection and request at once. May be called twice. */
  close(): Promise<void>;
}

/**
 * Starts the emulator and resolves when it listens.
 * @throws Error with the system's `code`, such as `EADDRINUSE` for a port in use; StateError where `state` cannot be used,
 * with `code: 'held'` where another emulator has it; OriginError for one of `origins`; FixturesError for `fixtures`;
 * RangeError for a host, a token or a number that nobody could use. Where it rejects, `state` is as it was.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { port = 0, forkPorts } = options;
  // Before anything is opened.
  portsOf(forkPorts);
  const { host, keptBodyBytes, bodyBytesMax, headersTimeoutMs } = options;
  checkHost(host);
  checkPort(port);
  checkSwitch('strict', options.strict);
  checkBytes({ keptBodyBytes, bodyBytesMax });
  checkMilliseconds('headersTimeoutMs', headersTimeoutMs);
  if (options.token !== undefined) checkToken(options.token);
  return listen(new Service(options), { ...options, ports: [port] }, () => {});
}

interface Listening extends EmulatorOptions {
  /** The first of them that is free is taken. */
  readonly ports: readonly number[];
}

async function listen(service: Service, options: Listening, closing: () => void): Promise<Emulator> {
  const { host = '127.0.0.1', ports, headersTimeoutMs = 30_000 } = options;
  const server = createHttpServer((request, bindings) => serve(service, request, bindings), {
    // A body of a gibibyte may take long. This also switches off Node's limit for headers, so that is set below.
    requestTimeout: 0,
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: Math.max(1, Math.min(headersTimeoutMs / 2, 5_000)),
  });
  try {
    await bind(server, ports, host);
    service.begin();
  } catch (error) {
    await service.close();
    throw error;
  }
  const address = server.address() as AddressInfo;
  const url = `http://${nameOfHost(host)}:${address.port}`;
  const forks = new Map<number, { readonly emulator: Emulator; readonly view: Fork }>();
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closed ??= (async () => {
      closing();
      // They use the database of this one.
      await Promise.all([...forks.values()].map(({ emulator }) => emulator.close()));
      await closeAll(server, service);
    })());
  const begin = async ({ snapshot, port }: ForkOptions) => {
    checkPort(port);
    if (service.closing.aborted) throw new Error('the emulator is closed');
    const child = service.fork(snapshot);
    const own = port === undefined ? portsOf(options.forkPorts) : [port];
    const forked = await listen(child, { ...options, ports: own }, () => forks.delete(forked.port));
    if (service.publicOrigin !== undefined) child.publicOrigin = forkUrl(service.publicOrigin, forked.port);
    const view = { port: forked.port, snapshot: snapshot ?? null, at: new Date().toISOString() };
    const begun = { emulator: forked, view };
    forks.set(forked.port, begun);
    return begun;
  };
  const fork: Emulator['fork'] = async (from = {}) => (await begin(from)).emulator;
  service.forks = {
    list: () => [...forks.values()].map(({ view }) => view),
    start: async (snapshot) => (await begin({ snapshot }).catch(refuseWithoutPort)).view,
    end: async (ofPort) => {
      const forked = forks.get(ofPort);
      await forked?.emulator.close();
      return forked !== undefined;
    },
  };
  return { ...controlsOf(service, url), url, port: address.port, fork, close, [Symbol.asyncDispose]: close };
}

/** @throws Refusal 503, or the error itself where it is another one */
function refuseWithoutPort(error: unknown): never {
  if (!isInUse(error)) throw error;
  throw new Refusal(503, {
    error: 'every port for forks is in use: end a fork, or start the emulator with more of them',
  });
}

type Controls = Omit<Emulator, 'url' | 'port' | 'fork' | 'close' | typeof Symbol.asyncDispose>;

function controlsOf(service: Service, url: string): Controls {
  const open = <Args extends unknown[], Result>(act: (...args: Args) => Result) => {
    return (...args: Args): Result => {
      if (service.closing.aborted) throw new Error('the emulator is closed');
      return act(...args);
    };
  };
  return {
    fetch: (input, init) =>
      fetchInMemory(service, new Request(input instanceof Request ? input : new URL(input, url), init)),
    drivers: open(() => service.drivers()),
    requests: () => service.log.all(),
    faults: (...faults) => service.faults.add(faults.map((fault) => faultSchema.parse(fault))),
    changeFault: (id, changes) => service.faults.change(id, changes),
    removeFault: (id) => service.faults.remove(id),
    clearFaults: () => service.faults.clear(),
    play: (script) => service.faults.play(faultScriptSchema.parse(script)),
    advance: open((seconds: number) => service.routing.advance(advanceSchema.parse({ seconds }).seconds * 1_000)),
    clock: open(({ now, speed }: ClockChange = {}) => {
      service.routing.setClock({ nowMs: now === undefined ? undefined : new Date(now).getTime(), speed });
      return { now: new Date(service.routing.clock.now()), speed: service.routing.clock.speed };
    }),
    catalog: open((catalog: unknown, base: 'present' | 'builtIn' | 'start' = 'present') => {
      const { routing } = service;
      if (base === 'start') routing.restartWith(parseCatalog(catalog));
      else routing.catalog = base === 'builtIn' ? parseCatalog(catalog) : parseCatalog(catalog, routing.catalog);
    }),
    load: open((fixtures: Fixtures) => service.load(fixtures)),
    snapshot: open((name: string) => void service.snapshots.take(name)),
    restore: open((name: string) => service.restore(name)),
    reset: open(() => service.reset()),
  };
}

async function serve(service: Service, request: Request, bindings: HttpBindings): Promise<Response> {
  // Of this moment: it is another one once what is held was replaced.
  const { ending } = service;
  try {
    return await send(await service.fetch(request), bindings, ending);
  } catch (error) {
    if (!(error instanceof ConnectionDropped)) throw error;
    if (error.how === 'reset') bindings.incoming.socket.resetAndDestroy();
    else bindings.incoming.socket.destroy();
    return RESPONSE_ALREADY_SENT;
  }
}

async function fetchInMemory(service: Service, request: Request): Promise<Response> {
  const { signal } = request;
  const { ending } = service;
  signal.throwIfAborted();
  const left = new Promise<never>((_resolve, reject) => {
    // The service goes on with the request, as it would behind a network.
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  try {
    const response = await Promise.race([service.fetch(request), left]);
    const how = bendOf(response);
    return how === undefined ? wholeOf(response) : await bentInMemory(response, how, { ending, left: signal });
  } catch (error) {
    if (error instanceof ConnectionDropped) throw new TypeError('fetch failed', { cause: error });
    throw error;
  }
}

async function closeAll(server: Server, service: Service): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  const settled = service.close();
  server.closeAllConnections();
  await Promise.all([ended, settled]);
}
