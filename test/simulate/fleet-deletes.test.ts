/** What may go from the service, as the histories of several machines have it. */
import { expect, test } from 'vitest';
import { FleetDeletes, type Shape, type SourceDeletes } from '../../src/simulate/machines/fleet-deletes.ts';
import { WorldClock } from '../../src/simulate/world/clock.ts';
import { longConfig, settingsOf } from '../support/stages.ts';

const dayMs = 86_400_000;

/** So many drivers with one point each. */
function drivers(count: number): Shape {
  return new Map(Array.from({ length: count }, (_, at) => [`d${at}`, new Set([24_315])]));
}

/** All but the first ones. */
function without(shape: Shape, first: number): Shape {
  return new Map([...shape].slice(first));
}

interface Told {
  readonly clock: WorldClock;
  readonly sales: SourceDeletes;
  readonly write: (shape: Shape) => void;
  readonly push: (shape: Shape) => void;
}

function world(): Told {
  const clock = new WorldClock(Date.UTC(2026, 2, 15), () => false);
  const deletes = new FleetDeletes(settingsOf(longConfig()), clock, () => undefined);
  const sales = deletes.of('sales');
  let states = 0;
  const write = (shape: Shape): void => {
    sales.wrote(shape);
    states++;
  };
  const push = (shape: Shape): void => {
    write(shape);
    sales.sent(states - 1);
    deletes.acknowledged(states, undefined);
  };
  push(drivers(100));
  return { clock, sales, write, push };
}

test('a tenth may go in a day, whoever pushed what went before', () => {
  const { push } = world();
  push(drivers(94));
  expect(() => push(drivers(89))).toThrow('5 of 100 drivers went after 6 in 1 days, and 10 may');
});

test('what went more than a day ago counts within 30 days', () => {
  const { clock, push } = world();
  for (const left of [90, 80, 70]) {
    push(drivers(left));
    clock.jump(dayMs + 1);
  }
  expect(() => push(drivers(69))).toThrow('1 of 100 drivers went after 30 in 30 days, and 30 may');
});

test('an approval covers what was shown, and nothing beyond it', () => {
  const { sales, write, push } = world();
  write(drivers(50));
  sales.approved(without(drivers(100), 50));
  expect(() => push(drivers(39))).toThrow('11 of 100 drivers went');
});

test('what was approved, went and came back does not go again by that', () => {
  const { sales, write, push } = world();
  write(drivers(50));
  sales.approved(without(drivers(100), 50));
  push(drivers(50));
  push(drivers(100));
  expect(() => push(drivers(50))).toThrow('50 of 100 drivers went');
});

test('what is shown to go has to be what goes', () => {
  const { sales, write } = world();
  write(drivers(50));
  expect(() => sales.approved(without(drivers(100), 51))).toThrow('is not what would go');
});

test('what is held at the end has to be more than may go', () => {
  const { sales, write } = world();
  write(drivers(99));
  expect(() => sales.whyHeld()).toThrow('sales is held, and 2 points and drivers of it go');
  write(drivers(50));
  expect(sales.whyHeld()).toMatch(/^50 of 50 drivers went/);
});
