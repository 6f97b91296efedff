/**
 * systemd, told how the daemon is. Node opens no datagram socket, so `systemd-notify` does it: a child process that nobody waits for
 * but the next message, which must not overtake it.
 */
import * as childProcess from 'node:child_process';
import type { Log, Supervisor } from '../core/ports.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Sends lines such as `READY=1` in one message. @throws where it could not be sent */
export type SendToSystemd = (assignments: readonly string[]) => Promise<void>;

export interface SystemdOptions {
  readonly env: Environment;
  readonly log: Log;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
  /** Default: by `systemd-notify`. */
  readonly send?: SendToSystemd;
}

/** Of the time that is left to the loop, this much may go by before systemd hears again that it moves. */
const pingAfter = 1 / 3;
const sendMaxMs = 10_000;
/** The end of the daemon waits this long for its last message. */
const endMaxMs = 3000;
/** What waits behind a systemd that does not listen. */
const queueMax = 50;
const statusMax = 500;

/** `undefined` where nobody watches over this process. */
export function openSupervisor(options: SystemdOptions): Supervisor | undefined {
  const socket = options.env['NOTIFY_SOCKET'] ?? '';
  if (socket === '') return undefined;
  const { env, send = (assignments) => systemdNotify(assignments, env) } = options;
  return new Systemd({ ...options, send }, (env['WATCHDOG_USEC'] ?? '') !== '');
}

class Systemd implements Supervisor {
  readonly #options: SystemdOptions & { readonly send: SendToSystemd };
  readonly #isWatched: boolean;
  #queue: (readonly string[])[] = [];
  #sending: Promise<void> | undefined;
  #hasFailed = false;
  #isReady = false;
  #isEnding = false;
  #toldMs = -Infinity;
  #toldAllowanceMs = 0;
  #status = '';

  constructor(options: SystemdOptions & { readonly send: SendToSystemd }, isWatched: boolean) {
    this.#options = options;
    this.#isWatched = isWatched;
  }

  beat(allowanceMs: number): void {
    if (this.#isEnding) return;
    const nowMs = this.#options.monotonicMs();
    const isReadyNow = !this.#isReady;
    // A step that may take longer, or less long, than the one before says so at once: systemd waits for just as long.
    const isDue = allowanceMs !== this.#toldAllowanceMs || nowMs >= this.#toldMs + allowanceMs * pingAfter;
    const watchdog =
      this.#isWatched && (isDue || isReadyNow) ? [`WATCHDOG_USEC=${Math.ceil(allowanceMs * 1000)}`, 'WATCHDOG=1'] : [];
    if (watchdog.length > 0) {
      this.#toldMs = nowMs;
      this.#toldAllowanceMs = allowanceMs;
    }
    this.#isReady = true;
    this.#send([...(isReadyNow ? ['READY=1'] : []), ...watchdog]);
  }

  reloading(): void {
    this.#isReady = false;
    // The kernel's clock, which systemd has too; other clocks count from when this process began.
    this.#send(['RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`]);
  }

  stopping(): void {
    this.#isEnding = true;
    // What still waits says how a loop was that ends now.
    this.#queue = [];
    this.#send(['STOPPING=1']);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, endMaxMs);
    await Promise.race([this.#sending, promise]);
    clearTimeout(timer);
  }

  status(text: string): void {
    const status = text.replaceAll(/[\r\n]+/g, ' ').slice(0, statusMax);
    if (status === this.#status) return;
    this.#status = status;
    this.#send([`STATUS=${status}`]);
  }

  #send(assignments: readonly string[]): void {
    if (assignments.length === 0 || this.#queue.length >= queueMax) return;
    this.#queue.push(assignments);
    this.#sending ??= this.#sendAll();
  }

  /** One after the other; a failure is said once, and nothing else comes of it. */
  async #sendAll(): Promise<void> {
    const { send, log } = this.#options;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      try {
        await send(next);
        this.#hasFailed = false;
      } catch (error) {
        if (!this.#hasFailed) log.warn('systemd cannot be told how the daemon is', { error: messageOf(error) });
        this.#hasFailed = true;
      }
    }
    this.#sending = undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns once systemd has taken the message: `systemd-notify` waits for that. */
function systemdNotify(assignments: readonly string[], { NOTIFY_SOCKET, PATH }: Environment): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = childProcess.spawn('systemd-notify', [...assignments], {
      env: { NOTIFY_SOCKET, PATH },
      stdio: 'ignore',
    });
    // It must not keep a process alive that has ended its work.
    child.unref();
    const timer = setTimeout(() => child.kill('SIGKILL'), sendMaxMs);
    timer.unref();
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(new Error(`systemd-notify cannot be started: ${error.message}`));
    });
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve();
      else reject(new Error(`systemd-notify ended with ${signal ?? code}`));
    });
  });
}
