/** The database that the agents of several machines share: ledger and archive in memory, and the rows of the election. */
import { doubtOf } from '../../core/election/doubt.ts';
import type { AgentSaid, SharedView } from '../../core/election/lead.ts';
import type { Claim, LeadRows, Telling, Term } from '../../core/election/rows.ts';
import { AgentError } from '../../core/errors.ts';
import type { Archive, HoldLog, Ledger, NewPush, PushLog, RequestLog, SnapshotLog } from '../../core/ledger.ts';
import { type KeptSnapshot, memoryArchive } from '../state/memory-archive.ts';
import { memoryLedger } from '../state/memory-ledger.ts';
import { Records } from '../state/records.ts';
import type { WorldClock } from '../world/clock.ts';
import { wrapped } from '../world/plug.ts';
import type { BegunPush } from './fleet-rollback.ts';

/** How the statements of one process reach the database: late, or not at all. */
export type Way = <T>(statement: () => T | Promise<T>) => Promise<T>;

export interface DatabaseListener {
  claimed(by: Term): void;
  /** Nobody leads from then on, unless the row changes. */
  deadline(atMs: number, by: Term): void;
  /** A write was refused: its term is over. */
  refused(): void;
  /** A push is on record as begun. */
  begun(push: BegunPush): void;
  /** The newest push is on record as acknowledged. */
  acknowledged(id: number): void;
}

const cluster = 'simulated/00000001';
const silentMs = 60_000;

/** The leader's alone; what is asked may be written by any process. */
const pushWrites = ['begin', 'end', 'endOrphans', 'acknowledge'] as const satisfies (keyof PushLog)[];
const holdWrites = [
  'hold',
  'release',
  'closeApproval',
  'reopenApproval',
  'recordDeletes',
  'settleDeletes',
  'forgetDeletes',
  'inheritDeletes',
] as const satisfies (keyof HoldLog)[];
const requestWrites = ['finish', 'reopen'] as const satisfies (keyof RequestLog)[];
const snapshotWrites = ['written', 'keepOnly'] as const satisfies (keyof SnapshotLog)[];

export class SharedDatabase {
  readonly #clock: WorldClock;
  readonly #listener: DatabaseListener;
  readonly #records = new Records();
  readonly #files = new Map<string, KeptSnapshot>();
  /** All of it, as one who asks the database itself sees it. */
  readonly ledger: Ledger = memoryLedger(this.#records);
  readonly #archive = memoryArchive(this.#files, this.ledger.snapshots);
  readonly #agents = new Map<string, Telling & { readonly sinceMs: number; readonly seenMs: number }>();
  #row: Readonly<{
    term: number;
    holder: string | undefined;
    host: string;
    deadlineMs: number;
    sinceMs: number;
    config: string | undefined;
    address: string | undefined;
    cluster: string | undefined;
  }>;

  constructor(clock: WorldClock, listener: DatabaseListener) {
    this.#clock = clock;
    this.#listener = listener;
    const nobody = { holder: undefined, config: undefined, address: undefined, cluster: undefined };
    this.#row = { term: 0, host: '', deadlineMs: this.#nowMs(), sinceMs: 0, ...nobody };
  }

  #nowMs(): number {
    return this.#clock.now().getTime();
  }

  get deadlineMs(): number {
    return this.#row.deadlineMs;
  }

  isLed({ holder, term }: Term): boolean {
    return this.#row.holder === holder && this.#row.term === term;
  }

  /** The election's rows, as one process asks them. */
  rows(way: Way): LeadRows {
    return {
      label: 'the simulated ledger',
      look: () => way(() => this.#look()),
      claim: (by) => way(() => this.#claim(by)),
      renew: ({ leaseMs, config, address, head, ...mine }) =>
        way(() => {
          const nowMs = this.#nowMs();
          const hasHead = head === undefined || this.#hasRecord(head);
          if (!this.isLed(mine)) return { nowMs, isHeld: false, timeline: '', hasHead };
          this.#row = { ...this.#row, config, address };
          this.#setDeadline(nowMs + leaseMs, mine);
          return { nowMs, isHeld: true, timeline: '00000001', hasHead };
        }),
      resign: (self, mine) =>
        way(() => {
          this.#agents.delete(self);
          if (mine === undefined || !this.isLed(mine)) return;
          this.#row = { ...this.#row, holder: undefined };
          this.#setDeadline(this.#nowMs(), mine);
        }),
      tell: (by, oldMs = Infinity) =>
        way(() => {
          const seenMs = this.#nowMs();
          this.#agents.set(by.id, { ...by, sinceMs: this.#agents.get(by.id)?.sinceMs ?? seenMs, seenMs });
          for (const [id, agent] of this.#agents) if (seenMs - agent.seenMs > oldMs) this.#agents.delete(id);
        }),
      hasRecord: (record) => way(() => this.#hasRecord(record)),
      state: () => way(() => this.ledger.state()),
    };
  }

  #hasRecord(record: string): boolean {
    return Number(record.split(':')[0]) <= this.#records.noted;
  }

  async #look(): ReturnType<LeadRows['look']> {
    const nowMs = this.#nowMs();
    const { term, holder, deadlineMs, config, address, cluster: where = null } = this.#row;
    return {
      nowMs,
      row: { term, holder, leftMs: deadlineMs - nowMs, deadline: deadlineMs, leaseMs: undefined, config, address },
      cluster: where,
      agents: [...this.#agents.values()].map(({ id, config: own, seenMs, said }) => {
        const { would, broken } = JSON.parse(said) as AgentSaid;
        const isAble = would !== undefined && broken === undefined;
        return { id, config: own, seenAgoMs: nowMs - seenMs, isAble };
      }),
      asked: await this.ledger.requests.asked(),
      wakes: 0,
      head: await this.ledger.head(),
      version: 1,
    };
  }

  async #claim(by: Claim): ReturnType<LeadRows['claim']> {
    const nowMs = this.#nowMs();
    const { term, holder, deadlineMs, cluster: before } = this.#row;
    if (deadlineMs > nowMs && holder !== by.holder) return { nowMs, term: undefined, cluster: '', doubt: undefined };
    const doubt = doubtOf(by, { term, before, cluster, lastDoubt: this.#records.state.lastDoubt });
    const mine = { holder: by.holder, term: Math.max(term, by.seenTerm) + 1 };
    const { host, config, address } = by;
    this.#row = { ...mine, host, config, address, cluster, sinceMs: nowMs, deadlineMs: nowMs + by.leaseMs };
    this.#listener.claimed(mine);
    this.#setDeadline(nowMs + by.leaseMs, mine);
    return { nowMs, term: mine.term, cluster, doubt };
  }

  #setDeadline(deadlineMs: number, by: Term): void {
    this.#row = { ...this.#row, deadlineMs };
    this.#listener.deadline(deadlineMs, by);
  }

  /** How things stand among the agents. */
  view(): SharedView {
    const nowMs = this.#nowMs();
    const { term, holder, host, deadlineMs, sinceMs, config, address } = this.#row;
    const isLed = holder !== undefined && deadlineMs > nowMs;
    return {
      term,
      leader: isLed ? { id: holder, host, pid: 1, sinceMs } : undefined,
      address,
      agents: [...this.#agents.values()].map(({ config: own, said, ...agent }) => ({
        ...agent,
        isSilent: nowMs - agent.seenMs > silentMs,
        hasLeadersConfig: config === undefined || own === config,
        said: JSON.parse(said) as AgentSaid,
      })),
    };
  }

  /** The ledger as one process has it: the writes of a leader name its term, and fail with another. */
  ledgerOver(way: Way, term: () => Term | undefined): Ledger {
    const { pushes, holds, requests, snapshots } = this.ledger;
    const over = <Store extends object>(store: Store, writes: readonly (keyof Store & string)[]): Store => {
      const fenced = new Set<string>(writes);
      return wrapped(store, (name, method) => (...args) => {
        const statement = async (): Promise<unknown> => {
          const answer = await method(...args);
          if (name === 'begin') this.#listener.begun({ ...(args[0] as NewPush), id: answer as number });
          if (name === 'acknowledge') this.#listener.acknowledged(args[0] as number);
          return answer;
        };
        return fenced.has(name) ? this.#write(way, term, statement) : way(statement);
      });
    };
    return {
      ...over(this.ledger, ['setState']),
      pushes: over(pushes, pushWrites),
      holds: over(holds, holdWrites),
      requests: over(requests, requestWrites),
      snapshots: over(snapshots, snapshotWrites),
      agents: () => way(() => this.view()),
      shrink: async () => undefined,
      close: async () => undefined,
    };
  }

  /** @throws AgentError `ledger.led` */
  async #write<T>(way: Way, term: () => Term | undefined, statement: () => Promise<T>): Promise<T> {
    const mine = term();
    if (mine === undefined) throw ledByOther();
    return way(() => {
      if (this.isLed(mine)) return statement();
      this.#listener.refused();
      throw ledByOther();
    });
  }

  /** The archive as one process has it, and as it has it while another one leads. @param local the machine's own files */
  archivesOver(
    way: Way,
    term: () => Term | undefined,
    local: Map<string, KeptSnapshot>,
  ): { readonly leading: Archive; readonly following: Archive } {
    const own = memoryArchive(local, { written: nothing, keepOnly: nothing, isKept: async () => true });
    const leading: Archive = {
      write: async (...what) => {
        const snapshot = await own.write(...what);
        const { digest } = snapshot;
        await this.#write(way, term, async () => {
          this.#files.set(digest, local.get(digest)!);
          await this.ledger.snapshots.written(digest, digest);
        });
        return snapshot;
      },
      open: (digest) => way(() => this.#archive.open(digest)),
      storedBytes: (digest) => way(() => this.#archive.storedBytes(digest)),
      keepOnly: async (digests) => {
        await this.#write(way, term, () => this.#archive.keepOnly(digests));
        await own.keepOnly(digests);
      },
    };
    const following: Archive = {
      ...leading,
      write: (...what) => own.write(...what),
      open: async (digest) => (await leading.open(digest)) ?? (await own.open(digest)),
      keepOnly: (digests) => own.keepOnly(digests),
    };
    return { leading, following };
  }
}

const nothing = async (): Promise<void> => undefined;

function ledByOther(): AgentError {
  return new AgentError('ledger.led', 'another agent leads the simulated ledger');
}
