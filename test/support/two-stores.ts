/** State directories of both kinds: in memory, as the simulated world has them, and on SQLite, as everybody has them. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Archive, Snapshot } from '../../src/core/ledger.ts';
import { openArchive } from '../../src/edges/state/archive.ts';
import { openBuffer } from '../../src/edges/state/buffer.ts';
import { openLedger } from '../../src/edges/state/ledger.ts';
import { memoryState } from '../../src/simulate/world/memory-state.ts';
import type { StateDirectory, Stores } from '../../src/simulate/world/stores.ts';

/** A state directory on SQLite, for as long as the test runs. Stores that were opened stay open until then, as those of a killed process. */
export function sqliteState(): StateDirectory {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-stores-'));
  const opened: Stores[] = [];
  const close = async (): Promise<void> => {
    for (const { buffer, ledger } of opened.splice(0)) {
      buffer.close();
      await ledger.close();
    }
  };
  onTestFinished(async () => {
    await close();
    rmSync(dir, { recursive: true });
  });
  let generation = 0;
  let busy = 0;
  const counted = async <T>(work: Promise<T>): Promise<T> => {
    busy++;
    try {
      return await work;
    } finally {
      busy--;
    }
  };
  return {
    open() {
      const ledger = openLedger(path.join(dir, 'ledger.db'), 'migrate');
      const buffer = openBuffer(path.join(dir, `buffer-${generation}.db`), 'write');
      const archive = countedArchive(openArchive(path.join(dir, 'archive'), ledger.snapshots), counted);
      const stores = { buffer, ledger, archive };
      opened.push(stores);
      return stores;
    },
    isBusy: () => busy > 0,
    loseBuffer() {
      generation++;
    },
    damageSnapshot(digest) {
      const name = readdirSync(path.join(dir, 'archive')).find((one) => one.startsWith(digest));
      if (name === undefined) return;
      // As in memory, what lies behind its title cannot be read.
      const file = path.join(dir, 'archive', name);
      const bytes = readFileSync(file);
      const at = Math.floor(bytes.length * 0.75);
      writeFileSync(file, bytes.fill(0, at, at + 8));
    },
  };
}

/** Its work goes on beside the clock of the simulated world. */
function countedArchive(archive: Archive, counted: <T>(work: Promise<T>) => Promise<T>): Archive {
  const of = (snapshot: Snapshot): Snapshot => ({
    ...snapshot,
    body() {
      const body = snapshot.body();
      return {
        ...body,
        async *chunks() {
          const chunks = body.chunks()[Symbol.asyncIterator]();
          for (;;) {
            const next = await counted(chunks.next());
            if (next.done === true) return;
            yield next.value;
          }
        },
      };
    },
  });
  return {
    ...archive,
    write: async (...snapshot) => of(await counted(archive.write(...snapshot))),
    async open(digest) {
      const found = await counted(archive.open(digest));
      return found && of(found);
    },
    keepOnly: (digests) => counted(archive.keepOnly(digests)),
  };
}

export const bothStates = [
  ['in memory', memoryState],
  ['on SQLite', sqliteState],
] as const;
