/** When a finding is plain to see in a group. docs/RULES.md has the same in words. */
import { type Finding, type FindingKind, isWithin } from './finding.ts';
import type { Group, Measure } from './groups.ts';
import { type ExactFactor, exactFactorText } from './series.ts';

/** One thing to look for in the groups. */
export interface Sought {
  /** Tells it from all others. */
  readonly key: string;
  readonly kind: FindingKind;
  readonly measure: Measure;
  /** A power of ten that values have to meet exactly. */
  readonly exact?: ExactFactor;
  /** Any other factor, which values have to meet as closely as they are written. */
  readonly factor?: string;
  readonly months?: number;
  /** A power of ten that new values have to meet roughly. */
  readonly exponent?: number;
  /** In months before others that stayed as they were. */
  readonly isLate?: boolean;
}

/** A finding in a group, still without examples. */
export interface Found {
  readonly sought: Sought;
  readonly finding: Finding;
  /** How many drivers show it. */
  readonly drivers: number;
  /** The driver whose path the group has is meant alone, and none of those below it. */
  readonly isAlone: boolean;
}

/** Whether the driver or the group of a path is among what a finding names. */
export function isAbout({ finding: { group }, isAlone }: Found, path: readonly string[]): boolean {
  return isWithin(path, group) && (!isAlone || path.length === group.length);
}

/** In bits: what 24 points tell with two bits each. Short values tell less, so more of them are needed. */
const evidenceMin = 48;

export function exactFactorSought(exact: ExactFactor): Sought {
  const measure: Measure = {
    count: ({ totals }, { points }) => ({ found: points, of: totals.valued }),
    isSlip: ({ totals }, { points }) => points >= 6 && points * 10 >= totals.valued * 9,
    isSlipInChanged: ({ totals }, { points }) => points >= 24 && points * 20 >= totals.changed * 19,
  };
  return { key: `exact ${exact}`, kind: 'factor', measure, exact, factor: exactFactorText(exact) };
}

export function anyFactorSought(factor: string): Sought {
  const measure: Measure = {
    count: ({ totals }, { points }) => ({ found: points, of: totals.valued }),
    isSlip: ({ totals }, { points, evidence }) =>
      totals.valued >= 24 && points * 20 >= totals.valued * 19 && evidence >= evidenceMin,
  };
  return { key: `factor ${factor}`, kind: 'factor', measure, factor };
}

export const zerosSought: Sought = {
  key: 'zeros',
  kind: 'zeros',
  measure: {
    count: ({ totals }, { points }) => ({ found: points, of: totals.valued }),
    isSlip: ({ totals }, { points }) => points >= 10 && points * 2 >= totals.valued,
  },
};

export const newZerosSought: Sought = {
  key: 'new zeros',
  kind: 'zeros',
  measure: {
    count: ({ totals }, { drivers }) => ({ found: drivers, of: totals.unzeroed }),
    isSlip: ({ totals }, { drivers }) => drivers >= 10 && drivers * 2 >= totals.unzeroed,
  },
};

export function movedSought(months: number): Sought {
  const measure: Measure = {
    count: ({ totals }, { drivers }) => ({ found: drivers, of: totals.movableDrivers }),
    isSlip: ({ totals }, { drivers }) => drivers * 10 >= totals.movableDrivers * 8,
  };
  return { key: `moved ${months}`, kind: 'moved', measure, months };
}

export function newScaleSought(exponent: number): Sought {
  const factor = exactFactorText(exponent * 2);
  return { key: `new scale ${exponent}`, kind: 'new-scale', measure: mostOf('scaled'), exponent, factor };
}

export function lateScaleSought(exponent: number): Sought {
  return { ...newScaleSought(exponent), key: `late scale ${exponent}`, measure: mostOf('lateScaled'), isLate: true };
}

export const newSignSought: Sought = { key: 'new sign', kind: 'new-sign', measure: mostOf('signed') };

export const lateSignSought: Sought = {
  ...newSignSought,
  key: 'late sign',
  measure: mostOf('lateSigned'),
  isLate: true,
};

/** Of six drivers or more, four of five. */
function mostOf(total: 'scaled' | 'signed' | 'lateScaled' | 'lateSigned'): Measure {
  return {
    count: ({ totals }, { drivers }) => ({ found: drivers, of: totals[total] }),
    isSlip: ({ totals }, { drivers }) => totals[total] >= 6 && drivers * 10 >= totals[total] * 8,
  };
}

export const copiedSought: Sought = {
  key: 'copied',
  kind: 'copied',
  measure: {
    count: ({ totals }, { drivers }) => ({ found: drivers, of: totals.repeating }),
    isSlip: (group, { drivers }) => {
      const { repeating } = group.totals;
      return repeating >= 10 && drivers * 10 >= repeating * 9 && !repeatsByHabit(group);
    },
  },
};

/** Whether in some month of the year before half of the drivers repeated the month before it. */
function repeatsByHabit({ repeats, totals }: Group): boolean {
  for (let month = 0; month < 12; month++) {
    const [did, known] = [repeats?.did[month] ?? 0, repeats?.known[month] ?? 0];
    if (known * 2 >= totals.repeating && did * 2 >= known) return true;
  }
  return false;
}

/** Of the points that changed a third of the readings is gone, and four of five drivers have lost some. */
export const fewerSought: Sought = {
  key: 'fewer readings',
  kind: 'fewer-readings',
  measure: {
    count: ({ totals }, { points }) => ({ found: points, of: totals.readings }),
    isSlip: ({ totals }, { points, drivers }) =>
      points >= 24 && points * 3 >= totals.readings && drivers >= 6 && drivers * 10 >= totals.counted * 8,
  },
};

export const exchangedSought: Sought = {
  key: 'exchanged',
  kind: 'exchanged',
  measure: {
    count: ({ totals }, { drivers }) => ({ found: drivers, of: totals.exchangeable }),
    // Each of two drivers is named. Where whole columns changed places, their group is named instead.
    isSlip: ({ totals }, { drivers }) =>
      totals.exchangeable === 1 || (drivers >= 6 && drivers * 10 >= totals.exchangeable * 8),
  },
};

export const closedSought: Sought = {
  key: 'closed',
  kind: 'closed',
  measure: {
    count: ({ totals }, { points }) => ({ found: points, of: totals.closed }),
    isSlip: (_group, { points }) => points > 0,
  },
};
