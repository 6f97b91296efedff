/** What happens to the service, to the machine and by the hands of people. Each says what it did, for a story. */
import { requestToForget } from '../../app/prepare/forget.ts';
import type { PassEvent } from '../../app/dependencies.ts';
import { sheetOf } from '../rows/books.ts';
import type { Entropy } from '../entropy.ts';
import type { Answer } from '../world/receiver.ts';
import { placeNameOf } from '../world/place.ts';
import type { World } from '../world/world.ts';
import { canHappen } from './data-events.ts';
import type { EventKind } from './events.ts';

export type Doing = (world: World, draw: Entropy) => Promise<string | undefined>;

const minuteMs = 60_000;
const killSteps: readonly PassEvent['kind'][] = [
  'source.listed',
  'part.folded',
  'part.swapped',
  'read.judged',
  'snapshot.written',
  'push.begun',
  'push.sending',
  'push.answered',
  'push.recorded',
];

function answers(make: (draw: Entropy) => Answer, says: string): Doing {
  return async (world, draw) => {
    const count = draw.between(1, 3, 'count');
    for (let at = 0; at < count; at++) world.receiver.willAnswer(make(draw));
    return `the next ${count === 1 ? 'push' : `${count} pushes`} ${says}`;
  };
}

export const worldEvents: Readonly<Partial<Record<EventKind, Doing>>> = {
  unanswered: answers(() => ({ kind: 'unanswered' }), 'will be taken and not answered'),
  async late(world, draw) {
    const isSoon = draw.isIn(0.5, 'soon');
    const afterMs = draw.between(1, isSoon ? world.timeoutMs : 50 * minuteMs, 'late');
    world.receiver.willAnswer({ kind: 'late', afterMs });
    const owner = draw.pick(world.owners, 'owner');
    const restate = (): void => {
      owner.books.restate(draw.pick(owner.items, 'item'), owner.months.last);
      owner.export();
    };
    restate();
    world.askPass();
    // While nobody knows what became of the push, the data changes once more.
    await world.advance(draw.between(1000, world.timeoutMs, 'wait'));
    restate();
    return `a push of ${owner.place.name} is not answered and lands ${Math.round(afterMs / 1000)} s after it was given up; meanwhile a number is restated`;
  },
  dropped: answers(() => ({ kind: 'dropped' }), 'will be cut off on the way'),
  unreachable: answers(() => ({ kind: 'unreachable' }), 'will not reach the service'),
  busy: answers((draw) => {
    const status = draw.pick([408, 429, 503], 'status');
    const retryAfterMs = draw.between(1, 60 * minuteMs, 'after');
    return { kind: 'status', status, retryAfterMs, isTaken: status === 503 && draw.isIn(0.5, 'taken') };
  }, 'will be asked to wait'),
  refused: answers(
    (draw) => ({ kind: 'status', status: draw.pick([400, 401, 404, 413, 422], 'status'), isTaken: false }),
    'will be refused',
  ),
  error: answers(
    (draw) => ({ kind: 'status', status: draw.pick([500, 502, 504], 'status'), isTaken: draw.isIn(0.5, 'taken') }),
    'will be answered with an error',
  ),
  async killWrite(world, draw) {
    const writes = draw.between(0, 60, 'writes');
    world.process.plug.pullAfter(writes);
    world.askPass();
    await world.advance(draw.between(1, 10 * minuteMs, 'down'));
    await world.restart('killed');
    return `the agent is killed after ${writes} writes`;
  },
  async killStep(world, draw) {
    const step = draw.pick(killSteps, 'step');
    world.process.killAt(step);
    world.askPass();
    await world.advance(draw.between(1, 10 * minuteMs, 'down'));
    await world.restart('killed');
    return `the agent is killed at ${step}`;
  },
  async restart(world) {
    await world.restart('stopped');
    return 'the agent is restarted';
  },
  async fullDisk(world, draw) {
    const forMs = draw.between(1, 60 * minuteMs, 'for');
    world.disk.isFull = true;
    await world.advance(forMs);
    world.disk.isFull = false;
    world.checks.forgetShown();
    return `the disk was full for ${Math.ceil(forMs / minuteMs)} min`;
  },
  async loseBuffer(world, draw) {
    await world.process.stop();
    world.state.loseBuffer();
    // A new machine has neither the buffer nor, perhaps, each of its shares.
    if (draw.isIn(0.5, 'unmounted')) draw.pick(world.owners, 'owner').place.isAway = true;
    await world.restart('killed');
    return 'the buffer is lost';
  },
  async damageBuffer(world) {
    world.disk.isBufferDamaged = true;
    world.process.waker.wake('source');
    return 'the buffer is damaged';
  },
  async damageSnapshot(world) {
    const { ledger } = world.process.deps;
    const digest = (await ledger.pushes.last())?.digest;
    if (digest === undefined) return undefined;
    world.state.damageSnapshot(digest);
    return 'the newest snapshot of the archive is damaged';
  },
  second: async (world) => world.startSecond(),
  async clockForth(world, draw) {
    const byMs = draw.between(1, 26 * 60 * minuteMs, 'by');
    world.setClock(byMs);
    return `the clock is set ${Math.round(byMs / minuteMs)} min forward`;
  },
  async clockBack(world, draw) {
    const byMs = draw.between(1, 26 * 60 * minuteMs, 'by');
    world.setClock(-byMs);
    return `the clock is set ${Math.round(byMs / minuteMs)} min back`;
  },
  async clockStep(world, draw) {
    const isSmall = draw.isIn(0.5, 'small');
    const byMs = draw.between(1, isSmall ? 2000 : 26 * 60 * minuteMs, 'by') * (draw.isIn(0.7, 'back') ? -1 : 1);
    world.process.plug.stepAfter(draw.between(0, 150, 'calls'), () => world.setClock(byMs));
    const owner = draw.pick(world.owners, 'owner');
    owner.books.restate(draw.pick(owner.items, 'item'), owner.months.last);
    owner.export();
    world.askPass();
    return `in the middle of a pass the clock is set ${Math.abs(byMs) / 1000} s ${byMs < 0 ? 'back' : 'forward'}, and a number of ${owner.place.name} was restated just before`;
  },
};

export const peopleEvents: Readonly<Partial<Record<EventKind, Doing>>> = {
  async approve(world, draw) {
    const { ledger, clock } = world.process.deps;
    const held = (await ledger.holds.held()).filter(({ approvable }) => approvable);
    if (held.length === 0) return undefined;
    const { digest, source } = draw.pick(held, 'held');
    await ledger.holds.approve(digest, source, clock.now().getTime());
    world.checks.approve(source);
    if (!world.settings.sources.some(({ name }) => name === source)) world.wire.leftOut.approved();
    world.process.waker.wake('request');
    const owner = world.owners.find(({ place }) => place.name === placeNameOf(source));
    if (owner === undefined || !canHappen('half', owner.place.kind) || draw.isIn(0.7, 'alone'))
      return `somebody approves what is held of ${source}`;
    // While they do, what they saw becomes something else.
    const [part] = owner.parts;
    const sheet = part === undefined ? undefined : owner.place.files.get(part)?.sheet;
    if (part !== undefined && sheet !== undefined)
      owner.put(part, sheetOf(sheet.columns, sheet.rows.slice(0, Math.floor(sheet.rows.length / 2)), { isCut: true }));
    return `somebody approves what is held of ${source}, and at that moment half of it is gone`;
  },
  async forget(world, draw) {
    const { deps } = world.process;
    const carried = deps.buffer.reads
      .acceptedSources()
      .flatMap((source) => (deps.buffer.reads.parts(source, 'accepted') ?? []).filter((part) => part.carried));
    if (carried.length === 0) return undefined;
    const { source, name: part } = draw.pick(carried, 'part');
    await deps.ledger.requests.add(requestToForget(deps, { source, part }), deps.clock.now().getTime());
    world.checks.forget(source, part);
    world.process.waker.wake('request');
    return `somebody asks to forget ${part} of ${source}`;
  },
  async rollback(world, draw) {
    const { ledger, archive, clock } = world.process.deps;
    const acknowledged = (await ledger.pushes.all()).filter(({ outcome }) => outcome === 'acknowledged');
    if (acknowledged.length === 0) return undefined;
    const { id, digest } = draw.pick(acknowledged, 'push');
    if ((await archive.open(digest)) === undefined) return undefined;
    await ledger.requests.add({ kind: 'rollback', push: id }, clock.now().getTime());
    world.wire.askRollback(digest);
    world.process.waker.wake('request');
    return `somebody rolls back to push ${id}`;
  },
  async pass(world) {
    world.askPass();
    return 'somebody asks for a pass';
  },
};
