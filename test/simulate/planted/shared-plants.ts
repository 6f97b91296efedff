/** Bugs that are looked for in histories of machines that share a ledger. */
import { sharedSources, slowService } from './configs.ts';
import type { Plant } from './plant.ts';

const shared = (plant: Omit<Plant, 'config' | 'isShared'>, config: object = sharedSources): Plant => ({
  ...plant,
  config,
  isShared: true,
});

export const sharedPlants: readonly Plant[] = [
  shared({
    name: 'an agent trusts in its term for longer than it lasts',
    file: 'core/election/election.ts',
    find: 'begunMs + leaseMs - leaseMs / marginShare',
    replace: 'begunMs + 2 * leaseMs',
    breaks: ['lead'],
  }),
  shared({
    name: 'a follower looks rarely who leads',
    file: 'core/election/election.ts',
    find: 'const lookMs = Math.min(500, leaseMs / 6);',
    replace: 'const lookMs = leaseMs / 2;',
    breaks: ['lead'],
  }),
  shared(
    {
      name: 'a successor does not wait for what may still land',
      file: 'app/push/send.ts',
      find: 'if (waitMs <= 0) return;',
      replace: 'if (waitMs < Infinity) return;',
      breaks: ['waits', 'order'],
    },
    slowService,
  ),
  shared({
    name: 'the last bytes go without a confirmation',
    file: 'app/push/send.ts',
    find: 'signal, deps.confirm)',
    replace: 'signal)',
    breaks: ['lead', 'waits', 'order'],
  }),
  shared({
    name: 'an agent that takes over goes on from what it had seen itself',
    file: 'app/shared/take-over.ts',
    find: '  else await beginFromPushed(drafts);\n',
    replace: '',
    breaks: ['order', 'evidence'],
  }),
  shared({
    name: 'a ledger that fails ends an agent',
    file: 'app/shared/follow.ts',
    find: "  'ledger.unreachable',\n",
    replace: '',
    breaks: ['ends'],
  }),
  shared({
    name: 'an agent that takes over keeps what it accepted while it followed',
    file: 'app/shared/take-over.ts',
    find: 'if (isItsOwn) await',
    replace: 'if (isItsOwn || term !== undefined) await',
    breaks: ['evidence', 'order'],
  }),
  shared({
    name: 'deletes that another machine let through do not count',
    file: 'app/review/let-through.ts',
    find: 'untilMs: followsFromMs }',
    replace: 'untilMs: 0 }',
    breaks: ['evidence'],
  }),
  shared({
    name: 'whoever takes over forgets all deletes',
    file: 'app/shared/follow.ts',
    find: 'forgetDeletes(push.atMs)',
    replace: 'forgetDeletes(0)',
    breaks: ['evidence'],
  }),
  shared({
    name: 'an approval covers whatever a newer read deletes',
    file: 'app/review/approvals.ts',
    find: 'const month = months.find((one) => !allowed.has(one));',
    replace: 'const month = undefined;',
    breaks: ['evidence'],
  }),
  shared({
    name: 'an approval that was used covers the next read too',
    file: 'app/review/approvals.ts',
    find: "approval.state === 'pending' && approval.source === source,",
    replace: "approval.state !== 'dropped' && approval.source === source,",
    breaks: ['evidence'],
  }),
  shared({
    name: 'three times the share may go in a day',
    file: 'core/guard/guard.ts',
    find: 'if (deletes + day > allowedDeletes(accepted[unit], rules)) {',
    replace: 'if (deletes + day > allowedInMonth(accepted[unit], rules)) {',
    breaks: ['evidence'],
  }),
  shared({
    name: 'what went more than a day ago never counts',
    file: 'core/guard/guard.ts',
    find: 'if (deletes + month > allowedInMonth(had, rules)) {',
    replace: 'if (deletes + day > allowedInMonth(had, rules)) {',
    breaks: ['evidence'],
  }),
  shared({
    name: 'what is held stays held, whatever is approved',
    file: 'app/review/decide.ts',
    find: 'isCovered: approved !== undefined && further === undefined }',
    replace: 'isCovered: false }',
    breaks: ['arrives'],
  }),
  shared({
    name: 'a rollback ends with the term in which it was made',
    file: 'app/shared/take-over.ts',
    find: 'deps.buffer.setState({ ledIn: term });',
    replace: 'deps.buffer.setState({ ledIn: term });\n  await deps.ledger.setState({ rolledBack: undefined });',
    breaks: ['rollback'],
  }),
  shared({
    name: 'a follower takes no rollback for what was pushed',
    file: 'app/shared/follow.ts',
    find: 'const acknowledged = await ledger.pushes.lastAcknowledged(address);\n  const last',
    replace:
      'const acknowledged = (await ledger.pushes.all()).findLast((one) => one.outcome === "acknowledged" && one.rollbackOf === undefined);\n  const last',
    breaks: ['arrives', 'order', 'evidence', 'rollback'],
  }),
];
