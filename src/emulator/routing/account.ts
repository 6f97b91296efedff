/** The organization's credits, limits and usage. */
import type { Usage, UsageQuery } from '../../contract/routing-resources.ts';
import { isoOf } from './clock.ts';
import { invalidAt } from './refusal.ts';
import type { RoutingState, RoutingStore, Shelf } from './store.ts';
import type { Ending, Task } from './tasks.ts';

/** The columns of the vendor's table of tiers. */
const groups = ['video', 'image', 'audio', 'characters', 'upscale'] as const;
type Group = (typeof groups)[number];

/** The vendor's tiers, in the order of `groups`. `monthly` is in credits of one cent. `docs/SERVICE.md` says how sure they are. */
const tiers = [
  { concurrency: [1, 2, 2, 1, 1], daily: [50, 200, 200, 50, 50], monthly: 10_000 },
  { concurrency: [3, 3, 3, 3, 3], daily: [500, 1_000, 1_000, 500, 1_000], monthly: 50_000 },
  { concurrency: [5, 5, 5, 5, 5], daily: [1_000, 2_000, 2_000, 1_000, 2_000], monthly: 200_000 },
  { concurrency: [10, 10, 10, 10, 10], daily: [5_000, 10_000, 10_000, 5_000, 10_000], monthly: 2_000_000 },
  { concurrency: [20, 20, 20, 20, 20], daily: [25_000, 30_000, 30_000, 25_000, 30_000], monthly: 10_000_000 },
] as const;

const dayMs = 24 * 60 * 60 * 1000;

/** Days that usage covers by default, and at most. */
const usageDaysDefault = 30;
const usageDaysMax = 90;

/** Dates on the wire have four-digit years: the first such day, and the day after the last. */
const firstDay = dayOf('0000-01-01');
const endDay = dayOf('9999-12-31') + 1;

/** Credits that were taken, or refunded if negative. An entry with `generation` counts towards the daily cap. */
interface Entry {
  readonly id: string;
  readonly seq: number;
  readonly atMs: number;
  readonly model: string;
  readonly credits: number;
  readonly generation: boolean;
}

interface Balance {
  readonly id: string;
  readonly seq: number;
  readonly credits: number;
}

export interface AccountOptions {
  readonly store: RoutingStore;
  /** The balance. Default: that of the state, or else 100 000. */
  readonly credits: number | undefined;
  /** 1 to 5. Default: the concurrency of tier 1 without daily caps. */
  readonly tier: number | undefined;
}

const creditsDefault = 100_000;

export class Account {
  readonly #store: RoutingStore;
  readonly #entries: Shelf<Entry>;
  readonly #balance: Shelf<Balance>;
  readonly #creditsAtStart: number;
  readonly #hasCaps: boolean;
  readonly #tier: (typeof tiers)[number];
  /** Times of the generations of the last day by model, oldest first. */
  readonly #recent = new Map<string, number[]>();

  /** @throws RangeError for a balance or a tier that is out of range. */
  constructor({ store, credits, tier }: AccountOptions) {
    if (credits !== undefined && !(Number.isSafeInteger(credits) && credits >= 0)) {
      throw new RangeError(`credits must be a whole number, not ${credits}`);
    }
    const limits = tier === undefined ? tiers[0] : tiers.find((_, index) => index + 1 === tier);
    if (limits === undefined)
      throw new RangeError(`tier must be from 1 to ${tiers.length}, not ${JSON.stringify(tier)}`);
    this.#store = store;
    this.#entries = store.shelf<Entry>('entry');
    this.#balance = store.shelf<Balance>('balance');
    this.#creditsAtStart = credits ?? creditsDefault;
    this.#hasCaps = tier !== undefined;
    this.#tier = limits;
    const isNew = this.#balance.get('balance') === undefined;
    if (isNew || credits !== undefined) store.change(() => this.#setBalance(this.#creditsAtStart));
    this.#rebuild();
    store.onRollback(() => this.#rebuild());
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  get credits(): number {
    return this.#balance.get('balance')?.credits ?? 0;
  }

  /** The balance of a state that the store has dumped. */
  creditsIn(state: RoutingState): number {
    const [balance] = (state.get('balance') ?? []) as readonly Balance[];
    return balance?.credits ?? 0;
  }

  setCredits(credits: number): void {
    this.#store.change(() => this.#setBalance(credits));
  }

  get monthlyCreditsMax(): number {
    return this.#tier.monthly;
  }

  concurrencyMax(group: Group): number {
    return this.#tier.concurrency[groups.indexOf(group)] ?? 1;
  }

  /** null means no cap. */
  dailyMax(group: Group): number | null {
    return this.#hasCaps ? (this.#tier.daily[groups.indexOf(group)] ?? null) : null;
  }

  /** Generations with this model in the last 24 hours. */
  dailyGenerations(model: string, nowMs: number): number {
    const recent = this.#recent.get(model);
    if (recent === undefined) return 0;
    const firstWithin = recent.findIndex((atMs) => atMs > nowMs - dayMs);
    recent.splice(0, firstWithin === -1 ? recent.length : firstWithin);
    return recent.length;
  }

  /** Within a change. */
  charge(task: { readonly id: string; readonly model: string }, credits: number, nowMs: number): void {
    this.#enter({ id: `${task.id}+`, atMs: nowMs, model: task.model, credits, generation: true });
    const recent = this.#recent.get(task.model);
    if (recent === undefined) this.#recent.set(task.model, [nowMs]);
    else recent.push(nowMs);
  }

  /**
   * Refunds a task and returns its final cost. A failure costs nothing unless the input caused it, and a task that was
   * cancelled before it ran costs nothing. Called within a change.
   */
  refund(task: Task, ending: Ending, atMs: number): number {
    const isOwed =
      ending.status === 'SUCCEEDED' ||
      (ending.status === 'FAILED' && isFaultOfInput(ending.failureCode)) ||
      (ending.status === 'CANCELLED' && task.admittedMs !== null && atMs - task.admittedMs >= task.durationMs / 10);
    if (isOwed) return task.chargedCredits;
    this.#enter({ id: `${task.id}-`, atMs, model: task.model, credits: -task.chargedCredits, generation: false });
    return 0;
  }

  /** `POST /v1/organization/usage`: every day from `startDate` to the day before `beforeDate`. */
  usage({ startDate, beforeDate }: UsageQuery, nowMs: number): Usage {
    const today = Math.floor(nowMs / dayMs);
    const lastDefault = beforeDate === undefined ? today + 1 : dayOf(beforeDate);
    const first = startDate === undefined ? lastDefault - usageDaysDefault : dayOf(startDate);
    const end = beforeDate === undefined ? first + usageDaysDefault : lastDefault;
    if (first < firstDay)
      throw invalidAt(['beforeDate'], `must be at least ${usageDaysDefault} days after year 0 begins`);
    if (end > endDay) throw invalidAt(['startDate'], `must be at least ${usageDaysDefault} days before year 9999 ends`);
    if (end <= first) throw invalidAt(['beforeDate'], 'must be after startDate');
    if (end - first > usageDaysMax)
      throw invalidAt(['beforeDate'], `must be at most ${usageDaysMax} days after startDate`);
    const days = Array.from({ length: end - first }, () => new Map<string, number>());
    for (const { atMs, model, credits } of this.#entries.values()) {
      const day = days[Math.floor(atMs / dayMs) - first];
      day?.set(model, (day.get(model) ?? 0) + credits);
    }
    return {
      results: days.map((day, index) => ({
        date: isoOf((first + index) * dayMs).slice(0, 10),
        usedCredits: [...day].map(([model, amount]) => ({ model, amount })),
      })),
      models: [...new Set(days.flatMap((day) => [...day.keys()]))].sort(),
    };
  }

  /** Within a change. */
  clear(): void {
    for (const { id } of this.#entries.values()) this.#entries.delete(id);
    this.#setBalance(this.#creditsAtStart);
    this.#rebuild();
  }

  #enter(entry: Omit<Entry, 'seq'>): void {
    this.#entries.set({ ...entry, seq: this.#store.nextSeq() });
    this.#setBalance(this.credits - entry.credits);
  }

  #setBalance(credits: number): void {
    this.#balance.set({ id: 'balance', seq: 0, credits });
  }

  #rebuild(): void {
    this.#recent.clear();
    for (const { generation, model, atMs } of this.#entries.values()) {
      if (!generation) continue;
      const recent = this.#recent.get(model);
      if (recent === undefined) this.#recent.set(model, [atMs]);
      else recent.push(atMs);
    }
  }
}

/** A failure that the input caused, such as `SAFETY.INPUT.TEXT`: it would fail again, and is not refunded. */
function isFaultOfInput(failureCode: string): boolean {
  return failureCode.startsWith('SAFETY.INPUT.') || failureCode.startsWith('INPUT_PREPROCESSING.SAFETY.');
}

/** Days since 1970, UTC. */
function dayOf(date: string): number {
  return Date.parse(date) / dayMs;
}
