/**
 * Tells people what is wrong and when it is over, and someone else that the agent lives. It only ever writes into the ledger what is
 * to be told; sending goes on beside the passes, and its failures are nobody's but its own.
 */
import { AgentError, isAgentError } from '../../core/errors.ts';
import type { PassReport } from '../../core/report.ts';
import type { Channel, Delivery } from '../../core/telling/notice.ts';
import type { Letter, TellingState } from '../../core/telling/record.ts';
import {
  delivered,
  failed,
  idOf,
  isNews,
  newTelling,
  nextLetter,
  nextLookMs,
  settleTelling,
  tell,
} from '../../core/telling/state.ts';
import type { Dependencies } from '../dependencies.ts';
import { type PassEnd, knownAfter } from './known.ts';

/** One try takes at most this long. */
const tryMs = 30_000;
/** What a command waits for after its pass. */
const commandMs = 10_000;
const tryOver = new AgentError('aborted', `no answer within ${tryMs / 1000} s`);
const commandOver = new AgentError('aborted', `no answer within ${commandMs / 1000} s`);

export class Teller implements AsyncDisposable {
  readonly #deps: () => Dependencies;
  /** Everything is tried once, though it may be due later: whoever gave the command wants it told now. */
  readonly #isOnce: boolean;
  readonly #ending = new AbortController();
  readonly #sending = new Map<string, Promise<void>>();
  #state: TellingState | undefined;
  #report: PassReport | undefined;
  #broken: AgentError | undefined;
  #lookMs = Infinity;
  #kept: Promise<void> = Promise.resolve();
  #isKept = true;
  #isForgotten = false;
  #isNew = false;

  /** @param deps as they are now: a reload changes them */
  constructor(deps: () => Dependencies, kind: 'loop' | 'once') {
    this.#deps = deps;
    this.#isOnce = kind === 'once';
  }

  /** Other agents may have told meanwhile: what the ledger says counts, and how this agent's next pass ends. */
  beginAnew(): void {
    this.#state = undefined;
    this.#report = undefined;
    this.#broken = undefined;
    this.#lookMs = Infinity;
    this.#isKept = true;
    this.#isForgotten = false;
  }

  /** A pass has ended, or broke. Returns once what is to be told is written down. */
  async passed(end: PassEnd): Promise<void> {
    const isBroken = isAgentError(end);
    if (!isBroken) this.#report = end;
    this.#broken = isBroken ? end : undefined;
    if (!this.#isWanted()) return this.#forget();
    await this.#look();
    if (!isBroken && end.exit === 0) this.#beat();
  }

  /** Time has passed. Cheap where nothing is due. */
  async look(): Promise<void> {
    if (!this.#hasEnd || !this.#isWanted()) return;
    const nowMs = this.#deps().clock.now().getTime();
    if (nowMs >= this.#lookMs) await this.#look();
    else this.#send();
  }

  /** Waits until everything was tried, for ten seconds at most; the rest stays in the outbox. */
  async finish(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps();
    const over = new AbortController();
    const late = clock
      .sleep(commandMs, AbortSignal.any([signal, over.signal]))
      .then(() => this.#ending.abort(commandOver))
      .catch((error: unknown) => {
        if (!over.signal.aborted) this.#ending.abort(error);
      });
    await this.#settled();
    over.abort();
    await late;
  }

  /** Ends what is under way; it stays in the outbox. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#ending.signal.aborted) this.#ending.abort(new AgentError('aborted', 'the agent ends'));
    await this.#settled();
  }

  async #settled(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending.values());
    await this.#kept;
  }

  /** Whether any pass has ended. */
  get #hasEnd(): boolean {
    return this.#report !== undefined || this.#broken !== undefined;
  }

  #isWanted(): boolean {
    const { channels, heartbeat } = this.#deps().outlets;
    return channels.length > 0 || heartbeat !== undefined;
  }

  /** Nobody is to be told any more: what waits for them goes, and what was counted stays. */
  async #forget(): Promise<void> {
    if (this.#isForgotten) return;
    this.#isForgotten = true;
    const { address, clock, ledger } = this.#deps();
    const { telling } = await ledger.state();
    const before = this.#state ?? telling;
    this.#state = undefined;
    if (before === undefined || before.isOver === true) return;
    const over = { ...newTelling(address, clock.now().getTime(), before), isOver: true };
    await this.#write(() => over);
  }

  async #look(): Promise<void> {
    this.#isForgotten = false;
    const deps = this.#deps();
    if (!this.#hasEnd) return;
    try {
      const known = await knownAfter(deps, this.#report, this.#broken);
      const before = this.#state ?? (await this.#recall(known.nowMs));
      this.#state = before;
      const next = tell(before, known, deps.outlets.channels);
      this.#lookMs = nextLookMs(next, known);
      if (next.dropped > before.dropped) {
        const notices = next.dropped - before.dropped;
        deps.log.warn('notices that could not be delivered were given up', { notices });
      }
      await this.#keep(() => next);
    } catch (error) {
      // What the ledger does not take now is found again by the next look.
      if (!isStateFailure(error)) throw error;
      deps.log.warn('nothing can be told now', { error: error.message });
    }
    this.#send();
  }

  async #recall(nowMs: number): Promise<TellingState> {
    const { address, ledger } = this.#deps();
    const { telling } = await ledger.state();
    this.#isNew = telling === undefined || telling.isOver === true;
    return telling === undefined || this.#isNew ? newTelling(address, nowMs, telling) : telling;
  }

  /** Starts what is due, one notice after the other for each channel. */
  #send(): void {
    for (const channel of this.#deps().outlets.channels) {
      this.#beside(idOf(channel), () => this.#deliverAll(channel));
    }
  }

  #beat(): void {
    const { heartbeat } = this.#deps().outlets;
    // No channel is called so.
    if (heartbeat !== undefined) this.#beside('', () => this.#sendHeartbeat(heartbeat));
  }

  /** Runs beside the passes; a bug ends the process as everywhere. */
  #beside(name: string, run: () => Promise<void>): void {
    if (this.#sending.has(name) || this.#ending.signal.aborted) return;
    this.#sending.set(
      name,
      run().finally(() => this.#sending.delete(name)),
    );
  }

  async #deliverAll(channel: Channel): Promise<void> {
    for (;;) {
      const { clock, log, outlets, random } = this.#deps();
      const letter = this.#state && nextLetter(this.#state, idOf(channel));
      if (letter === undefined || this.#ending.signal.aborted) return;
      const notBeforeMs = this.#isOnce ? (letter.askedUntilMs ?? -Infinity) : letter.dueMs;
      if (notBeforeMs > clock.now().getTime()) return;
      const { notice } = letter;
      const came = await this.#try((signal) => channel.deliver(notice, keyOf(letter, outlets.host), signal));
      if (came === undefined) return;
      const wasFailing = this.#state?.failing.some((one) => one.channel === idOf(channel)) === true;
      const about = {
        channel: channel.name,
        event: notice.event,
        state: notice.state,
        source: notice.source,
      };
      if (came.ok) {
        log[wasFailing ? 'info' : 'debug']('notice delivered', about);
        if (came.note !== undefined) log.warn('a notice did not reach everybody', { ...about, note: came.note });
        await this.#keep((state) => delivered(state, letter));
        continue;
      }
      const { error, retryAfterMs } = came;
      log[wasFailing ? 'debug' : 'warn']('a notice could not be delivered and is tried again', { ...about, error });
      const failure = { error, retryAfterMs, nowMs: clock.now().getTime(), random };
      await this.#keep((state) => failed(state, letter, failure));
      return;
    }
  }

  async #sendHeartbeat(send: NonNullable<Dependencies['outlets']['heartbeat']>): Promise<void> {
    const { clock, log } = this.#deps();
    const came = await this.#try(send);
    if (came === undefined) return;
    const before = this.#state?.heartbeat;
    if (came.ok) {
      if (before === undefined) return;
      log.info('the heartbeat is sent again');
      await this.#keep((state) => ({ ...state, heartbeat: undefined }));
      return;
    }
    const { error } = came;
    if (before === undefined) log.warn('the heartbeat cannot be sent', { error });
    if (before?.error === error) return;
    const sinceMs = before?.sinceMs ?? clock.now().getTime();
    await this.#keep((state) => ({ ...state, heartbeat: { sinceMs, error } }));
  }

  /** One try, within its time. `undefined`: the agent ends, and nothing is known of it. */
  async #try(send: (signal: AbortSignal) => Promise<Delivery>): Promise<Delivery | undefined> {
    const { clock } = this.#deps();
    const limit = new AbortController();
    const done = new AbortController();
    const ending = this.#ending.signal;
    const late = clock.sleep(tryMs, done.signal).then(
      () => limit.abort(tryOver),
      () => undefined,
    );
    const came = await send(AbortSignal.any([limit.signal, ending]));
    done.abort();
    await late;
    if (came.ok) return came;
    if (limit.signal.aborted) return { ok: false, error: tryOver.message };
    if (!ending.aborted) return came;
    // That a command has no more time is a failure as any other; that a daemon ends is none.
    return ending.reason === commandOver ? { ok: false, error: commandOver.message } : undefined;
  }

  /** Changes the state at once, and the ledger in the same order. */
  async #keep(change: (state: TellingState) => TellingState): Promise<void> {
    const { clock } = this.#deps();
    const before = this.#state;
    if (before === undefined) return;
    const nowMs = clock.now().getTime();
    const next = { ...change(settleTelling(before, nowMs)), notedMs: nowMs };
    this.#state = next;
    // Where only time has passed nothing is written: a daemon that polls every minute would wear out a disk.
    if (!this.#isNew && this.#isKept && !isNews(before, next)) return;
    this.#isNew = false;
    await this.#write();
  }

  async #write(kept = (): TellingState | undefined => this.#state): Promise<void> {
    const { ledger, log } = this.#deps();
    this.#kept = this.#kept.then(async () => {
      try {
        await ledger.setState({ telling: kept() });
        this.#isKept = true;
      } catch (error) {
        // On a full disk people are told all the same; should the agent die before there is space again, they are told twice.
        if (!isStateFailure(error)) throw error;
        if (this.#isKept) log.warn('what was told cannot be written down', { error: error.message });
        this.#isKept = false;
      }
    });
    await this.#kept;
  }
}

/** After the pass of a command: tells, and waits for it a little while. */
export async function tellOnce(deps: () => Dependencies, end: PassEnd, signal: AbortSignal): Promise<void> {
  await using teller = new Teller(deps, 'once');
  await teller.passed(end);
  await teller.finish(signal);
}

/** The same for each try of a notice, on this machine and no other. */
function keyOf({ id, writtenMs }: Letter, host: string): string {
  return `${id}.${writtenMs}.${host}`;
}

/** Also where the ledger is not here, or another agent leads: whoever does finds what is to be told. */
function isStateFailure(error: unknown): error is AgentError {
  return isAgentError(error) && /^(state|ledger)\./.test(error.code);
}
