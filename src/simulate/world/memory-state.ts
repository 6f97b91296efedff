/** A state directory in memory. */
import { type KeptSnapshot, memoryArchive } from '../state/memory-archive.ts';
import { memoryBuffer } from '../state/memory-buffer.ts';
import { memoryLedger } from '../state/memory-ledger.ts';
import { Records } from '../state/records.ts';
import { emptyTables } from '../state/tables.ts';
import type { StateDirectory } from './stores.ts';

export function memoryState(): StateDirectory {
  let tables = emptyTables();
  const records = new Records();
  const files = new Map<string, KeptSnapshot>();
  return {
    open() {
      const ledger = memoryLedger(records);
      return { buffer: memoryBuffer(tables), ledger, archive: memoryArchive(files, ledger.snapshots) };
    },
    loseBuffer() {
      tables = emptyTables();
    },
    damageSnapshot(digest) {
      const file = files.get(digest);
      if (file !== undefined) file.isDamaged = true;
    },
  };
}
