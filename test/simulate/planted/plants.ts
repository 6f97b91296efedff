/** Bugs that are planted one at a time: what is changed where, and which promise of docs/RULES.md that breaks. */
import type { PromiseName } from '../../../src/simulate/promises.ts';
import { shapedConfig, twoSources } from './configs.ts';

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
}

const guard = (name: string, find: string, replace: string, breaks: readonly PromiseName[] = ['evidence']): Plant => ({
  name,
  file: 'core/guard/guard.ts',
  find,
  replace,
  breaks,
  config: twoSources,
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
    name: 'a part that is gone is not carried',
    file: 'app/read/candidate.ts',
    find: "settings.removed === 'carry' ? goneOf(deps, source, { found, takeovers }) : []",
    replace: '[]',
    breaks: ['whole', 'evidence', 'digits'],
    config: twoSources,
  },
  {
    name: 'a renamed part is carried too',
    file: 'app/read/carried.ts',
    find: 'return gone.filter((part) => !renamed.has(part));',
    replace: 'return gone;',
    breaks: ['digits', 'whole', 'arrives'],
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
    find: 'const isCurrent = last?.digest === snapshot.digest && !(await ledger.pushes.hasOpenSince(address, last.id));',
    replace: 'const isCurrent = last !== undefined;',
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
    breaks: ['rollback'],
    config: twoSources,
  },
  {
    name: 'a refused push is never tried again',
    file: 'core/loop/decide.ts',
    find: 'return revision === stopped.revision && !(stopped.isRefused && hasNewToken);',
    replace: 'return revision >= -1 && !(stopped.isRefused && hasNewToken);',
    breaks: ['arrives'],
    config: twoSources,
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
    name: 'a sum takes the last',
    file: 'core/series/merge-folds.ts',
    find: "    case 'sum':",
    replace: "    case 'sum':\n      return latest;\n    case 'sum' as never:",
    breaks: ['digits'],
    config: shapedConfig,
  },
  {
    name: 'a group mark is a decimal mark',
    file: 'core/numbers/formatted.ts',
    find: 'if (code === groupMark && (groups === 0 ? since > 0 && since <= 3 : since === 3)) {',
    replace: 'if (code === groupMark && since < 0) {',
    breaks: ['arrives', 'digits'],
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
];
