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

  /** Nothing goes on in a process that was killed. */
  check(): void {
    if (this.#isPulled) throw new Killed('the process was killed');
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

/** An object whose writing methods ask the plug first. */
export function plugged<T extends object>(store: T, plug: Plug, writes: readonly (keyof T & string)[]): T {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      const isWrite = (writes as readonly (string | symbol)[]).includes(key);
      return (...args: unknown[]): unknown => {
        if (isWrite) plug.write(String(key));
        else plug.check();
        return (value as (...all: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}
