/**
 * What an agent has seen of its ledger, on its own disk: a database that was promoted, restored or exchanged cannot say what
 * it has lost.
 */
import { closeSync, existsSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Seen } from '../../core/election/doubt.ts';
import { onFile } from '../state/file-failure.ts';
import { openNew } from '../state/private-file.ts';

const name = 'ledger-seen.json';

export class SeenFile {
  readonly #file: string;
  #seen: Seen | undefined;

  constructor(stateDir: string) {
    this.#file = path.join(stateDir, name);
    this.#seen = readSeen(this.#file);
  }

  get(): Seen | undefined {
    return this.#seen;
  }

  /** Changes what is given and leaves the rest. @throws AgentError `state.full`, `state.unwritable` */
  set(changed: Partial<Seen>): void {
    const next = { term: 0, ...this.#seen, ...changed };
    if (JSON.stringify(next) === JSON.stringify(this.#seen)) return;
    const draft = `${this.#file}.draft`;
    onFile(this.#file, () => {
      rmSync(draft, { force: true });
      const fd = openNew(draft);
      try {
        writeSync(fd, JSON.stringify(next));
      } finally {
        closeSync(fd);
      }
      renameSync(draft, this.#file);
    });
    this.#seen = next;
  }
}

/** Forgets the ledger that was shared. */
export function forgetShared(stateDir: string): void {
  rmSync(path.join(stateDir, name), { force: true });
}

/** Whether the agent of a state directory shared a ledger. */
export function isShared(stateDir: string): boolean {
  return existsSync(path.join(stateDir, name));
}

function readSeen(file: string): Seen | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Seen;
  } catch {
    // Half written before a power cut. What it said is not known any more, and the next look writes it anew.
    return undefined;
  }
}
