/** How the record of telling changes: with what a pass found, and with what became of a notice. All of it is pure. */
import { fullJitterMs } from '../loop/backoff.ts';
import { type Known, isSame, mattersNow, patienceMs, servedOr, staleMs } from './matters.ts';
import type { Listener, Notice } from './notice.ts';
import type { KnownChannel, Letter, TellingState, ToldMatter } from './record.ts';
import { endOf, startOf } from './words.ts';

/** What waits longer is given up: its words are of another week. */
const ageMaxMs = 7 * 86_400_000;
/** Letters that wait for one channel. */
const waitingMax = 100;
const firstPauseMs = 10_000;
const longestPauseMs = 15 * 60_000;
/** A receiver may ask for more patience than that, but not for all of it. */
const askedPauseMaxMs = 3_600_000;
const othersPauseMs = 60_000;

/** @param before what was told before nobody was to be told any more: its counts go on */
export function newTelling(address: string, nowMs: number, before?: TellingState): TellingState {
  const { letters = 0, failures = 0, dropped = 0 } = before ?? {};
  return {
    notedMs: nowMs,
    address,
    watchedMs: nowMs,
    matters: [],
    outbox: [],
    letters,
    failures,
    dropped,
    failing: [],
  };
}

/** The same state as of now. Where the clock was set back, every moment moves along. */
export function settleTelling(state: TellingState, nowMs: number): TellingState {
  if (nowMs >= state.notedMs) return state;
  const move = (ms: number): number => ms + nowMs - state.notedMs;
  return {
    ...state,
    notedMs: nowMs,
    watchedMs: move(state.watchedMs),
    matters: state.matters.map((matter) => ({ ...matter, sinceMs: move(matter.sinceMs) })),
    outbox: state.outbox.map((letter) => ({
      ...letter,
      writtenMs: move(letter.writtenMs),
      dueMs: move(letter.dueMs),
      askedUntilMs: letter.askedUntilMs === undefined ? undefined : move(letter.askedUntilMs),
    })),
    failing: state.failing.map((one) => ({ ...one, sinceMs: move(one.sinceMs), atMs: move(one.atMs) })),
    ...(state.heartbeat && { heartbeat: { ...state.heartbeat, sinceMs: move(state.heartbeat.sinceMs) } }),
  };
}

/**
 * The state with the ids that its channels have now. Where one channel of a place went and one came, its secret was renewed: it is the same
 * one. What an older version kept has names for ids.
 */
function settleChannels(state: TellingState, listeners: readonly Listener[]): TellingState {
  const channels = listeners.map((one) => ({ id: idOf(one), name: one.name, place: one.place ?? one.name }));
  const ids = new Map<string, string>();
  if (state.channels === undefined) for (const { id, name } of channels) ids.set(name, id);
  const isIn = (all: readonly KnownChannel[], { id }: KnownChannel): boolean => all.some((one) => one.id === id);
  const gone = (state.channels ?? []).filter((one) => !isIn(channels, one));
  const come = channels.filter((one) => !isIn(state.channels ?? [], one));
  for (const [place, [went, ...others]] of Map.groupBy(gone, (one) => one.place)) {
    const [now, ...more] = come.filter((one) => one.place === place);
    if (went !== undefined && now !== undefined && others.length + more.length === 0) ids.set(went.id, now.id);
  }
  const nowOf = (channel: string): string => ids.get(channel) ?? channel;
  return {
    ...state,
    channels,
    matters: state.matters.map((matter) => ({ ...matter, told: matter.told.map(nowOf) })),
    outbox: state.outbox.map((letter) => ({ ...letter, channel: nowOf(letter.channel) })),
    failing: state.failing.map((one) => ({ ...one, channel: nowOf(one.channel) })),
  };
}

/** What the ledger knows a channel by. */
export function idOf({ id, name }: Pick<Listener, 'id' | 'name'>): string {
  return id ?? name;
}

/** Looks at how things are, and puts into the outbox what the listeners do not know yet. */
export function tell(kept: TellingState, known: Known, listeners: readonly Listener[]): TellingState {
  const { nowMs, address } = known;
  const settled = withoutAged(settleChannels(settleTelling(kept, nowMs), listeners), nowMs);
  const isMoved = settled.address !== address;
  const watchedMs = servedOr(known, isMoved ? nowMs : settled.watchedMs);
  const state = { ...settled, address, watchedMs };
  // What was said of pushes to another address is over with it.
  const before = isMoved
    ? state.matters.filter(({ source, machine }) => (source ?? machine) !== undefined)
    : state.matters;
  const standing = mattersNow(known, before, state.watchedMs);
  const written: Omit<Letter, 'id'>[] = [];
  const write = (notice: Notice, one: Listener): void =>
    void written.push({ channel: idOf(one), notice, writtenMs: nowMs, tries: 0, dueMs: nowMs });

  for (const matter of state.matters) {
    if (before.includes(matter) && standing.some((one) => isSame(one, matter))) continue;
    for (const one of listeners) if (matter.told.includes(idOf(one))) write(endOf(matter, known), one);
  }
  const matters = standing.map((matter): ToldMatter => {
    const told = before.find((one) => isSame(one, matter))?.told ?? [];
    if (nowMs < matter.sinceMs + patienceMs(matter.event, known)) return { ...matter, told };
    const news = listeners.filter((one) => one.on.includes(matter.event) && !told.includes(idOf(one)));
    for (const one of news) write(startOf(matter, known, state.watchedMs), one);
    return { ...matter, told: [...told, ...news.map(idOf)] };
  });
  const letters = written.map((letter, index) => ({ ...letter, id: state.letters + index + 1 }));
  return withinLimits(
    {
      ...state,
      notedMs: nowMs,
      matters,
      outbox: [...state.outbox, ...letters],
      letters: state.letters + letters.length,
    },
    listeners,
  );
}

/** Without what waits for too long. What is wrong still is told anew, in the words of today: nobody heard of it. */
function withoutAged(state: TellingState, nowMs: number): TellingState {
  const aged = state.outbox.filter(({ writtenMs }) => nowMs - writtenMs > ageMaxMs);
  if (aged.length === 0) return state;
  const outbox = state.outbox.filter((letter) => !aged.includes(letter));
  return { ...state, outbox, matters: untold(state.matters, aged), dropped: state.dropped + aged.length };
}

/** The matters without those that these letters were to tell first: they count as not told. */
function untold(matters: readonly ToldMatter[], letters: readonly Letter[]): readonly ToldMatter[] {
  const first = letters.filter(({ notice }) => notice.state === 'started');
  return matters.map((matter) => {
    const isLost = (id: string): boolean =>
      first.some(({ channel, notice: { event, source, machine } }) => {
        return channel === id && event !== 'test' && isSame({ event, source, machine }, matter);
      });
    return { ...matter, told: matter.told.filter((id) => !isLost(id)) };
  });
}

/** Without what is too much, or for a channel that is gone. */
function withinLimits(state: TellingState, listeners: readonly Listener[]): TellingState {
  const isKnown = (channel: string): boolean => listeners.some((one) => idOf(one) === channel);
  const wanted = state.outbox.filter(({ channel }) => isKnown(channel));
  const outbox = wanted.filter((letter, index) => {
    const later = wanted.slice(index + 1).filter(({ channel }) => channel === letter.channel);
    return later.length < waitingMax;
  });
  const failing = state.failing.filter(({ channel }) => isKnown(channel));
  // Whoever never got it is told once it is back.
  const lost = state.outbox.filter(({ channel }) => !isKnown(channel));
  const matters = untold(state.matters, lost);
  return { ...state, matters, outbox, failing, dropped: state.dropped + wanted.length - outbox.length };
}

/** Whether two states differ in more than the time. */
export function isNews(before: TellingState, after: TellingState): boolean {
  return JSON.stringify({ ...before, notedMs: 0 }) !== JSON.stringify({ ...after, notedMs: 0 });
}

/** What a channel gets next: its notices arrive in the order in which things happened. */
export function nextLetter({ outbox }: TellingState, channel: string): Letter | undefined {
  return outbox.find((letter) => letter.channel === channel);
}

export function delivered(state: TellingState, { id, channel }: Letter): TellingState {
  const outbox = state.outbox.filter((letter) => letter.id !== id);
  return { ...state, outbox, failing: state.failing.filter((one) => one.channel !== channel) };
}

export interface Failed {
  readonly error: string;
  readonly nowMs: number;
  /** What `Retry-After` asked for. */
  readonly retryAfterMs?: number | undefined;
  readonly random: () => number;
}

export function failed(state: TellingState, letter: Letter, failure: Failed): TellingState {
  const { error, nowMs, retryAfterMs = 0, random } = failure;
  const tries = letter.tries + 1;
  const backoffMs = fullJitterMs({ attempt: tries, baseMs: firstPauseMs, capMs: longestPauseMs, random });
  const askedMs = Math.min(retryAfterMs, askedPauseMaxMs);
  const dueMs = nowMs + Math.max(backoffMs, askedMs);
  const askedUntilMs = askedMs > 0 ? nowMs + askedMs : undefined;
  const { channel } = letter;
  const sinceMs = state.failing.find((one) => one.channel === channel)?.sinceMs ?? nowMs;
  return {
    ...state,
    outbox: state.outbox.map((one) => (one.id === letter.id ? { ...one, tries, dueMs, askedUntilMs } : one)),
    failures: state.failures + 1,
    failing: [...state.failing.filter((one) => one.channel !== channel), { channel, sinceMs, atMs: nowMs, error }],
  };
}

/** When it is worth looking again though no pass has ended. */
export function nextLookMs(state: TellingState, known: Known): number {
  const undue = state.matters
    .map(({ event, sinceMs }) => sinceMs + patienceMs(event, known))
    .filter((atMs) => atMs > known.nowMs);
  const isStale = state.matters.some(({ event }) => event === 'stale');
  // What the others see changes without a pass of this agent.
  const othersMs = known.others === undefined ? Infinity : known.nowMs + othersPauseMs;
  return Math.min(othersMs, ...undue, isStale ? Infinity : staleMs(known, state.watchedMs));
}
