/** The loop's decisions without anything around them: a service, one source and time, all as numbers. */
import { type PassEnded, after } from '../../src/core/loop/after.ts';
import { type Facts, type LoopEvent, decide } from '../../src/core/loop/decide.ts';
import { type LoopState, type PlannedPass, type Push, recall, start } from '../../src/core/loop/state.ts';

export type Answer =
  | { readonly outcome: 'acknowledged' }
  | { readonly outcome: 'refused' | 'unreachable' | 'unknown'; readonly askedMs: number };

/** One push that was tried. */
export interface Tried {
  readonly push: Push;
  readonly atMs: number;
  /** What was sent: a revision of the data. */
  readonly revision: number;
  readonly answer: Answer;
  /** Somebody asked for the pass that it was in, or started the daemon. */
  readonly isAsked: boolean;
}

/** One pass that was to push the newest snapshot and came to its end. */
export interface Served {
  readonly atMs: number;
  readonly outcome: PassEnded['outcome'];
}

export interface LoopSettings {
  /** The schedule is due at each multiple of this. */
  readonly everyMs: number;
  readonly pollMs: number;
  readonly pushOnChangeMs: number | undefined;
}

/** Passes take no time, so one at one moment is as good as many: more than this is a loop that spins. */
const decisionsMax = 20;

export class LoopWorld {
  readonly settings: LoopSettings;
  readonly tried: Tried[] = [];
  readonly served: Served[] = [];
  /** When data was accepted, by revision, from 1 on. */
  readonly acceptedAtMs: number[] = [];
  nowMs = 0;
  answers: Answer[] = [];
  isReadable = true;
  isBlocked = false;
  isDoubted = false;
  breaks = 0;
  /** How many approvals come just after a pass was decided on, and before it begins. */
  lateApprovals = 0;
  #state: LoopState;
  #events = new Set<LoopEvent>(['start']);
  #isChanged = true;
  #isUnread = false;
  #polledAtMs = -Infinity;
  /** The pass that broke is done again for whoever asked for it. */
  #wasAsked = false;
  #asked = 0;
  #pushed = 0;

  constructor(settings: LoopSettings) {
    this.settings = settings;
    this.#state = { address: 'a', notedMs: 0, unread: { now: [], atPush: [] }, repeatsMs: [], asked: '0' };
  }

  get revision(): number {
    return this.acceptedAtMs.length;
  }

  /** What the last acknowledged push sent. */
  get held(): number | undefined {
    return this.#lastAcknowledged()?.revision;
  }

  get state(): LoopState {
    return this.#state;
  }

  change(): void {
    this.#isChanged = true;
  }

  approve(): void {
    this.#asked++;
  }

  wake(event: LoopEvent): void {
    this.#events.add(event);
  }

  /** The process ends, and another one starts after a while. */
  restart(afterMs: number): void {
    const kept = JSON.parse(JSON.stringify({ ...this.#state, broken: undefined })) as LoopState;
    this.nowMs += afterMs;
    this.#state = start(recall(kept, this.nowMs), {
      nowMs: this.nowMs,
      hasUnpushed: this.revision !== this.#pushed,
    });
    this.#polledAtMs = -Infinity;
    this.#events = new Set(['start']);
  }

  /** Lets time pass, and with it everything that the daemon does then. */
  run(ms: number): void {
    const endMs = this.nowMs + ms;
    for (let decisions = 0; ;) {
      const events = this.#events;
      this.#events = new Set();
      const decision = decide(this.#state, this.facts(), events);
      if (decision.kind === 'pass') {
        decisions++;
        if (decisions > decisionsMax) throw new Error(`the loop spins at ${this.nowMs}`);
        const isAsked = events.has('pass') || events.has('start') || this.#state.asked !== String(this.#asked);
        if (this.lateApprovals > 0) {
          this.lateApprovals--;
          this.approve();
        }
        this.#pass(decision.pass, isAsked || this.#wasAsked);
        continue;
      }
      if (decision.untilMs > endMs) break;
      if (decision.untilMs <= this.nowMs) throw new Error('the loop waits for what has come');
      this.nowMs = decision.untilMs;
      decisions = 0;
    }
    this.nowMs = endMs;
  }

  facts(): Facts {
    const { everyMs, pollMs, pushOnChangeMs } = this.settings;
    const last = this.#lastAcknowledged();
    return {
      nowMs: this.nowMs,
      nextScheduledMs: (afterMs) => (Math.floor(afterMs / everyMs) + 1) * everyMs,
      pushOnChangeMs,
      pollMs: this.#polledAtMs + pollMs,
      hasPushed: this.tried.length > 0,
      isOpen: this.#openSince(last).some(({ revision }) => revision !== last?.revision),
      rollbackOpenMs: undefined,
      isBlocked: this.isBlocked,
      isDoubted: this.isDoubted,
      revision: this.revision,
      asked: String(this.#asked),
      hasRequest: false,
      hasNewToken: false,
    };
  }

  #pass(pass: PlannedPass, isAsked: boolean): void {
    const begunMs = this.nowMs;
    const asked = String(this.#asked);
    if (this.breaks > 0) {
      this.breaks--;
      this.#wasAsked = isAsked;
      this.#state = after(this.#state, { kind: 'broke', pass, asked, atMs: begunMs, hasUnpushed: false });
      return;
    }
    this.#wasAsked = false;
    const hasAccepted = this.#read();
    const outcome = this.#push(pass.push, isAsked);
    if (pass.push === 'newest') this.served.push({ atMs: begunMs, outcome });
    if (pass.push === 'newest' && (outcome === 'acknowledged' || outcome === 'unchanged')) this.#pushed = this.revision;
    this.#state = after(this.#state, {
      kind: 'pass',
      push: pass.push,
      polls: pass.polls,
      outcome,
      begunMs,
      endedMs: this.nowMs,
      hasAccepted,
      unread: this.#isUnread ? ['s'] : [],
      asked,
      revision: this.revision,
    });
  }

  #read(): boolean {
    this.#polledAtMs = this.nowMs;
    this.#isUnread = !this.isReadable;
    if (!this.isReadable || !this.#isChanged) return false;
    this.#isChanged = false;
    this.acceptedAtMs.push(this.nowMs);
    return true;
  }

  #push(push: PlannedPass['push'], isAsked: boolean): PassEnded['outcome'] {
    const last = this.#lastAcknowledged();
    const [repeatMs = Infinity] = this.#state.repeatsMs;
    if (push === 'no') return 'unchanged';
    if (push === 'repeat') return this.#try({ push, revision: last?.revision ?? 0, isAsked });
    if (this.isBlocked || this.isDoubted || this.revision === 0) return 'blocked';
    const isCurrent = last?.revision === this.revision && this.#openSince(last).length === 0;
    if (isCurrent && repeatMs > this.nowMs) return 'unchanged';
    return this.#try({ push, revision: this.revision, isAsked });
  }

  #try(sent: Pick<Tried, 'push' | 'revision' | 'isAsked'>): Answer['outcome'] {
    const answer = this.answers.shift() ?? { outcome: 'acknowledged' };
    const followsOpenPush = this.#mayLandAfter(sent.revision);
    this.tried.push({ ...sent, atMs: this.nowMs, answer });
    this.#state = after(this.#state, {
      kind: 'attempt',
      push: sent.push,
      outcome: answer.outcome,
      reason: undefined,
      begunMs: this.nowMs,
      endedMs: this.nowMs,
      askedMs: 'askedMs' in answer ? answer.askedMs : 0,
      jitter: 0.5,
      revision: this.revision,
      isSame: sent.revision === this.held,
      followsOpenPush,
    });
    return answer.outcome;
  }

  #lastAcknowledged(): Tried | undefined {
    return this.tried.findLast(({ answer }) => answer.outcome === 'acknowledged');
  }

  #openSince(last: Tried | undefined): readonly Tried[] {
    const since = last === undefined ? 0 : this.tried.indexOf(last);
    return this.tried.slice(since).filter(({ answer }) => answer.outcome === 'unknown');
  }

  #mayLandAfter(revision: number): boolean {
    return this.tried.some((open, index) => {
      if (open.answer.outcome !== 'unknown' || open.revision === revision) return false;
      const later = this.tried.slice(index + 1);
      return !later.some((one) => one.answer.outcome === 'acknowledged' && one.revision !== open.revision);
    });
  }
}
