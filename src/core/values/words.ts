/** Findings as a person reads them. */
import type { Hold } from '../guard/guard.ts';
import type { Finding } from './finding.ts';

const shownMax = 3;
const monthsShown = 6;

/** Why a candidate is held for its values, and what to do. */
export function holdOf(findings: readonly Finding[], lastClose: string | undefined): Hold {
  const [first] = findings as [Finding];
  return { reason: describeFindings(findings, lastClose), hint: hints[first.kind] };
}

export function describeFindings(findings: readonly Finding[], lastClose?: string): string {
  const told = findings.filter((finding) => !isSecondOfPair(finding));
  const closed = told.filter(({ kind }) => kind === 'closed').slice(0, 1);
  const others = told.filter((finding) => !closed.includes(finding)).slice(0, shownMax - closed.length);
  const shown = [...others, ...closed].map((finding) => describeFinding(finding, lastClose));
  const more = told.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`and ${more} more ${more === 1 ? 'finding' : 'findings'}`])].join('; ');
}

/** Of two drivers that have exchanged their values one sentence names both. */
function isSecondOfPair({ with: other, group }: Finding): boolean {
  return other !== undefined && JSON.stringify(other) < JSON.stringify(group);
}

function describeFinding(finding: Finding, lastClose: string | undefined): string {
  const { kind, group, points, of, factor, inMonths } = finding;
  const where = groupName(group);
  const some = `${points} of ${of}`;
  const changed = finding.onlyChanged === true ? ' changed' : '';
  switch (kind) {
    case 'factor':
      return factor === '-1'
        ? `${some}${changed} values of ${where} have the other sign`
        : `${some}${changed} values of ${where} are ${factor} times what they were`;
    case 'new-scale':
      return `${some} new values of ${where} (${monthList(inMonths)}) are about ${factor} times what the year before was`;
    case 'new-sign':
      return `${some} new values of ${where} (${monthList(inMonths)}) have the other sign than the whole year before`;
    case 'moved':
      return `${some} values of ${where} stand ${describeMove(finding.months ?? 0)}`;
    case 'exchanged':
      return finding.with === undefined
        ? `${some} values of ${where} are those of another driver there, which has theirs`
        : `${where} and ${groupName(finding.with)} have each other's values`;
    case 'copied':
      return `${some} new values of ${where} (${monthList(inMonths)}) are those of the month before, to the digit`;
    case 'zeros':
      return inMonths === undefined
        ? `${some} values of ${where} that were not 0 became 0`
        : `${some} new values of ${where} (${monthList(inMonths)}) are 0, and none was in the year before`;
    case 'closed':
      return describeClosed(finding, where, lastClose);
  }
}

function describeMove(months: number): string {
  const size = Math.abs(months);
  return `${size} ${size === 1 ? 'month' : 'months'} ${months > 0 ? 'later' : 'earlier'} than before`;
}

function describeClosed({ points, inMonths, examples }: Finding, where: string, lastClose: string | undefined): string {
  const what = points === 1 ? '1 point of a closed month' : `${points} points of closed months`;
  const until = lastClose === undefined ? '' : `, closed up to ${lastClose}`;
  const largest = examples
    .map(({ driver, month, old, new: now }) => `"${driver}" ${month} from ${old ?? 'nothing'} to ${now ?? 'nothing'}`)
    .join(', ');
  return `${what} of ${where} would change (${monthList(inMonths)}${until}): ${points > examples.length ? 'the largest are ' : ''}${largest}`;
}

function monthList(months: readonly string[] = []): string {
  const shown = months.slice(0, monthsShown).join(', ');
  return months.length > monthsShown ? `${shown} and ${months.length - monthsShown} more months` : shown;
}

function groupName(group: readonly string[]): string {
  return group.length === 0 ? 'the source' : group.join(' / ');
}

const hints: Readonly<Record<Finding['kind'], string>> = {
  factor:
    'another unit, sign or currency? mend the export or "scale" and "negate"; approve it if the new values are right',
  'new-scale': 'another unit in the new month? mend the export; approve it if the new values are right',
  'new-sign': 'a sign that was turned? mend the export or "negate"; approve it if the new values are right',
  moved:
    'another date column, time zone or fiscal calendar? mend the export or "time"; approve it if the months are right',
  exchanged: 'columns or names that changed places? mend the export; approve it if the new values are right',
  copied: 'an export that was not refreshed? read it again once it is; approve it if the values are right',
  zeros: 'an export that lost its values? mend it; approve it if the values are really 0',
  closed: 'approve it to open these months once, for this change; else mend the export',
};
