/** Changes as Markdown, for a comment of a pull request. */
import type { Difference } from '../app/ask/difference.ts';
import { type PlanReport, type PlannedSource, blockOfPass } from '../app/ask/plan.ts';
import { AgentError } from '../core/errors.ts';
import { type Changes, hasChanges } from '../core/series/diff.ts';
import type { PointChange } from '../core/series/largest.ts';
import type { PathTotal } from '../core/series/totals.ts';
import { count, visible } from '../core/text.ts';
import type { Finding } from '../core/values/finding.ts';
import { told, wordsOf } from '../core/values/words.ts';
import { pointColumns, pointRow, totalColumns, totalRow } from './changes.ts';
import { type Column, showCounts, whatIsUnreadable } from './text.ts';

/** A job finds its own comment by this line, to write over it: docs/preview has two. */
const mark = '<!-- driver-sync -->';

/** A comment of GitHub holds 65 536 characters. */
const roomMax = 60_000;
const nameMax = 100;

/** What a plan would change. It says that nothing changes only where everything was read and nothing is held. */
export function planMarkdown(report: PlanReport): string[] {
  const { sources, changes, isFirstPush, renamed, rolledBackTo, unreadablePush } = report;
  const blocked = blockOfPass(report);
  const room = { left: roomMax };
  const lines = [mark, `### driver-sync: ${headline(report)}`, ''];
  for (const source of sources) lines.push(...doubts(source), ...slips(source, room));
  if (rolledBackTo !== undefined) {
    lines.push(
      ...caution(
        `Rolled back to push ${rolledBackTo}`,
        'nothing of this is pushed until "driver-sync sync" or SIGUSR2',
      ),
    );
  }
  if (blocked !== undefined) lines.push(...caution('Nothing may be pushed', blocked.reason, blocked.hint));
  if (isFirstPush && blocked === undefined) {
    const drivers = count(report.drivers, 'driver');
    lines.push(...caution('First push', `it deletes every driver of the service that is not among these ${drivers}`));
  }
  if (unreadablePush !== undefined)
    lines.push(...caution('Nobody knows what the service holds', whatIsUnreadable(unreadablePush)));
  lines.push(...showAll(changes));
  for (const { name, state, changedPoints, largest, totals } of sources) {
    if (changedPoints === 0 && totals.length === 0) continue;
    const held = state === 'held' ? ', if it is approved' : '';
    lines.push('', `#### ${named(name)}: ${changesOf(changedPoints)}${held}`);
    lines.push(...showTables({ largest, changedPoints, totals }, 'driver-sync plan --all', room));
  }
  lines.push(...showMoved(sources));
  if (renamed.length > 0) {
    lines.push('', `**${count(renamed.length, 'id')} renamed**, each a delete and a create at the service:`, '');
    for (const { from, to } of renamed.slice(0, 10)) lines.push(`- ${named(from)} becomes ${named(to)}`);
    if (renamed.length > 10) lines.push(`- and ${renamed.length - 10} more`);
  }
  return lines;
}

/** Drivers under another path. */
function showMoved(sources: readonly PlannedSource[]): string[] {
  const all = sources.reduce((total, { movedDrivers }) => total + movedDrivers, 0);
  if (all === 0) return [];
  const shown = sources.flatMap(({ moved }) => moved).slice(0, 10);
  const rows = shown.map(({ driver, from, to }) => {
    return `- ${named(driver)}: ${named(from.join(' / '))} becomes ${named(to.join(' / '))}`;
  });
  const more = all - shown.length;
  return [
    '',
    `**${count(all, 'driver')} under another path:**`,
    '',
    ...rows,
    ...(more > 0 ? [`- and ${more} more`] : []),
  ];
}

export function diffMarkdown(difference: Difference): string[] {
  const { from, to, changes, largest, changedPoints, totals } = difference;
  const what = hasChanges(changes) ? changesOf(changedPoints) : 'no difference';
  return [
    mark,
    `### driver-sync: from push ${from} to push ${to}: ${what}`,
    '',
    ...showAll(changes),
    ...showTables({ largest, changedPoints, totals }, `driver-sync diff ${from} ${to} --all`, { left: roomMax }),
  ];
}

/** Where there is no plan: it must never read as if nothing changed. */
export function failedMarkdown(error: unknown): string[] {
  const why = error instanceof AgentError ? error.message : 'a bug: see the log of the job';
  const hint = error instanceof AgentError ? error.hint : undefined;
  return [
    mark,
    '### driver-sync: the preview could not be made',
    '',
    ...caution('Nobody knows what this would change', why, hint),
  ];
}

function headline(report: PlanReport): string {
  const { sources, changes, exit } = report;
  const isWhole =
    blockOfPass(report) === undefined && sources.every(({ state }) => state !== 'held' && state !== 'unread');
  const what = hasChanges(changes)
    ? `${count(sum(changes.drivers), 'driver')} and ${count(sum(changes.points), 'point')} would change`
    : 'nothing would change';
  if (isWhole && (hasChanges(changes) || exit === 0)) return what;
  if (isWhole) return 'the same data would be pushed again';
  return hasChanges(changes) ? `${what}, and this is not all` : 'this preview is not whole';
}

function sum({ create, update, delete: deleted }: Changes['points']): number {
  return create + update + deleted;
}

function changesOf(points: number): string {
  return points === 0 ? 'paths change' : `${count(points, 'point')} ${points === 1 ? 'changes' : 'change'}`;
}

const warningsShown = 5;
const findingsShown = 5;

function doubts({ name, state, reason, hint, digest, approvable, carried, warnings }: PlannedSource): string[] {
  if (state === 'unread') {
    return caution(`${named(name)} was not read`, reason ?? '', 'what it would change is not shown here');
  }
  if (state === 'held') {
    const how = approvable === true && digest !== undefined ? `driver-sync approve ${digest.slice(0, 12)}` : undefined;
    return caution(`${named(name)} is held`, reason ?? '', [hint, how].filter((text) => text !== undefined).join('; '));
  }
  return [
    ...carried.flatMap((part) => caution(`${named(name)} carries a part that is gone`, part)),
    ...warnings.slice(0, warningsShown).flatMap((text) => [`- ${named(name)}: ${named(text, Infinity)}`, '']),
  ];
}

const exampleColumns: readonly Column[] = [
  ['driver', 'left'],
  ['month', 'left'],
  ['before', 'right'],
  ['now', 'right'],
];

/** What the value guard found, also where it holds nothing up. */
function slips({ name, findings = [] }: PlannedSource, room: { left: number }): string[] {
  const all = told(findings);
  if (all.length === 0) return [];
  const lines = all.slice(0, findingsShown).map((finding) => {
    const { what, where, count: found, how } = wordsOf(finding);
    return `- ${what}: ${named(where, Infinity)}, ${found}${how === '' ? '' : `, ${how}`}`;
  });
  const more = all.length - lines.length;
  const examples = all.slice(0, findingsShown).flatMap((one) => one.examples.map(exampleRow));
  return [
    `What the values of ${named(name)} look like:`,
    '',
    ...lines,
    ...(more > 0 ? [`- and ${more} more`] : []),
    '',
    ...markdownTable(exampleColumns, examples, room).lines,
    '',
  ];
}

function exampleRow({ driver, month, old = '(none)', new: now = '(none)' }: Finding['examples'][number]): string[] {
  return [driver, month, old, now];
}

function caution(what: string, why: string, hint?: string): string[] {
  const said = why.split('\n').map((line) => `> ${named(line, Infinity)}  `);
  const more = hint === undefined || hint === '' ? [] : [`> ${named(hint, Infinity)}`];
  return ['> [!CAUTION]', `> **${what}.**  `, ...said, ...more, ''];
}

function showAll({ drivers, points }: Changes): string[] {
  return [`drivers: ${showCounts(drivers)}; points: ${showCounts(points)}`];
}

interface Listed {
  readonly largest: readonly PointChange[];
  readonly changedPoints: number;
  readonly totals: readonly PathTotal[];
}

function showTables({ largest, changedPoints, totals }: Listed, command: string, room: { left: number }): string[] {
  const sums = markdownTable(totalColumns, totals.map(totalRow), room);
  const points = markdownTable(pointColumns, largest.map(pointRow), room);
  const left = changedPoints - points.shown;
  return [
    ...(sums.shown === 0 ? [] : ['', ...sums.lines]),
    ...(points.shown === 0 ? [] : ['', ...points.lines]),
    ...(left === 0 ? [] : ['', `and ${count(left, 'smaller change')}: ${named(command)}`]),
  ];
}

/** As many rows as there is room for. */
function markdownTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  room: { left: number },
): { readonly lines: string[]; readonly shown: number } {
  const lines = [
    `| ${columns.map(([title]) => title).join(' | ')} |`,
    `|${columns.map(([, align]) => (align === 'right' ? '--:' : '---')).join('|')}|`,
  ];
  let shown = 0;
  for (const row of rows) {
    const line = `| ${row.map((text, index) => (columns[index]?.[1] === 'right' ? text : named(text))).join(' | ')} |`;
    if (line.length > room.left) break;
    room.left -= line.length;
    lines.push(line);
    shown++;
  }
  return { lines, shown };
}

/** Text from data: as code, where no mention and no reference is made of it, and with nothing that is markup. */
function named(text: string, max = nameMax): string {
  const shown = visible(text);
  const cut = shown.length > max ? `${shown.slice(0, max)}…` : shown;
  return `<code>${cut.replaceAll(/[&<>|`*_[\]~\\]/g, (character) => `&#${character.charCodeAt(0)};`)}</code>`;
}
