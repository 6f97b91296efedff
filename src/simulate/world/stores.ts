/** What a state directory keeps, and the stores that a process opens on it. */
import type { LocalBuffer, PartStore, PartWriter, ReadPart, ReadStore } from '../../core/buffer.ts';
import type { Archive, HoldLog, Ledger, PushLog, RequestLog } from '../../core/ledger.ts';
import { type Plug, plugged, wrapped } from './plug.ts';

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
  /** @param together the parts of all sources whose candidates became accepted in the same step, by source */
  accepted(source: string, together: ReadonlyMap<string, readonly ReadPart[]>): void;
  /**
   * Set or dropped without a review: by a rollback, a rebuilt buffer, or what was forgotten.
   * @param gone parts that the snapshot before stood for, and the one in its place does not
   */
  replaced(source: string, parts: readonly ReadPart[] | undefined, gone: readonly string[]): void;
  /** A source that left the config has these drivers no longer. */
  yielded(source: string, drivers: readonly string[]): void;
  /** A snapshot of what is accepted now lies in the archive. */
  written(digest: string): void;
  /** A push was recorded as acknowledged. */
  acknowledged(digest: string, isRollback: boolean): void;
  /** A rollback that was asked for is not carried out, now or later: its snapshot is damaged, or the service refused it. */
  gaveUpRollback(): void;
}

const pushWrites = ['begin', 'end', 'endOrphans', 'acknowledge'] as const satisfies (keyof PushLog)[];
const holdWrites = [
  'hold',
  'release',
  'approve',
  'closeApproval',
  'reopenApproval',
  'recordDeletes',
  'settleDeletes',
  'forgetDeletes',
  'inheritDeletes',
] as const satisfies (keyof HoldLog)[];
const requestWrites = ['add', 'finish', 'reopen'] as const satisfies (keyof RequestLog)[];
const partWrites = [
  'setVersion',
  'rename',
  'addRestoredOrigin',
  'setSeen',
  'redate',
  'prune',
  'noteLineEnd',
] as const satisfies (keyof PartStore)[];
const readWrites = ['set', 'drop', 'accept', 'removeDrivers', 'keepSummary'] as const satisfies (keyof ReadStore)[];

/** Stores whose every write may be the last one, and may find the disk full. */
export function pluggedStores({ buffer, ledger, archive }: Stores, plug: Plug, listener: StoreListener): Stores {
  const reads = plugged(listened(buffer, { plug, listener }), plug, readWrites);
  const parts = plugged(withWriters(buffer.parts, plug), plug, partWrites);
  const rejects = plugged(buffer.rejects, plug, ['keep', 'keepOnly', 'copy']);
  const growths = plugged(buffer.growths, plug, ['setProven', 'disprove', 'compact']);
  const { pushes, holds, requests, snapshots } = ledger;
  return {
    buffer: plugged({ ...buffer, parts, growths, reads, rejects }, plug, ['setState']),
    ledger: plugged(
      {
        ...ledger,
        pushes: plugged(listenedPushes(pushes, listener), plug, pushWrites),
        holds: plugged(holds, plug, holdWrites),
        requests: plugged(listenedRequests(requests, listener), plug, requestWrites),
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
  const writerWrites = ['add', 'addPacked', 'commit', 'addOrigin', 'discard'] as const satisfies (keyof PartWriter)[];
  return wrapped(parts, (name, method) => {
    if (name !== 'begin') return method;
    return (...args) => {
      plug.write('begin');
      return plugged(method(...args) as PartWriter, plug, writerWrites);
    };
  });
}

function listened(
  { reads, parts }: Pick<LocalBuffer, 'reads' | 'parts'>,
  { plug, listener }: { readonly plug: Plug; readonly listener: StoreListener },
): ReadStore {
  const originsOf = (source: string): readonly string[] =>
    (reads.parts(source, 'accepted') ?? []).flatMap(({ id, kind }) =>
      kind === 'snapshot' ? parts.originsOf(id).map((origin) => origin.name) : [],
    );
  return wrapped(reads, (name, method) => (...args) => {
    if (name === 'drivers') plug.readDrivers();
    const source = args[0] as string;
    const ids = name === 'removeDrivers' ? [...(args[1] as Iterable<string>)] : [];
    const isReplaced = (name === 'set' || name === 'drop') && args[1] === 'accepted';
    const before = isReplaced ? originsOf(source) : [];
    const result = name === 'removeDrivers' ? method(args[0], ids) : method(...args);
    if (name === 'accept') {
      const sources = [...(args[0] as ReadonlyMap<string, unknown>).keys()];
      const together = new Map(sources.map((one) => [one, reads.parts(one, 'accepted') ?? []]));
      for (const one of sources) listener.accepted(one, together);
    }
    if (name === 'removeDrivers') listener.yielded(source, ids);
    if (isReplaced) {
      const after = originsOf(source);
      const gone = after.length === 0 ? [] : before.filter((part) => !after.includes(part));
      listener.replaced(source, reads.parts(source, 'accepted'), gone);
    }
    return result;
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
  return wrapped(pushes, (name, method) => {
    if (name !== 'acknowledge') return method;
    return async (...args) => {
      await method(...args);
      const push = await pushes.get(args[0] as number);
      if (push !== undefined) listener.acknowledged(push.digest, push.rollbackOf !== undefined);
    };
  });
}

function listenedRequests(requests: RequestLog, listener: StoreListener): RequestLog {
  return wrapped(requests, (name, method) => {
    if (name !== 'finish') return method;
    return async (...args) => {
      const [id, result] = args as Parameters<RequestLog['finish']>;
      const asked = (await requests.pending()).find((one) => one.id === id);
      await method(...args);
      if (asked?.request.kind !== 'rollback') return;
      const { outcome } = JSON.parse(result) as { readonly outcome: string };
      if (outcome === 'refused') listener.gaveUpRollback();
    };
  });
}
