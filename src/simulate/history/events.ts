/** The steps of a history: what may happen to data, service, machine and people. */

export const eventKinds = [
  // What owners do to their data.
  'month',
  'restate',
  'newItem',
  'goneItem',
  'rolling',
  'append',
  'booking',
  'touch',
  'rename',
  // What goes wrong with it.
  'half',
  'gap',
  'window',
  'thin',
  'cut',
  'torn',
  'rewritten',
  'empty',
  'blank',
  'vanish',
  'away',
  'slip',
  'badCells',
  'header',
  'readFails',
  'readChanges',
  'readHangs',
  'older',
  'copy',
  // What the service and the network do.
  'unanswered',
  'late',
  'dropped',
  'unreachable',
  'busy',
  'refused',
  'error',
  // What happens to the machine.
  'killWrite',
  'killStep',
  'restart',
  'fullDisk',
  'loseBuffer',
  'damageBuffer',
  'damageSnapshot',
  'clockForth',
  'clockBack',
  'clockStep',
  'second',
  // What people ask for.
  'approve',
  'forget',
  'rollback',
  'pass',
  'reload',
  'settings',
  // What moves from one source to another, where sources name the same drivers.
  'move',
  'give',
  'take',
  'double',
  'split',
  'join',
  'renameSource',
] as const;

export type EventKind = (typeof eventKinds)[number];

/** Events that only the data's owners mean: every history has these. */
export const plainKinds: readonly EventKind[] = ['month', 'restate'];

/** Events of drivers that move: only where there are sources that may have the same ones. */
export const movingKinds: readonly EventKind[] = ['move', 'give', 'take', 'double', 'split', 'join', 'renameSource'];

/** Events that find something to do only now and then: a hold, a part that is carried. */
export const askedKinds: readonly EventKind[] = ['approve', 'forget'];

export interface HistoryEvent {
  readonly kind: EventKind;
  /** How long after the event before it. */
  readonly gapMs: number;
  /** Seeds what the event picks: a source, a part, a row. */
  readonly draw: number;
}

/** A seed's worth of events. A story is one with fewer events. */
export interface History {
  readonly seed: number;
  readonly events: readonly HistoryEvent[];
}
