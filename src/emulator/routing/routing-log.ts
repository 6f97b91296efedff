/** The routing log: one record for each request that named a router, except dry runs. */
import { randomUUID } from 'node:crypto';
import type { RoutedRequest } from '../../contract/routing-resources.ts';
import { isoOf } from './clock.ts';
import type { RoutingStore, Shelf } from './store.ts';

/** Records of all routers together; the oldest are dropped. */
const recordsMax = 10_000;

/** A record with the id of its router. */
export interface LoggedRequest {
  readonly id: string;
  readonly seq: number;
  readonly routerId: string;
  readonly record: RoutedRequest;
}

/** The fields that differ from those of a refused request. */
export type LogInput = Pick<RoutedRequest, 'requestId' | 'status'> & Partial<RoutedRequest>;

export class RoutingLog {
  readonly #store: RoutingStore;
  readonly #shelf: Shelf<LoggedRequest>;

  constructor(store: RoutingStore) {
    this.#store = store;
    this.#shelf = store.shelf<LoggedRequest>('request');
  }

  add(routerId: string, input: LogInput, nowMs: number): void {
    const id = randomUUID();
    this.#store.change(() => {
      const record: RoutedRequest = {
        id,
        model: null,
        provider: null,
        reason: null,
        reasonCode: null,
        estimatedCredits: null,
        taskId: null,
        createdAt: isoOf(nowMs),
        pipeline: [],
        emptiedBy: [],
        ...input,
      };
      this.#shelf.set({ id, seq: this.#store.nextSeq(), routerId, record });
      const [oldest] = this.#shelf.size > recordsMax ? this.#shelf.values() : [];
      if (oldest !== undefined) this.#shelf.delete(oldest.id);
    });
  }

  /** Oldest first. */
  ofRouter(routerId: string): LoggedRequest[] {
    return [...this.#shelf.values()].filter((logged) => logged.routerId === routerId);
  }

  ofTask(taskId: string): RoutedRequest | undefined {
    return [...this.#shelf.values()].find(({ record }) => record.taskId === taskId)?.record;
  }

  get isEmpty(): boolean {
    return this.#shelf.size === 0;
  }

  /** Within a change. */
  clear(): void {
    for (const { id } of this.#shelf.values()) this.#shelf.delete(id);
  }
}
