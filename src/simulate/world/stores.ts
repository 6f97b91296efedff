/** What a state directory keeps, and the stores that a process opens on it. */
import type { LocalBuffer, PartStore, PartWriter, ReadPart, ReadStore } from '../../core/buffer.ts';
import type { Archive, HoldLog, Ledger, PushLog, RequestLog } from '../../core/ledger.ts';
import { type Plug, plugged } from './plug.ts';

/** The stores of one process. */
export interface Stores {
  readonly buffer: LocalBuffer;
  readonly ledger: Ledger;
  readonly archive: Archive;
}

/** A state directory. In memory, or the real one of SQLite where both are compared. */
export interface StateDirectory {
  open(): Stores;
  /** The buffer is gone: moved aside, or left out of a backup. */
  loseBuffer(): void;
  /** A snapshot of the archive cannot be read any more. */
  damageSnapshot(digest: string): void;
  /** Something of it is on its way that no clock of the simulated world knows of. */
  isBusy?(): boolean;
}

/** What moves accepted reads and acknowledgements: the checks listen to it. */
export interface StoreListener {
  /** @param parts those that it is made of now */
  accepted(source: string, parts: readonly ReadPart[]): void;
  /** Set or dropped without a review: by a rollback, a rebuilt buffer, or what was forgotten. */
  replaced(source: string, parts: readonly ReadPart[] | undefined): void;
  /** A snapshot of what is accepted now lies in the archive. */
  written(digest: string): void;
  /** A push was recorded as acknowledged. */
  acknowledged(digest: string): void;
}

const pushWrites = ['begin', 'end', 'endOrphans', 'acknowledge'] as const satisfies (keyof PushLog)[];
const holdWrites = [
  'hold',
  'release',
  'approve',
  'closeApproval',
  'recordDeletes',
  'inheritDeletes',
] as const satisfies (keyof HoldLog)[];
const requestWrites = ['add', 'finish'] as const satisfies (keyof RequestLog)[];
const partWrites = [
  'setVersion',
  'addRestoredOrigin',
  'setSeen',
  'prune',
  'noteLineEnd',
] as const satisfies (keyof PartStore)[];
const readWrites = ['set', 'drop', 'accept', 'removeDrivers', 'keepSummary'] as const satisfies (keyof ReadStore)[];

/** Stores whose every write may be the last one, and may find the disk full. */
export function pluggedStores({ buffer, ledger, archive }: Stores, plug: Plug, listener: StoreListener): Stores {
  const reads = plugged(listened(buffer.reads, { plug, listener }), plug, readWrites);
  const parts = plugged(withWriters(buffer.parts, plug), plug, partWrites);
  const rejects = plugged(buffer.rejects, plug, ['keep', 'keepOnly']);
  const { pushes, holds, requests, snapshots } = ledger;
  return {
    buffer: plugged({ ...buffer, parts, reads, rejects }, plug, ['setState']),
    ledger: plugged(
      {
        ...ledger,
        pushes: plugged(listenedPushes(pushes, listener), plug, pushWrites),
        holds: plugged(holds, plug, holdWrites),
        requests: plugged(requests, plug, requestWrites),
        snapshots: plugged(snapshots, plug, ['written', 'keepOnly']),
      },
      plug,
      ['setState'],
    ),
    archive: plugged(listenedArchive(archive, listener), plug, ['write', 'keepOnly']),
  };
}

/** The part that is being read is written piece by piece: each is a write of its own. */
function withWriters(parts: PartStore, plug: Plug): PartStore {
  return new Proxy(parts, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (key !== 'begin')
        return (...args: unknown[]): unknown => (value as (...all: unknown[]) => unknown).apply(target, args);
      return (...args: Parameters<PartStore['begin']>): PartWriter => {
        plug.write('begin');
        return plugged(target.begin(...args), plug, ['add', 'addPacked', 'commit', 'addOrigin', 'discard']);
      };
    },
  });
}

function listened(
  reads: ReadStore,
  { plug, listener }: { readonly plug: Plug; readonly listener: StoreListener },
): ReadStore {
  return new Proxy(reads, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (key === 'drivers') plug.readDrivers();
        const result = (value as (...all: unknown[]) => unknown).apply(target, args);
        if (key === 'accept') listener.accepted(args[0] as string, target.parts(args[0] as string, 'accepted') ?? []);
        if ((key === 'set' || key === 'drop') && args[1] === 'accepted') {
          const source = args[0] as string;
          listener.replaced(source, target.parts(source, 'accepted'));
        }
        return result;
      };
    },
  });
}

function listenedArchive(archive: Archive, listener: StoreListener): Archive {
  return {
    ...archive,
    async write(...drivers) {
      const snapshot = await archive.write(...drivers);
      listener.written(snapshot.digest);
      return snapshot;
    },
  };
}

function listenedPushes(pushes: PushLog, listener: StoreListener): PushLog {
  return new Proxy(pushes, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (key !== 'acknowledge')
        return (...args: unknown[]): unknown => (value as (...all: unknown[]) => unknown).apply(target, args);
      return async (...args: Parameters<PushLog['acknowledge']>): Promise<void> => {
        await target.acknowledge(...args);
        const push = await target.get(args[0]);
        if (push !== undefined) listener.acknowledged(push.digest);
      };
    },
  });
}
