/** What a history may break. Each is a sentence of docs/RULES.md; a violation is a bug of the agent. */
export const promises = {
  whole: 'the service holds a snapshot that the agent built, whole',
  order: 'an older snapshot never follows a newer one that was acknowledged',
  one: 'one push at a time',
  evidence: 'nothing is deleted without evidence',
  moves: 'what moves from one source to another is there all the time, and compared with what it was',
  carried: 'what is gone is carried, and nothing is held that changes nothing',
  cut: 'half a file is never taken for a whole one',
  unread: 'what cannot be read whole is not accepted',
  slip: 'a slip in the values that is plain to see is held',
  closed: 'a closed month does not change unseen',
  digits: 'every accepted digit is the one in the source',
  first: 'the first push waits until every source was accepted once',
  empty: 'an empty snapshot is sent only where somebody approved it',
  rollback: 'after a rollback nothing else is pushed until somebody goes on',
  lead: 'one agent leads at a time, no term falls, and a lead that is free is taken',
  waits: 'a different snapshot waits for a push that may still land',
  arrives: 'once the faults end, the newest data is acknowledged, or a hold says why not',
  ends: 'nothing ends the agent but what somebody foresaw',
} as const;

export type PromiseName = keyof typeof promises;

/** A promise that was broken, and how. */
export class Violation extends Error {
  override readonly name = 'Violation';
  readonly promise: PromiseName;

  constructor(promise: PromiseName, how: string) {
    super(how);
    this.promise = promise;
  }
}
