/** Findings as a person reads them. */
import type { Hold } from '../guard/guard.ts';
import { type Finding, type FindingKind, isPowerOfTen } from './finding.ts';

const shownMax = 3;
const monthsShown = 6;

/** A finding in few words, for tables and lists. */
export interface FindingWords {
  /** The kind: `another unit`. */
  readonly what: string;
  /** The group, or both drivers that were exchanged. */
  readonly where: string;
  /** `212 of 214 values`. */
  readonly count: string;
  /** `1000 times`, `1 month later`, the months that it is about; the empty text where the kind says it all. */
  readonly how: string;
}

/** Leaves out the second finding of an exchange: the first one names both drivers. */
export function told(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ with: other, group }) => other === undefined || isFirstOfPair(group, other));
}

function isFirstOfPair(group: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify(group) < JSON.stringify(other);
}

export function wordsOf(finding: Finding): FindingWords {
  const { kind, with: other, points, of, inMonths, onlyChanged, months, factor } = finding;
  const unit = units[kind] ?? (isOfNewMonths(finding) ? 'new values' : 'values');
  return {
    what: kindWords(finding),
    where: other === undefined ? placeOf(finding) : `${placeOf(finding)} and ${groupName(other)}`,
    count: `${points} of ${of} ${unit}${onlyChanged === true ? ' that changed' : ''}`,
    how: [
      ...(factor === undefined || factor === '-1' ? [] : [`${kind === 'new-scale' ? 'about ' : ''}${factor} times`]),
      ...(months === undefined ? [] : [describeMove(months)]),
      ...(inMonths === undefined ? [] : [monthList(inMonths)]),
    ].join(', '),
  };
}

const units: Readonly<Partial<Record<FindingKind, string>>> = { closed: 'points', 'fewer-readings': 'readings' };

/** Only months that are new or restated at the end were looked at. */
function isOfNewMonths({ kind, inMonths }: Finding): boolean {
  return kind !== 'closed' && inMonths !== undefined;
}

function kindWords({ kind, factor = '', inMonths }: Finding): string {
  switch (kind) {
    case 'factor':
      if (factor === '-1') return 'another sign';
      if (!isPowerOfTen(factor)) return 'another factor, such as a currency';
      return factor.startsWith('-') ? 'another unit and sign' : 'another unit';
    case 'new-scale':
      return 'another unit in a new month';
    case 'new-sign':
      return 'another sign in a new month';
    case 'moved':
      return 'values in other months';
    case 'exchanged':
      return 'exchanged values';
    case 'copied':
      return 'a copied month';
    case 'zeros':
      return inMonths === undefined ? 'values that became 0' : 'a new month of zeros';
    case 'fewer-readings':
      return 'fewer readings';
    case 'closed':
      return 'closed months';
  }
}

/** Why a candidate is held for its values, and what to do. */
export function holdOf(findings: readonly Finding[], lastClose: string | undefined): Hold {
  const [first] = findings as [Finding];
  return { reason: describeFindings(findings, lastClose), hint: hints[first.kind] };
}

export function describeFindings(findings: readonly Finding[], lastClose?: string): string {
  const all = told(findings);
  const closed = all.filter(({ kind }) => kind === 'closed').slice(0, 1);
  const others = all.filter((finding) => !closed.includes(finding)).slice(0, shownMax - closed.length);
  const shown = [...others, ...closed].map((finding) => describeFinding(finding, lastClose));
  const more = all.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`and ${more} more ${more === 1 ? 'finding' : 'findings'}`])].join('; ');
}

function describeFinding(finding: Finding, lastClose: string | undefined): string {
  const { kind, points, of, factor, inMonths } = finding;
  const where = placeOf(finding);
  const some = `${points} of ${of}`;
  const changed = finding.onlyChanged === true ? ' changed' : '';
  switch (kind) {
    case 'factor':
      return factor === '-1'
        ? `${some}${changed} values of ${where} have the other sign`
        : `${some}${changed} values of ${where} are ${factor} times what they were`;
    case 'new-scale':
      return `${some} new values of ${where} (${monthList(inMonths)}) are about ${factor} times what the months next to them were`;
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
    case 'fewer-readings':
      return `${some} readings behind changed points of ${where} are gone (${monthList(inMonths)})`;
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

function placeOf({ group, part }: Finding): string {
  if (part === undefined) return groupName(group);
  return group.length === 0 ? part : `${groupName(group)} in ${part}`;
}

function groupName(group: readonly string[]): string {
  return group.length === 0 ? 'the source' : group.join(' / ');
}

const hints: Readonly<Record<FindingKind, string>> = {
  factor:
    'another unit, sign or currency? mend the export or "scale" and "negate"; approve it if the new values are right',
  'new-scale': 'another unit in the new month? mend the export; approve it if the new values are right',
  'new-sign': 'a sign that was turned? mend the export or "negate"; approve it if the new values are right',
  moved:
    'another date column, time zone or fiscal calendar? mend the export or "time"; approve it if the months are right',
  exchanged: 'columns or names that changed places? mend the export; approve it if the new values are right',
  copied: 'an export that was not refreshed? read it again once it is; approve it if the values are right',
  zeros: 'an export that lost its values? mend it; approve it if the values are really 0',
  'fewer-readings':
    'a table that is still being loaded, or a query that leaves rows out? read it again once all are there; approve it if these rows are really gone, and say "guard: { values: warn }" in a source whose rows go as they are settled',
  closed: 'approve it to open these months once, for this change; else mend the export',
};
