/** What a measurement is given, and what it gives. */
import type { Helper, Result } from './measure.ts';

export interface Sizes {
  readonly drivers: number;
  /** Of the file that has a million rows, and of the ledger. */
  readonly days: number;
  readonly ledgerDays: number;
  readonly wideDrivers: number;
  readonly months: number;
  /** Records of a workbook. */
  readonly bookRows: number;
  /** Requests to the emulator in one run. */
  readonly requests: number;
  readonly runs: number;
  readonly idleSeconds: number;
}

export interface Place {
  /** Generated files, kept for the next time. */
  readonly dataDir: string;
  /** Configs and states, made anew. */
  readonly workDir: string;
  /** The file that starts the agent. */
  readonly agent: string;
  /** A receiver of pushes that discards them, and its address. */
  readonly receiver: Helper;
  readonly url: string;
}

/** One number of a run that a goal is set for, or that a release should not make worse. */
export interface Figure {
  /** The same in every run, since `--check` finds the committed one by it. */
  readonly name: string;
  readonly value: number;
  /** `times` and `MB` are compared by `--check`; `ms` belong to the machine. */
  readonly unit: 'times' | 'MB' | 'ms';
  readonly better: 'more' | 'less';
  readonly must?: number;
  readonly aim?: number;
}

export interface Table {
  readonly title: string;
  /** The first of them is what the others are compared with. */
  readonly results: readonly Result[];
  readonly figures?: readonly Figure[];
  readonly notes?: readonly string[];
}

export type Measure = (place: Place, sizes: Sizes) => Promise<Table | readonly Table[]>;

/** A measurement that the machine cannot make, and why: said in the report, and no failure. */
export class NotMeasured extends Error {}

/** A result by the name of its program. @throws Error where there is none */
export function resultOf(results: readonly Result[], name: string): Result {
  const found = results.find((result) => result.name === name);
  if (found === undefined) throw new Error(`nothing was measured of "${name}"`);
  return found;
}

type Goal = Pick<Figure, 'must' | 'aim'>;

/** How many times as long `peer` takes: the more the better. */
export function faster(name: string, result: Result, peer: Result, goal: Goal = {}): Figure {
  return {
    name: `${name} takes times as long`,
    value: peer.seconds / result.seconds,
    unit: 'times',
    better: 'more',
    ...goal,
  };
}

/** How many times as long as `peer` it takes: the less the better. */
export function slower(name: string, result: Result, peer: Result, goal: Goal = {}): Figure {
  return {
    name: `times as long as ${name}`,
    value: result.seconds / peer.seconds,
    unit: 'times',
    better: 'less',
    ...goal,
  };
}

export function peak(name: string, { peakMb }: Result, goal: Goal = {}): Figure {
  return { name, value: peakMb, unit: 'MB', better: 'less', ...goal };
}
