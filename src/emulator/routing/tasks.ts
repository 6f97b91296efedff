/**
 * Tasks on the emulator's clock: THROTTLED while their model is at its limit, PENDING, RUNNING, and an end.
 *
 * There is no timer. Every reader calls `settle` first, which applies all changes that are due, each at the moment when it
 * was due: a task that waited has begun when the one before it ended.
 */
import type { ResolvedInput } from '../../contract/routing-answers.ts';
import type { TaskAnswer } from '../../contract/routing-resources.ts';
import type { Modality } from '../../contract/routing-settings.ts';
import type { EmulatorClock } from './clock.ts';
import { isoOf } from './clock.ts';
import type { RoutingStore, Shelf } from './store.ts';

/** The end of a task. CANCELLED is for a cancel in the service's console; a task that the API cancels cannot be read again. */
export type Ending =
  | { readonly status: 'SUCCEEDED' }
  | { readonly status: 'FAILED'; readonly failure: string; readonly failureCode: string }
  | { readonly status: 'CANCELLED' };

export interface Task {
  readonly id: string;
  readonly seq: number;
  readonly routerId: string;
  readonly modality: Modality;
  /** What the request asked for; undefined without a prompt, and in what earlier versions kept. */
  readonly promptText?: string | undefined;
  readonly model: string;
  readonly provider: string;
  readonly resolvedInput: ResolvedInput;
  /** The estimate before rounding up. */
  readonly estimatedCredits: number;
  /** Credits taken at creation. */
  readonly chargedCredits: number;
  /** Number of outputs. */
  readonly outputs: number;
  /** UNIX ms by the emulator's clock, like the other moments. */
  readonly createdMs: number;
  /** When it left THROTTLED; null before. */
  readonly admittedMs: number | null;
  /** Duration from then to its end. */
  readonly durationMs: number;
  readonly ending: Ending;
  /** Its end and final cost; null before. */
  readonly ended: { readonly atMs: number; readonly credits: number } | null;
}

export type TaskInput = Omit<Task, 'seq' | 'createdMs' | 'admittedMs' | 'ended'>;

/** Share of its time that a task is PENDING. */
const pendingShare = 0.1;

/** The unfinished tasks of one model. */
interface Lane {
  running: Task[];
  /** In the order of submission. */
  waiting: Task[];
}

export interface TasksContext {
  readonly store: RoutingStore;
  readonly clock: EmulatorClock;
  /** How many tasks of a model may run at once; null: any number. */
  readonly concurrencyMax: (model: string) => number | null;
  /** Refunds a task that ended so, and returns its final cost. */
  readonly refund: (task: Task, ending: Ending, atMs: number) => number;
}

export class Tasks {
  readonly #context: TasksContext;
  readonly #shelf: Shelf<Task>;
  readonly #lanes = new Map<string, Lane>();
  /** When the next change is due: the end of a task, or now if higher limits let tasks begin. */
  #nextDueMs = -Infinity;
  #settledMs = -Infinity;

  constructor(context: TasksContext) {
    this.#context = context;
    this.#shelf = context.store.shelf<Task>('task');
    this.#rebuild();
    context.store.onRollback(() => this.#rebuild());
  }

  get(id: string): Task | undefined {
    return this.#shelf.get(id);
  }

  get isEmpty(): boolean {
    return this.#shelf.size === 0;
  }

  /** Oldest first. */
  all(): Iterable<Task> {
    return this.#shelf.values();
  }

  /** To be called when limits have changed: waiting tasks may begin. */
  limitsChanged(): void {
    this.#nextDueMs = -Infinity;
    this.settle();
  }

  /** Whether a task of this model would begin at once. */
  hasCapacity(model: string): boolean {
    this.settle();
    const max = this.#context.concurrencyMax(model);
    return max === null || this.#lane(model).running.length < max;
  }

  /** Within a change. */
  create(input: TaskInput): Task {
    const createdMs = this.#context.clock.now();
    const isAdmitted = this.hasCapacity(input.model);
    const task: Task = {
      ...input,
      seq: this.#context.store.nextSeq(),
      createdMs,
      admittedMs: isAdmitted ? createdMs : null,
      ended: null,
    };
    this.#shelf.set(task);
    const lane = this.#lane(task.model);
    (isAdmitted ? lane.running : lane.waiting).push(task);
    if (isAdmitted) this.#nextDueMs = Math.min(this.#nextDueMs, endOf(task));
    return task;
  }

  /** Cancels an unfinished task, or deletes a finished one with its output. */
  remove(task: Task): void {
    const { store, clock, refund } = this.#context;
    const nowMs = clock.now();
    store.change(() => {
      if (task.ended === null) {
        refund(task, { status: 'CANCELLED' }, nowMs);
        const lane = this.#lane(task.model);
        lane.running = lane.running.filter(({ id }) => id !== task.id);
        lane.waiting = lane.waiting.filter(({ id }) => id !== task.id);
        this.#admit(lane, task.model, nowMs);
      }
      this.#shelf.delete(task.id);
      this.#findNextEnd();
    });
  }

  /** Takes the deletion of a task that has ended back. */
  putBack(task: Task): void {
    this.#context.store.change(() => this.#shelf.putBack(task));
  }

  /** The moment up to which every change was applied. Tasks are to be shown as of then: the time has gone on since. */
  get settledMs(): number {
    return this.#settledMs;
  }

  /** Applies every change that is due. */
  settle(): void {
    const { store, clock } = this.#context;
    const nowMs = clock.now();
    this.#settledMs = nowMs;
    if (nowMs < this.#nextDueMs) return;
    store.change(() => {
      for (const [model, lane] of this.#lanes) {
        this.#settleLane(model, lane, nowMs);
        this.#admit(lane, model, nowMs);
      }
      this.#findNextEnd();
    });
  }

  clear(): void {
    for (const { id } of this.#shelf.values()) this.#shelf.delete(id);
    this.#rebuild();
  }

  #settleLane(model: string, lane: Lane, nowMs: number): void {
    for (;;) {
      const first = lane.running.reduce<Task | undefined>(
        (found, task) => (found === undefined || endOf(task) < endOf(found) ? task : found),
        undefined,
      );
      if (first === undefined || endOf(first) > nowMs) return;
      const atMs = endOf(first);
      lane.running = lane.running.filter((task) => task !== first);
      const credits = this.#context.refund(first, first.ending, atMs);
      this.#shelf.set({ ...first, ended: { atMs, credits } });
      this.#admit(lane, model, atMs);
    }
  }

  #admit(lane: Lane, model: string, atMs: number): void {
    const max = this.#context.concurrencyMax(model) ?? Infinity;
    while (lane.running.length < max) {
      const next = lane.waiting.shift();
      if (next === undefined) return;
      const admitted: Task = { ...next, admittedMs: atMs };
      this.#shelf.set(admitted);
      lane.running.push(admitted);
    }
  }

  #lane(model: string): Lane {
    let lane = this.#lanes.get(model);
    if (lane === undefined) this.#lanes.set(model, (lane = { running: [], waiting: [] }));
    return lane;
  }

  #findNextEnd(): void {
    this.#nextDueMs = Infinity;
    for (const { running } of this.#lanes.values()) {
      for (const task of running) this.#nextDueMs = Math.min(this.#nextDueMs, endOf(task));
    }
  }

  #rebuild(): void {
    this.#lanes.clear();
    for (const task of this.#shelf.values()) {
      if (task.ended !== null) continue;
      const lane = this.#lane(task.model);
      (task.admittedMs === null ? lane.waiting : lane.running).push(task);
    }
    this.#nextDueMs = -Infinity;
  }
}

function endOf(task: Task): number {
  return (task.admittedMs as number) + task.durationMs;
}

/** A settled task as the service shows it now; `urlOf` gives the address of an output, counted from 0. */
export function viewTask(task: Task, nowMs: number, urlOf: (output: number) => string): TaskAnswer {
  const head = { id: task.id, createdAt: isoOf(task.createdMs) };
  if (task.ended !== null) {
    const cost = { credits: task.ended.credits };
    if (task.ending.status !== 'SUCCEEDED') return { ...head, ...task.ending, cost };
    return {
      ...head,
      ...task.ending,
      output: Array.from({ length: task.outputs }, (_, output) => urlOf(output)),
      cost,
    };
  }
  const estimatedCost = { credits: task.estimatedCredits };
  if (task.admittedMs === null) return { ...head, status: 'THROTTLED', estimatedCost };
  const share = (nowMs - task.admittedMs) / task.durationMs;
  if (share < pendingShare) return { ...head, status: 'PENDING', estimatedCost };
  const progress = Math.floor(((share - pendingShare) / (1 - pendingShare)) * 100) / 100;
  return { ...head, status: 'RUNNING', progress, estimatedCost };
}
