/** Parts whose bytes are elsewhere (on another machine, in an archive) and are copied here while they are read: whole, or not at all. */
import { AgentError } from '../../core/errors.ts';
import type { Part } from '../../core/model.ts';
import type { Clock } from '../../core/ports.ts';
import { type KeptFile, keepContent } from './keep.ts';
import type { PartNames } from './part-names.ts';
import { StableFile } from './stable-file.ts';
import { showPattern } from '../remote/address.ts';
import {
  type RemoteFile,
  type RemoteFiles,
  type RemoteStore,
  changedFile,
  goneFile,
  stoodStill,
  twoUsers,
} from '../remote/store.ts';

/** How long a file may take to hold still before a read gives up. */
const stillWaitMaxMs = 60_000;
/** Times have seconds: within this, a change may leave them as they are. */
const timeStepMs = 1000;
/** The clocks of two machines differ by less. A file that was changed longer ago holds still. */
const youngMs = 3_600_000;
/** A part is read more than once in a pass, for its rows and for its end: its copy is kept for so long. */
const idleMs = 60_000;
/** One, and the archive that it is a member of. */
const recentMax = 2;

export interface Copying {
  readonly settleMs: number;
  readonly bytesMax: number;
  readonly clock: Clock;
  readonly names: Pick<PartNames, 'ofRemote'>;
  /** See `SourceContext`. */
  readonly state: string | undefined;
}

/** What was copied, and the version of exactly that. */
export interface Copied {
  readonly version: string;
  readonly revisedAtMs: number;
  readonly kept: KeptFile;
}

interface Known {
  version: string;
  readonly copy: (signal: AbortSignal) => Promise<Copied>;
}

/** A file as it was seen at a time of the clock that never jumps. */
interface Seen {
  readonly file: RemoteFile;
  readonly seenMs: number;
}

/** A copy, and how many read it. */
interface Copy extends Copied {
  readonly name: string;
  users: number;
}

export class Copies {
  readonly #copying: Copying;
  /** By the names of parts, as they were listed last. */
  readonly #known = new Map<string, Known>();
  /** The last ones, the newest first. */
  #recent: Copy[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(copying: Copying) {
    this.#copying = copying;
  }

  /**
   * Files of other machines. What was known before is forgotten.
   * @throws AgentError `source.unreadable` where a place cannot be seen, a pattern matches nothing, or two users have a file of one name
   */
  async list(remotes: readonly RemoteFiles[], signal: AbortSignal): Promise<readonly Part[]> {
    const found = await Promise.all(remotes.map(async (files) => await findAll(files, signal)));
    this.#known.clear();
    const parts = new Map<string, Part>();
    /** By the address of a file: the first pattern that names it. */
    const owners = new Map<string, RemoteFiles>();
    for (const [at, files] of remotes.entries()) {
      const seenMs = this.#copying.clock.monotonicMs();
      for (const file of found[at] ?? []) {
        const { version, revisedAtMs } = file;
        const owner = owners.get(file.name) ?? files;
        if (owner.user !== files.user) throw twoUsers(file.name, owner.pattern, files.pattern);
        owners.set(file.name, owner);
        const part = { ...this.#copying.names.ofRemote(owner.pattern, file), version, revisedAtMs };
        this.add(part, (inner) => this.#fetch(files, { file, seenMs }, inner));
        parts.set(part.name, part);
      }
    }
    return [...parts.values()];
  }

  /** A part that `copy` makes a copy of. */
  add({ name, version }: Part, copy: (signal: AbortSignal) => Promise<Copied>): void {
    this.#known.set(name, { version, copy });
  }

  has(name: string): boolean {
    return this.#known.has(name);
  }

  /** Keeps content of a part, within the limit for one. @throws AgentError as `keepContent` */
  async keep(what: string, content: AsyncIterable<Uint8Array>): Promise<KeptFile> {
    const { state, bytesMax } = this.#copying;
    return await keepContent(content, { what, state, bytesMax });
  }

  /** @throws AgentError `part.changing` or `part.unreadable`; `source.unreadable` where its place cannot be reached */
  async open({ name }: Part, signal: AbortSignal): Promise<StableFile> {
    const known = this.#known.get(name) as Known;
    const there = this.#recent.find((copy) => copy.name === name && copy.version === known.version);
    const copy = there ?? (await this.#copy(name, known, signal));
    this.#recent = [copy, ...this.#recent.filter((other) => other !== copy)];
    copy.users++;
    const release = async (): Promise<void> => {
      copy.users--;
      if (copy.users === 0 && !this.#recent.includes(copy)) await copy.kept.remove();
    };
    try {
      const { version, revisedAtMs, kept } = copy;
      return await StableFile.open(kept.file, name, signal, { version, revisedAtMs, release });
    } catch (error) {
      await release();
      throw error;
    }
  }

  async #copy(name: string, known: Known, signal: AbortSignal): Promise<Copy> {
    const copy = { ...(await known.copy(signal)), name, users: 0 };
    known.version = copy.version;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#keepRecent([]), idleMs).unref();
    await this.#keepRecent([copy, ...this.#recent].slice(0, recentMax));
    return copy;
  }

  async #keepRecent(recent: Copy[]): Promise<void> {
    const left = this.#recent.filter((copy) => !recent.includes(copy));
    this.#recent = recent;
    for (const copy of left) if (copy.users === 0) await copy.kept.remove();
  }

  async #fetch(files: RemoteFiles, listed: Seen, signal: AbortSignal): Promise<Copied> {
    const store = await files.open(signal);
    try {
      const file = await standingStill(store, listed, this.#copying, signal);
      const kept = await this.keep(file.name, store.read(file, signal));
      const { version, revisedAtMs, bytes } = file;
      if (bytes === undefined || kept.bytes === bytes) return { version, revisedAtMs, kept };
      await kept.remove();
      throw changedFile(file);
    } finally {
      store.close();
    }
  }
}

async function findAll(files: RemoteFiles, signal: AbortSignal): Promise<readonly RemoteFile[]> {
  const store = await files.open(signal);
  try {
    const found = await store.find(files.pattern, signal);
    signal.throwIfAborted();
    if (found.length > 0) return found;
    throw new AgentError('source.unreadable', `nothing matches ${showPattern(files.pattern)}`, {
      hint: 'check the folder and the pattern; case matters',
    });
  } finally {
    store.close();
  }
}

/**
 * The file once it was seen standing still. All files of a list were seen at once, so that the wait for the first of them is that for
 * the others too.
 */
async function standingStill(
  store: RemoteStore,
  { file: listed, seenMs: listedMs }: Seen,
  { settleMs, clock }: Copying,
  signal: AbortSignal,
): Promise<RemoteFile> {
  const isOld = Math.abs(clock.now().getTime() - listed.revisedAtMs) > youngMs;
  if (store.look === undefined || settleMs === 0 || isOld) return listed;
  const endMs = clock.monotonicMs() + stillWaitMaxMs;
  for (let [file, seenMs] = [listed, listedMs]; ;) {
    const neededMs = settleMs + (file.isYoung === true ? timeStepMs : 0);
    const leftMs = seenMs + neededMs - clock.monotonicMs();
    if (leftMs > 0) await clock.sleep(leftMs, signal);
    const now = await store.look(file, signal);
    if (now === undefined) throw goneFile(file);
    if (stoodStill(file, now)) return now;
    seenMs = clock.monotonicMs();
    if (seenMs + settleMs > endMs) {
      throw new AgentError('part.changing', `${file.name} did not hold still for ${settleMs / 1000} s`, {
        hint: 'it is read once it does; upload under another name and rename it when done',
      });
    }
    file = now;
  }
}
