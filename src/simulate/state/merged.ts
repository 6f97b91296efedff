/** Drivers of several runs as one stream, in the order of ids, each once. */
import { AgentError } from '../../core/errors.ts';
import type { PartRead } from '../../core/buffer.ts';
import { type PlaceOrder, placeOrder } from '../../core/series/merge-folds.ts';
import { mergePacked } from '../../core/series/merge-packed.ts';
import type { PackedDriver, PartOrigin } from '../../core/series/packing.ts';
import { compareUtf8 } from '../../core/series/snapshot.ts';
import { type Run, type Tables, sortedFolds } from './tables.ts';

/** @throws AgentError `state.corrupt` */
export function originOf(tables: Tables, id: number): PartOrigin {
  const origin = tables.origins.get(id);
  if (origin !== undefined) return origin;
  throw new AgentError('state.corrupt', `the buffer is damaged: a point names part ${id}, which is not there`, {
    hint: 'the next run or sync rebuilds it',
  });
}

/** Earlier reads that one of these parts goes on from had its number too: here it means the part as it is in this read. */
export function orderIn(tables: Tables, parts: readonly PartRead[]): PlaceOrder {
  const named = new Map(parts.map((part) => [part.origin, part]));
  return placeOrder((id) => named.get(id) ?? originOf(tables, id));
}

export function* mergedRuns(runs: readonly Run[], order: PlaceOrder): Generator<PackedDriver> {
  const lists = runs.map(sortedFolds).filter((list) => list.length > 0);
  const places = lists.map(() => 0);
  for (;;) {
    let first: string | undefined;
    for (const [index, list] of lists.entries()) {
      const head = list[places[index] as number];
      if (head !== undefined && (first === undefined || compareUtf8(head.id, first) < 0)) first = head.id;
    }
    if (first === undefined) return;
    const group: PackedDriver[] = [];
    for (const [index, list] of lists.entries()) {
      for (let head = list[places[index] as number]; head?.id === first; head = list[places[index]]) {
        group.push(head);
        places[index] = (places[index] as number) + 1;
      }
    }
    yield group.length === 1 ? (group[0] as PackedDriver) : mergePacked(group, order);
  }
}
