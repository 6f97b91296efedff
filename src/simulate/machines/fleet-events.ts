/** What happens to machines that share a ledger. Each says what it did, for a story. */
import type { PassEvent } from '../../app/dependencies.ts';
import type { Entropy } from '../entropy.ts';
import type { Fleet } from './fleet.ts';
import { dropEvents } from './fleet-drops.ts';
import type { Machine, StatementFault } from './machine.ts';
import type { Fate } from './network.ts';

export const fleetKinds = [
  // What owners do to their data.
  'month',
  'restate',
  'newItem',
  'dropLittle',
  'dropMuch',
  'dropMuchMeant',
  'dropTwice',
  'dropOldest',
  'bringBack',
  'wearAway',
  // What people do.
  'approve',
  'rollback',
  'goOn',
  // What happens to a machine.
  'kill',
  'killStep',
  'stop',
  'handOver',
  'clock',
  'loseBuffer',
  'lag',
  'unmount',
  'unseen',
  'night',
  // What happens on the way to the ledger.
  'statements',
  'cut',
  'ledgerDown',
  'busy',
  // What the service and the network do.
  'unanswered',
  'slow',
  'lost',
] as const;

export type FleetKind = (typeof fleetKinds)[number];

type Doing = (fleet: Fleet, draw: Entropy) => string | undefined;

const steps: readonly PassEvent['kind'][] = [
  'read.judged',
  'snapshot.written',
  'push.begun',
  'push.sending',
  'push.answered',
  'push.recorded',
];

/** Most of what goes wrong matters where it happens to the machine that leads. */
function someMachine({ machines, leader }: Fleet, draw: Entropy): Machine {
  return leader !== undefined && draw.isIn(0.7, 'leader') ? leader : draw.pick(machines, 'machine');
}

/** From a moment to three times what a term lasts without being renewed. */
function someMs({ leaseMs }: Fleet, draw: Entropy, label: string): number {
  return draw.between(1, draw.isIn(0.5, 'long', label) ? 3 * leaseMs : leaseMs, label);
}

function restateSome(fleet: Fleet, draw: Entropy, of?: string): string {
  const owner = fleet.owners.find(({ place }) => place.name === of) ?? draw.pick(fleet.owners, 'owner');
  owner.books.restate(draw.pick(owner.items, 'item'), owner.months.last);
  fleet.export(owner);
  return owner.place.name;
}

function fates(make: (fleet: Fleet, draw: Entropy) => Fate, says: string): Doing {
  return (fleet, draw) => {
    fleet.network.fates.push(make(fleet, draw));
    return `a number of ${restateSome(fleet, draw)} is restated; the next push ${says}`;
  };
}

function landsWithin({ stage }: Fleet, draw: Entropy): number {
  const { destination } = stage.settings;
  const timeoutMs = destination === 'emulator' ? 60_000 : destination.timeoutMs;
  return draw.between(1, Math.floor(0.95 * timeoutMs), 'lands');
}

export const fleetEvents: Readonly<Record<FleetKind, Doing>> = {
  ...dropEvents,
  month(fleet, draw) {
    const owner = draw.pick(fleet.owners, 'owner');
    owner.addMonth();
    fleet.export(owner);
    return `a month is added to ${owner.place.name}`;
  },
  restate: (fleet, draw) => `a number of ${restateSome(fleet, draw)} is restated`,
  newItem(fleet, draw) {
    const owner = draw.pick(fleet.owners, 'owner');
    if (!owner.addItem()) return undefined;
    fleet.export(owner);
    return `${owner.place.name} has something new`;
  },
  kill(fleet, draw) {
    const machine = someMachine(fleet, draw);
    if (!machine.isRunning) return undefined;
    machine.kill();
    const downMs = someMs(fleet, draw, 'down');
    fleet.later(downMs, () => machine.start());
    return `${machine.name} is killed, and started again after ${Math.round(downMs / 1000)} s`;
  },
  killStep(fleet, draw) {
    const machine = someMachine(fleet, draw);
    const step = draw.pick(steps, 'step');
    machine.killAt(step);
    const source = restateSome(fleet, draw);
    const downMs = someMs(fleet, draw, 'down');
    fleet.later(2 * fleet.leaseMs + downMs, () => {
      machine.kill();
      machine.start();
    });
    return `a number of ${source} is restated, and ${machine.name} is killed at ${step}`;
  },
  stop(fleet, draw) {
    const machine = someMachine(fleet, draw);
    const ms = someMs(fleet, draw, 'stopped');
    if (draw.isIn(0.5, 'at a step')) {
      const step = draw.pick(steps, 'step');
      machine.stopAt(step, ms);
      return `a number of ${restateSome(fleet, draw)} is restated, and ${machine.name} is stopped for ${(ms / 1000).toFixed(1)} s at ${step}`;
    }
    machine.stop(ms);
    return `${machine.name} is stopped for ${(ms / 1000).toFixed(1)} s`;
  },
  handOver(fleet, draw) {
    const machine = someMachine(fleet, draw);
    if (!machine.isRunning) return undefined;
    machine.terminate();
    const downMs = someMs(fleet, draw, 'down');
    fleet.later(downMs, () => {
      machine.kill();
      machine.start();
    });
    return `${machine.name} is told to end, and started again after ${Math.round(downMs / 1000)} s`;
  },
  clock(fleet, draw) {
    const machine = someMachine(fleet, draw);
    const byMs = draw.between(-3_600_000, 3_600_000, 'by');
    machine.setClock(byMs);
    return `the clock of ${machine.name} is set by ${Math.round(byMs / 1000)} s`;
  },
  loseBuffer(fleet, draw) {
    const machine = someMachine(fleet, draw);
    machine.kill();
    machine.loseBuffer();
    machine.start();
    return `${machine.name} is killed and has lost its buffer`;
  },
  lag(fleet, draw) {
    const machine = someMachine(fleet, draw);
    const lagMs = draw.isIn(0.3, 'none') ? 0 : someMs(fleet, draw, 'lag');
    // What was written before is not overtaken.
    fleet.lags.set(machine.name, Math.max(lagMs, fleet.lags.get(machine.name) ?? 0));
    return `${machine.name} sees new files after ${(lagMs / 1000).toFixed(1)} s`;
  },
  unmount(fleet, draw) {
    const machine = draw.pick(fleet.machines, 'machine');
    const source = draw.pick([...machine.places.keys()], 'place');
    machine.hide(source);
    fleet.later(someMs(fleet, draw, 'away'), () => machine.show(source));
    return `${machine.name} does not see ${source} for a while`;
  },
  unseen(fleet, draw) {
    const { leader, leaseMs } = fleet;
    const others = fleet.machines.filter((machine) => machine !== leader && machine.isRunning);
    if (leader === undefined || others.length === 0) return undefined;
    const machine = draw.pick(others, 'machine');
    const source = draw.pick([...machine.places.keys()], 'place');
    machine.hide(source);
    restateSome(fleet, draw, source);
    fleet.later(leaseMs, () => leader.kill());
    fleet.later(4 * leaseMs, () => {
      machine.show(source);
      leader.start();
    });
    return `${machine.name} does not see ${source}, a number of it is restated, and ${leader.name} is killed after that`;
  },
  statements(fleet, draw) {
    const machine = someMachine(fleet, draw);
    const kinds: readonly StatementFault['kind'][] = ['parked', 'late', 'lost', 'unheard', 'stopped', 'killed'];
    const kind = draw.pick(kinds, 'kind');
    const count = draw.between(1, 3, 'count');
    for (let at = 0; at < count; at++) {
      const after = draw.between(0, 40, 'after', at);
      machine.faults.push({ after, fault: { kind, ms: draw.between(1, 2 * fleet.leaseMs, 'ms', at) } });
    }
    if (kind === 'killed') fleet.later(2 * fleet.leaseMs, () => machine.start());
    if (draw.isIn(0.6, 'restate')) restateSome(fleet, draw);
    return `${count} of the next statements of ${machine.name}: ${kind}`;
  },
  cut(fleet, draw) {
    const machine = someMachine(fleet, draw);
    const ms = someMs(fleet, draw, 'cut');
    machine.cutUntilMs = fleet.clock.monotonicMs() + ms;
    machine.troubled(machine.cutUntilMs);
    return `${machine.name} cannot reach the ledger for ${(ms / 1000).toFixed(1)} s`;
  },
  ledgerDown(fleet, draw) {
    const ms = someMs(fleet, draw, 'down');
    for (const machine of fleet.machines) {
      machine.cutUntilMs = fleet.clock.monotonicMs() + ms;
      machine.troubled(machine.cutUntilMs);
    }
    return `nobody can reach the ledger for ${(ms / 1000).toFixed(1)} s`;
  },
  busy(fleet, draw) {
    const machine = someMachine(fleet, draw);
    const ms = draw.between(fleet.leaseMs, 8 * fleet.leaseMs, 'busy');
    const maxMs = draw.pick([100, 500, 2000], 'each');
    machine.busy(ms, maxMs);
    const times = draw.between(1, 8, 'times');
    for (let at = 0; at < times; at++) fleet.later((at * ms) / times, () => restateSome(fleet, draw));
    return `${machine.name} is busy for ${(ms / 1000).toFixed(1)} s: some statements take up to ${maxMs} ms each way; ${times} numbers are restated meanwhile`;
  },
  rollback(fleet, draw) {
    fleet.people.rollBack(draw.of('push'));
    return 'somebody goes back to an earlier push';
  },
  goOn: (fleet) => (fleet.goOn() ? 'somebody goes on from the sources' : undefined),
  unanswered: fates(() => ({ landsAfterMs: 200, isAnswered: false }), 'is taken and not answered'),
  slow: fates(
    (fleet, draw) => ({ landsAfterMs: landsWithin(fleet, draw), isAnswered: draw.isIn(0.5, 'answered') }),
    'takes its time',
  ),
  lost: fates(() => ({ landsAfterMs: undefined, isAnswered: false }), 'is lost on the way'),
};
