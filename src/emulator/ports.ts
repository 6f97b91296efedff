/** The ports at which emulators listen. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { EmulatorOptions } from './options.ts';

/** All of them from the first to the last; without a range any free port. @throws RangeError */
export function portsOf(range: EmulatorOptions['forkPorts']): readonly number[] {
  if (range === undefined) return [0];
  const [first, last] = range;
  const isRange = [first, last].every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535) && first <= last;
  if (!isRange) throw new RangeError(`forkPorts must be the first and the last of some ports, not ${range.join('-')}`);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Listens at the first of these ports that is free. @throws Error of the last one where none is */
export async function bind(server: Server, ports: readonly number[], host: string): Promise<void> {
  for (const [index, port] of ports.entries()) {
    server.listen(port, host);
    try {
      // Rejects with the error of `listen`.
      await once(server, 'listening');
      return;
    } catch (error) {
      if (!isInUse(error) || index === ports.length - 1) throw error;
    }
  }
}

export function isInUse(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
}
