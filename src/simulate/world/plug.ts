/**
 * The plug of one process of the agent, and the disk under it. Every write of its stores goes through it: there the process may be
 * killed, before the write or after it, and there a full disk refuses. A process that was killed can write nothing more, so whatever
 * its promises still do has no effect.
 */
import { AgentError } from '../../core/errors.ts';

/** The process is gone. No code of the agent expects this, as none runs after a SIGKILL. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/** Shared by all processes of one history. */
export interface Disk {
  isFull: boolean;
  /** What the buffer holds cannot be read any more. */
  isBufferDamaged: boolean;
}

export class Plug {
  readonly #disk: Disk;
  readonly #written: (write: string) => void;
  /** How many writes go well before the process is killed. */
  #left = Infinity;
  #isPulled = false;
  /** What is to happen between two calls of its stores, and after how many. */
  #step: { left: number; readonly take: () => void } | undefined;

  constructor(disk: Disk, written: (write: string) => void) {
    this.#disk = disk;
    this.#written = written;
  }

  get isPulled(): boolean {
    return this.#isPulled;
  }

  /** Kills the process now. */
  pull(): void {
    this.#isPulled = true;
  }

  /** Kills it before its next write but so many. */
  pullAfter(writes: number): void {
    this.#left = writes;
  }

  /** Has something happen in the middle of what it does: before a call of its stores, when so many went before. */
  stepAfter(calls: number, take: () => void): void {
    this.#step = { left: calls, take };
  }

  /** Nothing goes on in a process that was killed. */
  check(): void {
    if (this.#isPulled) throw new Killed('the process was killed');
    if (this.#step === undefined || this.#step.left-- > 0) return;
    const { take } = this.#step;
    this.#step = undefined;
    take();
  }

  /** Called before drivers of the buffer are read. @throws AgentError `state.corrupt` */
  readDrivers(): void {
    if (!this.#disk.isBufferDamaged) return;
    throw new AgentError('state.corrupt', 'the buffer is damaged', { hint: 'the next run or sync rebuilds it' });
  }

  /** Called before a write takes effect. */
  write(name: string): void {
    this.check();
    if (this.#left <= 0) {
      this.#isPulled = true;
      this.#written(`killed before ${name}`);
      this.check();
    }
    this.#left--;
    if (this.#disk.isFull) {
      throw new AgentError('state.full', 'the disk is full', { hint: 'free some space: the agent goes on by itself' });
    }
  }
}

type Method = (...args: readonly unknown[]) => unknown;

/** Takes the place of a method, by its name. */
export type Wrap = (name: string, method: Method) => Method;

/** An object with other methods in the place of its own. They are made once: a Proxy would make one for each call. */
export function wrapped<T extends object>(store: T, wrap: Wrap): T {
  const made: Record<PropertyKey, unknown> = {};
  for (const key of keysOf(store)) {
    const value: unknown = Reflect.get(store, key, store);
    made[key] = typeof value === 'function' ? wrap(String(key), (value as Method).bind(store)) : value;
  }
  return made as T;
}

/** Its own keys and those of its classes. */
function keysOf(store: object): ReadonlySet<PropertyKey> {
  const keys = new Set<PropertyKey>(Reflect.ownKeys(store));
  for (let of = Reflect.getPrototypeOf(store); of !== null && of !== Object.prototype; of = Reflect.getPrototypeOf(of))
    for (const key of Reflect.ownKeys(of)) if (key !== 'constructor') keys.add(key);
  return keys;
}

/** An object whose writing methods ask the plug first. */
export function plugged<T extends object>(store: T, plug: Plug, writes: readonly (keyof T & string)[]): T {
  const isWrite = new Set<string>(writes);
  return wrapped(store, (name, method) =>
    isWrite.has(name)
      ? (...args) => {
          plug.write(name);
          return method(...args);
        }
      : (...args) => {
          plug.check();
          return method(...args);
        },
  );
}
