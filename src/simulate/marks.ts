/** Marks: names for what is rare, so that a campaign can say how often each was reached. */
import type { PassReport, SourceReport } from '../core/report.ts';

/** Reasons of a hold, by the words of `core/guard/guard.ts` and its neighbours. */
const holdReasons: readonly (readonly [mark: string, words: RegExp])[] = [
  ['turned empty', /it turned empty/],
  ['starts empty', /its first read has no readings/],
  ['too many drivers', /would delete \d+ of \d+ drivers, more/],
  ['too many points', /would delete \d+ of \d+ points, more/],
  ['too many in a day', /in the last 24 hours/],
  ['too many in a month', /in the last 30 days/],
  ['more rejects', /rejects? where the accepted read had/],
  ['rejects not known', /how many the accepted read had is not known/],
  ['oldest months', /it (?:only )?drops the oldest months/],
  ['month between', /it drops .*, between months that stay/],
  ['begins within', /it shows fewer readings of .*, its oldest month/],
  ['newest months', /it only drops the newest months/],
  ['counted twice', /may be counted twice/],
  ['readings missing', /readings are missing/],
  ['went back', /went back from/],
  ['left the config', /the source left the config/],
  ['empty snapshot', /the snapshot would be empty/],
  ['belongs to another', /belongs to source/],
  ['moved to a held one', /moved to source .*, whose read is held/],
  ['moved to an unread one', /moved to source .*, which is not read/],
  ['months in a held one', /would delete are in source .*, whose read is held/],
  ['months in an unread one', /would delete are in source .*, which is not read/],
];

/** Why nothing was pushed, by the words of `app/push/blocked.ts`. */
const blockReasons: readonly (readonly [mark: string, words: RegExp])[] = [
  ['rolled back', /^rolled back to push/],
  ['first push waits', /^the first push waits/],
  ['new buffer waits', /^the push from a new buffer waits/],
  ['first push to approve', /waits for approval/],
  ['empty', /snapshot is empty/],
];

/** Why a source is not read. */
const unreadReasons: typeof holdReasons = [
  ['too many rejects', /more than guard\.maxRejects/],
  ['line end', /ends without a line end/],
  ['half way', /was lost half way/],
  ['unreachable', /cannot be reached/],
  ['gone', /nothing matches/],
  ['no header', /it has no header/],
  ['no column', /there is no column/],
  ['no column to unpivot', /no column matches unpivot\.columns/],
  ['too long', /took longer than/],
  ['cut workbook', /it ends before its end/],
  ['share not known', /its share of what adds up is not known/],
];

/** The marks of a reason. One without a mark is a mark by itself, that no campaign may reach. */
function named(list: typeof holdReasons, reason: string): readonly string[] {
  const marks = list.flatMap(([mark, words]) => (words.test(reason) ? [mark] : []));
  return marks.length > 0 ? marks : [`unnamed: ${reason.replaceAll(/\d+/g, 'N')}`];
}

/** A hold for what its values look like is known by its findings. */
function namedHold({ reason = '', findings = [] }: SourceReport): readonly string[] {
  return named(holdReasons, reason).filter((mark) => findings.length === 0 || !mark.startsWith('unnamed'));
}

export function marksOf({ exit, outcome, reason = '', sources }: PassReport): readonly string[] {
  const held = sources.filter(({ state }) => state === 'held');
  const unread = sources.filter(({ state }) => state === 'unread');
  return [
    `exit ${exit}`,
    `outcome ${outcome}`,
    ...(outcome === 'blocked' ? named(blockReasons, reason).map((mark) => `blocked: ${mark}`) : []),
    ...sources.map(({ state }) => `source ${state}`),
    ...held.flatMap((source) => namedHold(source).map((mark) => `hold: ${mark}`)),
    ...unread.flatMap((source) => named(unreadReasons, source.reason ?? '').map((mark) => `unread: ${mark}`)),
    ...sources.flatMap(({ findings = [] }) => findings.map(({ kind }) => `finding ${kind}`)),
  ];
}
