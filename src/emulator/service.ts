/** The emulated service without a port: a request goes in, a response comes out. */
import type { Database } from 'better-sqlite3';
import { Hono } from 'hono';
import type { Context } from 'hono';
import type { Driver } from '../contract/driver-push.ts';
import { faultScriptSchema } from '../contract/fault-script.ts';
import { serveAgentTools } from './agent-tools/endpoint.ts';
import { keepBody, refuse, textOf } from './answers.ts';
import { bend } from './bent-answer.ts';
import { serveBrowserPaths } from './browser-paths.ts';
import { ConnectionDropped } from './connection.ts';
import { letPageRead, preflightAnswer } from './cross-origin.ts';
import { isConsole, refusalPage, serveConsole } from './console/console-routes.ts';
import { Removals } from './console/removed.ts';
import { serveControls } from './controls.ts';
import { serveSnapshots } from './snapshot-routes.ts';
import type { Forks } from './snapshot-routes.ts';
import { isStorageTrouble, openDatabase, stateErrorOf } from './database.ts';
import { LayerTables } from './drivers/layers.ts';
import { openDriverArea } from './drivers/driver-routes.ts';
import type { DriverArea, LastPush } from './drivers/driver-routes.ts';
import type { DriverPath } from './drivers/store.ts';
import { serveEvidence } from './evidence/evidence-routes.ts';
import { Exchange } from './exchange.ts';
import { FaultQueue } from './faults.ts';
import type { QueueState } from './faults.ts';
import { asFixturesError, loadFixtures } from './fixtures.ts';
import { FixturesError } from './fixtures-error.ts';
import { type Door, anyKeyDoor, openDoor, tokenDoor } from './keys.ts';
import { KeptBody, keptText } from './kept-body.ts';
import { serveInterface } from './interface/openapi-routes.ts';
import type { ServiceOptions } from './options.ts';
import { OwnAddresses, parseOrigin } from './origins.ts';
import { RequestLog } from './request-log.ts';
import type { Entry } from './request-log.ts';
import { answer } from './routes.ts';
import type { App, EmulatorEnv } from './routes.ts';
import { Snapshots } from './snapshots.ts';
import type { Moment } from './snapshots.ts';
import { serveRouting } from './routing/routing-routes.ts';
import { Routing } from './routing/routing.ts';

const gibibyte = 1024 ** 3;

interface ForkSource {
  readonly database: Database;
  readonly tables: LayerTables;
  readonly moment: Moment;
}

/** Paths of the emulator itself: not recorded, without a token, without faults. */
const controlPath = '/_emulator';

export class Service {
  readonly faults: FaultQueue;
  readonly log: RequestLog;
  /** Model routing, without HTTP. */
  readonly routing: Routing;
  /** What requests to the service's paths need. */
  readonly key: 'none' | 'any' | 'token';
  readonly snapshots: Snapshots;
  /** What was removed in the console and can be taken back. */
  readonly removals = new Removals();
  readonly #options: ServiceOptions;
  readonly #database: Database;
  readonly #tables: LayerTables;
  /** Whether the database is another emulator's. */
  readonly #isFork: boolean;
  readonly #driverArea: DriverArea;
  readonly #app: App = new Hono<EmulatorEnv>();
  readonly #own: OwnAddresses;
  readonly #bodyBytesMax: number;
  readonly #keptBytesMax: number;
  readonly #listeners = new Set<() => void>();
  /** Where clients find it, if that was configured. A fork has it from whoever listens for it, who knows its port. */
  publicOrigin: string | undefined;
  /** Set by whoever listens for this one. */
  forks: Forks | undefined;
  readonly #closing = new AbortController();
  /** Ends the requests that have arrived since what is held was last replaced. */
  #ending = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  /**
   * Until `begin` nothing of it is in the state directory, so that a start that fails leaves that as it was.
   * @param source what a fork begins with.
   * @throws StateError where `state` cannot be used; OriginError; FixturesError; what `Routing` throws for its options.
   */
  constructor(options: ServiceOptions, source?: ForkSource) {
    const { state, token, strict = false, bodyBytesMax = gibibyte, keptBodyBytes = 16 * 1024 } = options;
    this.#own = new OwnAddresses(options);
    this.#options = options;
    this.#isFork = source !== undefined;
    this.#database = source?.database ?? openDatabase(state);
    this.#bodyBytesMax = bodyBytesMax;
    this.key = token !== undefined ? 'token' : strict ? 'any' : 'none';
    this.#keptBytesMax = keptBodyBytes;
    const kept = state === undefined ? undefined : this.#database;
    try {
      // A fork's database is in use by others.
      if (!this.#isFork) this.#database.exec('BEGIN');
      this.log = new RequestLog(kept);
      this.#tables = source?.tables ?? new LayerTables(this.#database);
      this.#driverArea = openDriverArea(this.#database, this.#tables, source?.moment.drivers);
      this.routing = new Routing(kept, options);
      if (source !== undefined) this.routing.restore(source.moment.routing);
      this.snapshots = new Snapshots({ drivers: this.#driverArea, routing: this.routing });
      this.#driverArea.alsoUsedBy(() => this.removals.tables());
      this.faults = new FaultQueue(() => this.routing.clock.now());
      if (options.fixtures !== undefined) this.#beginWith(options.fixtures);
      // The moments of its faults are counted from the time of the fixtures.
      if (options.faults !== undefined) this.faults.play(faultScriptSchema.parse(options.faults));
      if (options.fixtures !== undefined) this.snapshots.take('fixtures');
    } catch (error) {
      if (!this.#isFork) this.#database.close();
      throw state === undefined ? error : stateErrorOf(state, error);
    }
    this.#refuseForeignPages();
    this.publicOrigin = options.publicUrl === undefined ? undefined : parseOrigin(options.publicUrl);
    if (this.publicOrigin !== undefined) this.#nameOrigin();
    serveBrowserPaths(this.#app);
    serveConsole(this.#app, this);
    this.#recordExchanges(token !== undefined ? tokenDoor(token) : strict ? anyKeyDoor : openDoor);
    this.#driverArea.serve(this.#app);
    serveRouting(this.#app, { routing: this.routing, faults: this.faults });
    serveInterface(this.#app, { strict, hasToken: token !== undefined });
    serveAgentTools(this.#app, {
      routing: this.routing,
      database: this.#database,
      isOriginAllowed: (origin) => this.#own.isAllowed(origin),
    });
    serveControls(this.#app, this);
    serveSnapshots(this.#app, this);
    serveEvidence(this.#app);
    this.#app.notFound((context) => answer(context, () => refuse(404, `there is nothing at ${context.req.path}`)));
    this.#app.onError((error) => {
      if (error instanceof ConnectionDropped) throw error;
      if (isStorageTrouble(error)) return refuse(500, `the emulator cannot write what it holds: ${error.message}`);
      return refuse(500, `a bug of the emulator: ${error.stack ?? error.message}`);
    });
  }

  /** Puts them in the place of what is held. @throws FixturesError */
  #beginWith(fixtures: unknown): void {
    try {
      this.reset();
      this.load(fixtures);
    } catch (error) {
      throw asFixturesError(error);
    }
    if (this.#options.faults !== undefined && this.faults.pending.length > 0)
      throw new FixturesError(['faults'], 'a script of faults is given beside the fixtures');
  }

  /** Makes the start last: it can fail no more. @throws StateError */
  begin(): void {
    const { state } = this.#options;
    try {
      if (!this.#isFork) this.#database.exec('COMMIT');
    } catch (error) {
      throw state === undefined ? error : stateErrorOf(state, error);
    }
  }

  /** @throws ConnectionDropped where a fault, a client that left or `close` leaves the request without an answer. */
  async fetch(request: Request): Promise<Response> {
    if (this.#closing.signal.aborted) throw new ConnectionDropped('the emulator was closed');
    const answered = Promise.resolve(this.#app.fetch(request));
    this.#underWay.add(answered);
    try {
      return await answered;
    } finally {
      this.#underWay.delete(answered);
    }
  }

  /** Aborted by `close`. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Aborted by `close`, and when what is held now is replaced by something else. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  drivers(): Driver[] {
    return this.#driverArea.drivers();
  }

  driver(id: string): Driver | undefined {
    return this.#driverArea.driver(id);
  }

  driverCount(): number {
    return this.#driverArea.driverCount();
  }

  driverPaths(): readonly DriverPath[] {
    return this.#driverArea.driverPaths();
  }

  onNews(happened: () => void): () => void {
    this.#listeners.add(happened);
    return () => this.#listeners.delete(happened);
  }

  lastPush(): LastPush | undefined {
    return this.#driverArea.lastPush();
  }

  /** Empties it: no drivers, routers, tasks, requests or faults. Requests under way fail and are not applied. */
  reset(): void {
    this.#change(() => {
      this.#clearLog();
      this.routing.reset();
      this.#driverArea.clear();
    });
    this.#endRequests('the emulator was emptied');
    this.faults.clear();
    this.removals.clear();
    this.tellNews();
  }

  /** Adds what the fixtures hold, all or nothing. @throws ZodError, Refusal, RangeError */
  load(fixtures: unknown): void {
    this.#change(() =>
      loadFixtures(
        { routing: this.routing, faults: this.faults, push: (drivers) => this.#driverArea.add(drivers) },
        fixtures,
      ),
    );
    this.tellNews();
  }

  /** Goes back to what was held, and which faults waited, before fixtures were loaded. Requests stay. */
  unload(before: Moment, faults: QueueState): void {
    this.#change(() => this.#putBack(before));
    this.#endRequests('the emulator went back to what it held before fixtures were loaded');
    this.removals.clear();
    this.faults.restore(faults);
    this.tellNews();
  }

  /** Goes back to a snapshot, with no requests and no faults. @throws Refusal 404 */
  restore(name: string): void {
    this.returnTo(this.snapshots.moment(name));
  }

  returnTo(moment: Moment): void {
    this.#change(() => {
      this.#clearLog();
      this.#putBack(moment);
    });
    this.#endRequests('the emulator went back to a snapshot');
    this.faults.clear();
    this.removals.clear();
    this.tellNews();
  }

  /** What has arrived before must not change what is held now. */
  #endRequests(why: string): void {
    const ended = this.#ending;
    this.#ending = new AbortController();
    ended.abort(new ConnectionDropped(why));
  }

  /** Changes everything or, where that fails, as on a full disk, nothing: neither on the disk nor in memory. */
  #change(act: () => void): void {
    const { store } = this.routing;
    store.change(() => {
      const faults = this.faults.state;
      store.onFailure(() => this.faults.restore(faults));
      store.onFailure(this.#driverArea.hold());
      this.#database.transaction(act)();
    });
  }

  /** Within a change. */
  #clearLog(): void {
    this.routing.store.onFailure(this.log.clear());
  }

  #putBack({ drivers, routing }: Moment): void {
    this.routing.restore(routing);
    this.#driverArea.restore(drivers);
  }

  /** Another emulator that begins with what this one, or a snapshot of it, holds. It must be closed first. @throws Refusal 404 */
  fork(name?: string): Service {
    const moment = this.snapshots.moment(name);
    const { state: _state, fixtures: _fixtures, ...options } = this.#options;
    return new Service(options, { database: this.#database, tables: this.#tables, moment });
  }

  /** Ends requests that hang, wait or are half received, then closes the state. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#ending.abort(new ConnectionDropped('the emulator was closed'));
    await Promise.allSettled(this.#underWay);
    try {
      this.log.flush();
    } catch (error) {
      // Records of requests are all that a full disk can lose here.
      if (!isStorageTrouble(error)) throw error;
    } finally {
      if (this.#isFork) this.#driverArea.close();
      else this.#database.close();
    }
  }

  /** Tells open pages that something may be another one now. */
  tellNews(): void {
    for (const happened of this.#listeners) happened();
  }

  /** Comes first, so that a refused request is not recorded and uses up no fault. */
  #refuseForeignPages(): void {
    this.#app.use(async (context, next) => {
      const { req } = context;
      const obstacle = this.#own.obstacleOf(req.raw);
      if (obstacle !== undefined) return isConsole(req.path) ? refusalPage(obstacle) : refuse(403, obstacle);
      const origin = req.header('origin');
      if (origin === undefined || !this.#own.isAllowed(origin)) return next();
      const preflight = preflightAnswer(req.raw, origin);
      if (preflight !== undefined) return preflight;
      await next();
      return letPageRead(context.res, origin);
    });
  }

  #nameOrigin(): void {
    this.#app.use(async (context, next) => {
      context.set('origin', this.publicOrigin);
      await next();
    });
  }

  #recordExchanges(door: Door): void {
    this.#app.use(async (context, next) => {
      if (isControl(context.req.path)) {
        await next();
        if (context.req.method !== 'GET') this.tellNews();
        return;
      }
      const record = this.log.open(context.req.raw);
      // A fault is for a request that is let in: one without the token must not use it up.
      const refusal = door(context.req);
      const fault = refusal === undefined ? this.faults.take(context.req) : undefined;
      const exchange = new Exchange(context.req.raw, {
        record,
        fault,
        bodyBytesMax: this.#bodyBytesMax,
        keptBytesMax: this.#keptBytesMax,
        ending: this.#ending.signal,
        save: (known) => this.log.save(known),
      });
      context.set('exchange', exchange);
      if (refusal === undefined) await next();
      else context.res = await exchange.answer(() => refusal);
      record.status = context.res.status;
      this.#keepAnswer(context, record);
      context.res.headers.set('x-request-id', exchange.requestId);
      if (record.warnings.length > 0) context.res.headers.set('x-emulator-warning', record.warnings.join('; '));
      if (fault !== undefined) bend(context.res, fault);
      this.log.save(record);
      this.tellNews();
    });
  }

  #keepAnswer(context: Context<EmulatorEnv>, record: Entry): void {
    const text = textOf(context.res);
    // A character has up to three bytes in UTF-8 for each of its UTF-16 units.
    if (text !== undefined && text.length * 3 <= this.#keptBytesMax) {
      record.response = keptText(text);
      return;
    }
    const kept = new KeptBody(this.#keptBytesMax);
    record.response = kept;
    if (text !== undefined) kept.add(Buffer.from(text.slice(0, this.#keptBytesMax + 1)));
    else if (context.res.body !== null) context.res = keepBody(context.res, kept);
  }
}

function isControl(path: string): boolean {
  return path === controlPath || path.startsWith(`${controlPath}/`);
}
