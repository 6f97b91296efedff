/** Slips in values as a person reads them: what, where and how many, and examples of each. */
import type { Finding } from '../core/values/finding.ts';
import { told, wordsOf } from '../core/values/words.ts';

const findingsShown = 5;

/** Two levels of lines: a finding, and its examples below it. */
export function showFindings(findings: readonly Finding[]): string[] {
  const all = told(findings);
  const lines = all.slice(0, findingsShown).flatMap((finding) => {
    const { what, where, count, how } = wordsOf(finding);
    const examples = finding.examples.map(
      ({ driver, month, old = 'nothing', new: now = 'nothing' }) =>
        `  such as: ${driver}  ${month}  from ${old} to ${now}`,
    );
    return [`${what}: ${where}, ${count}${how === '' ? '' : `, ${how}`}`, ...examples];
  });
  const more = all.length - findingsShown;
  return more > 0 ? [...lines, `and ${more} more: "driver-sync plan --json" has all`] : lines;
}
