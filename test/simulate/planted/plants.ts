/** Bugs that are planted one at a time: what is changed where, and which promise of docs/RULES.md that breaks. */
import type { PromiseName } from '../../../src/simulate/promises.ts';
import { lagging, lenient, oneSource, shapedConfig, sharedSources, twoSources } from './configs.ts';

export interface Plant {
  readonly name: string;
  /** Below `src/`. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The promises that may be found broken. */
  readonly breaks: readonly PromiseName[];
  readonly config: object;
  /** It is looked for in histories of machines that share a ledger. */
  readonly isShared?: true;
}

const guard = (name: string, find: string, replace: string, breaks: readonly PromiseName[] = ['evidence']): Plant => ({
  name,
  file: 'core/guard/guard.ts',
  find,
  replace,
  breaks,
  config: twoSources,
});

const shared = (plant: Omit<Plant, 'config' | 'isShared'>): Plant => ({
  ...plant,
  config: sharedSources,
  isShared: true,
});

export const plants: readonly Plant[] = [
  guard(
    'the guard counts drivers only',
    "for (const unit of ['drivers', 'points'] as const)",
    "for (const unit of ['drivers'] as const)",
  ),
  guard('the guard never looks at shares', 'return judgeShare(evidence, accepted, rules);', 'return undefined;'),
  guard('the floor covers everything', 'Math.min(rules.floor, Math.floor(whole / 2))', 'rules.floor * 1000'),
  guard('an empty read is accepted', 'if (accepted.drivers === 0) return undefined;', 'return undefined;'),
  guard(
    'more rejects are no reason',
    'if (candidate.rejects > accepted.rejects) {',
    'if (candidate.rejects > accepted.rejects + 1e9) {',
  ),
  {
    name: 'a file that was cut is whole',
    file: 'app/read/part-end.ts',
    find: "if (own?.endsWithLineEnd === true) throw cut(part, 'its accepted read had one');",
    replace: '',
    breaks: ['cut'],
    config: twoSources,
  },
  {
    name: 'any number of rejects is accepted',
    file: 'app/read/part-reader.ts',
    find: 'if (rejected !== undefined) {',
    replace: 'if (rejected !== undefined && counts.rows < 0) {',
    breaks: ['unread'],
    config: lenient,
  },
  {
    name: 'only the new rows of a file that grew count',
    file: 'app/read/part-reader.ts',
    find: 'return await this.#write(part, { rejects, counts, base }, async (writer) => {',
    replace: 'return await this.#write(part, { rejects, counts }, async (writer) => {',
    breaks: ['whole', 'evidence', 'digits'],
    config: oneSource,
  },
  {
    name: 'what a file that grew was before is never proven',
    file: 'app/read/idle-work.ts',
    find: 'if (await this.#isDisproved(deps, part, signal)) changed(part.source);',
    replace: 'if (deps.settings === undefined) await this.#isDisproved(deps, part, signal), changed(part.source);',
    breaks: ['arrives'],
    config: oneSource,
  },
  {
    name: 'a delete rests on what a file was before',
    file: 'app/read/part-reader.ts',
    find: 'if (unproven.length === 0 || onlyAdds(this.#deps, this.#known.accepted, present)) return [];',
    replace: 'if (unproven.length >= 0) return [];',
    breaks: ['evidence'],
    config: twoSources,
  },
  {
    name: 'a part that is gone is not carried',
    file: 'app/read/candidate.ts',
    find: "settings.removed === 'carry' ? goneOf(deps, source, { found, takeovers }) : []",
    replace: '[]',
    breaks: ['whole', 'evidence', 'digits', 'carried'],
    config: twoSources,
  },
  {
    name: 'a renamed part is carried too',
    file: 'app/read/carried.ts',
    find: 'return gone.filter((part) => !renamed.has(part));',
    replace: 'return gone;',
    breaks: ['digits', 'whole', 'arrives', 'evidence'],
    config: twoSources,
  },
  {
    name: 'the first push waits for nobody',
    file: 'app/push/blocked.ts',
    find: 'if (missing.length === 0) return undefined;',
    replace: 'if (missing.length >= 0) return undefined;',
    breaks: ['first'],
    config: twoSources,
  },
  {
    name: 'an unread source is left out after a loss of the buffer',
    file: 'app/prepare/restore.ts',
    find: 'restoreSnapshot(deps, snapshot);\n    log.warn',
    replace: 'log.warn',
    breaks: ['whole', 'evidence', 'first'],
    config: twoSources,
  },
  {
    name: 'the last push is not told from the newest',
    file: 'app/push/push.ts',
    find: "if (push === 'ifNeeded' && (await pushNeed(deps, snapshot.digest)).atMs > clock.now().getTime()) {",
    replace: "if (push === 'ifNeeded' && last !== undefined) {",
    breaks: ['arrives'],
    config: twoSources,
  },
  {
    name: 'an unknown push is followed at once',
    file: 'app/push/send.ts',
    find: 'if (waitMs <= 0) return;',
    replace: 'if (waitMs <= 1e12) return;',
    breaks: ['waits'],
    config: twoSources,
  },
  {
    name: 'a push that followed an open one is not repeated',
    file: 'core/loop/after.ts',
    find: 'if (followsOpenPush) return',
    replace: 'if (followsOpenPush && repeatsMs.length > 99) return',
    breaks: ['arrives'],
    config: twoSources,
  },
  {
    name: 'a rollback ends with the next pass',
    file: 'app/push/blocked.ts',
    find: 'if (rolledBack !== undefined) {',
    replace: 'if (rolledBack !== undefined && rolledBack.push < 0) {',
    breaks: ['rollback', 'arrives'],
    config: twoSources,
  },
  {
    name: 'a schedule time that was missed never comes',
    file: 'core/loop/decide.ts',
    find: 'return afterMs === undefined ? facts.nowMs : facts.nextScheduledMs(afterMs);',
    replace: 'return afterMs === undefined ? facts.nowMs : facts.nextScheduledMs(afterMs) + 1e12;',
    breaks: ['arrives'],
    config: { ...twoSources, pushOnChange: undefined },
  },
  {
    name: 'new data is no change',
    file: 'core/loop/after.ts',
    find: 'const changed = done.hasAccepted ?',
    replace: 'const changed = done.hasAccepted && endedMs < 0 ?',
    breaks: ['arrives'],
    config: { ...twoSources, schedule: '0 0 1 1 *' },
  },
  {
    name: 'a push that did not arrive is not tried again',
    file: 'core/loop/decide.ts',
    find: "if (retry?.push === 'newest' && !isStopped(state, facts)) {",
    replace: "if (retry?.push === 'newest' && retry.atMs < 0) {",
    breaks: ['arrives', 'order'],
    config: { ...twoSources, schedule: '0 0 1 1 *' },
  },
  {
    name: 'a second push is begun beside the first',
    file: 'app/push/push.ts',
    find: 'await waitForOlder(deps, snapshot.digest, signal);\n  const report = await pushSnapshot(deps, { snapshot, last }, signal).catch(',
    replace:
      'await waitForOlder(deps, snapshot.digest, signal);\n  void pushSnapshot(deps, { snapshot, last }, signal).catch(() => undefined);\n  const report = await pushSnapshot(deps, { snapshot, last }, signal).catch(',
    breaks: ['one'],
    config: twoSources,
  },
  {
    name: 'an older snapshot is repeated',
    file: 'app/push/newest-snapshot.ts',
    find: 'return built?.from === madeFrom(deps) ? built.digest : undefined;',
    replace: 'return built?.digest;',
    breaks: ['order', 'whole', 'digits', 'arrives'],
    config: twoSources,
  },
  {
    name: 'slips are seen and hold nothing',
    file: 'app/review/values.ts',
    find: 'if (holding.length === 0) return hold;',
    replace: 'if (holding.length >= 0) return hold;',
    breaks: ['slip'],
    config: twoSources,
  },
  {
    name: 'no month is ever closed',
    file: 'core/values/closed.ts',
    find: 'return day >= lastClose.day ? month - 1 : month - 2;',
    replace: 'return month - 99;',
    breaks: ['closed'],
    config: { ...twoSources, lastClose: { day: 10 } },
  },
  {
    name: 'an empty snapshot needs no approval',
    file: 'app/review/together.ts',
    find: 'if (!isEmpty || passing.length === 0) return unmoved;',
    replace: 'if (passing.length >= 0) return { ...unmoved, isEmptyApproved: isEmpty };',
    breaks: ['empty', 'evidence'],
    config: { ...oneSource, sources: { sales: { ...oneSource.sources.sales, mayBeEmpty: true } } },
  },
  {
    name: 'deletes of the same day are not added up',
    file: 'app/review/decide.ts',
    find: 'day: await ledger.holds.deletesSince([name, ...gone], nowMs - dayMs, key),',
    replace: 'day: { drivers: 0, points: 0 },',
    breaks: ['evidence'],
    config: oneSource,
  },
  {
    name: 'the oldest months may go',
    file: 'core/guard/guard.ts',
    find: 'if (evidence.dropsOnlyOldest) {',
    replace: 'if (evidence.dropsOnlyOldest && candidate.points < 0) {',
    breaks: ['evidence'],
    config: { ...oneSource, guard: { maxDeletes: '60%' } },
  },
  {
    ...guard(
      'a replica that lags is believed',
      'if (evidence.dropsOnlyNewest) {',
      'if (evidence.dropsOnlyNewest && candidate.points < 0) {',
    ),
    config: { ...lagging, guard: { maxDeletes: '60%' } },
  },
  {
    name: 'an approval covers whatever comes',
    file: 'app/review/approvals.ts',
    find: 'if (isEnd !== approved.isEnd) return false;',
    replace: 'if (isEnd === approved.isEnd) return true;',
    breaks: ['evidence'],
    config: oneSource,
  },
  {
    name: 'a part that has changed is not read again',
    file: 'app/read/part-reader.ts',
    find: 'if (known?.version === part.version && known.fingerprint === this.#fingerprint) return known;',
    replace: 'if (known !== undefined && known.fingerprint === this.#fingerprint) return known;',
    breaks: ['arrives', 'digits', 'whole'],
    config: oneSource,
  },
  {
    name: 'a read that failed half way counts',
    file: 'app/read/read-source.ts',
    find: "return { settings, isExpensive, state: 'unread', reason: error.message, hint: error.hint };",
    replace:
      "return { settings, isExpensive, mayLag: false, state: 'read', found: { present: [...good.values()], listed: [...good.values()], newestOnly: false } };",
    breaks: ['whole', 'evidence', 'digits', 'ends', 'carried', 'arrives', 'cut', 'unread'],
    config: oneSource,
  },
  {
    name: 'nobody expects a service that is busy',
    file: 'core/loop/after.ts',
    find: "    case 'unreachable':\n    case 'unknown': {",
    replace: "    case 'unreachable':\n      throw new Error('unreachable');\n    case 'unknown': {",
    breaks: ['ends'],
    config: twoSources,
  },
  {
    name: 'a removed source is dropped at once',
    file: 'app/review/carry-out.ts',
    find: 'if (isNothing || (unread.length === 0 && (isApproved || !settings.shouldDeleteMissing))) {',
    replace: 'if (isNothing || unread.length === 0) {',
    breaks: ['evidence'],
    config: twoSources,
  },
  {
    name: 'a sum takes the last',
    file: 'core/series/merge-folds.ts',
    find: "    case 'sum':",
    replace: "    case 'sum':\n      return latest;\n    case 'sum' as never:",
    breaks: ['digits', 'arrives'],
    config: shapedConfig,
  },
  {
    name: 'brackets are no minus',
    file: 'core/numbers/formatted.ts',
    find: '} else if (accounting && first === opening && last === closing) {\n      isNegative = true;',
    replace: '} else if (accounting && first === opening && last === closing) {\n      isNegative = false;',
    breaks: ['digits'],
    config: shapedConfig,
  },
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
  shared({
    name: 'a successor does not wait for what may still land',
    file: 'app/push/send.ts',
    find: 'if (waitMs <= 0) return;',
    replace: 'if (waitMs < Infinity) return;',
    breaks: ['waits', 'order'],
  }),
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
    find: '  await goOnFromPushed(drafts);\n',
    replace: '',
    breaks: ['order'],
  }),
  shared({
    name: 'a ledger that fails ends an agent',
    file: 'app/shared/follow.ts',
    find: "  'ledger.unreachable',\n",
    replace: '',
    breaks: ['ends'],
  }),
];
