/** Lines for a person at a terminal: tables, counts, sizes. */
import { createRequire } from 'node:module';
import type { DriverDeletes } from '../core/report.ts';
import type { SourceReport } from '../core/report.ts';
import type { Changes, Counts } from '../core/series/diff.ts';
import { shellWord, visible } from '../core/text.ts';
import { showFindings } from './findings.ts';
import { tinted } from './output.ts';

// Takes 40 ms and 3 MB, for texts that few companies have: it is loaded for the first of them.
const require = createRequire(import.meta.url);

/** `state`: its words are coloured on a terminal. */
export type Column = readonly [title: string, align: 'left' | 'right', holds?: 'state'];

/** A line of titles and a line for each row. Columns are as wide as a terminal shows their texts. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const cells = [columns.map(([title]) => title), ...rows.map((row) => row.map(visible))];
  const widths = columns.map((_column, index) =>
    cells.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? '')), 0),
  );
  return cells.map((row) =>
    row
      .map((text, index) => {
        const padding = ' '.repeat((widths[index] ?? 0) - widthOf(text));
        const [, align, holds] = columns[index] as Column;
        const shown = holds === 'state' ? tinted(firstWord(text), text) : text;
        return align === 'right' ? padding + shown : shown + padding;
      })
      .join('  ')
      .trimEnd(),
  );
}

function firstWord(text: string): string {
  return /^\w*/.exec(text)?.[0] ?? '';
}

/** How many columns of a terminal a text takes. */
function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  const { default: stringWidth } = require('string-width') as typeof import('string-width');
  return stringWidth(text);
}

/** As much of a line as a terminal of that width can show. */
export function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let cut = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOf(cut + segment) > width) break;
    cut += segment;
  }
  return cut;
}

/** `drivers: 1 created; points: 12 created, 3 deleted`. */
export function showChanges({ drivers, points }: Changes): string {
  return `drivers: ${showCounts(drivers)}; points: ${showCounts(points)}`;
}

/** What a plan says where it cannot tell what the service holds. */
export function whatIsUnreadable(push: number): string {
  return `what push ${push} sent cannot be read any more: every point is shown as created, and none as deleted`;
}

/** `2 created, 1 deleted`, or `none`. */
export function showCounts(counts: Counts): string {
  const kinds = [
    [counts.create, 'created'],
    [counts.update, 'updated'],
    [counts.delete, 'deleted'],
  ] as const;
  const shown = kinds.filter(([number]) => number > 0).map(([number, kind]) => `${number} ${kind}`);
  return shown.length === 0 ? 'none' : shown.join(', ');
}

/** Why a pass that pushed, or had nothing to push, ended with 3 or 4. */
export function showWhy(exit: number, sources: readonly SourceReport[]): string {
  if (exit !== 3 && exit !== 4) return '';
  const named = (state: SourceReport['state'], what: string): string[] => {
    const names = sources.filter((source) => source.state === state).map(({ name }) => name);
    return names.length === 0 ? [] : [`${what}: ${names.join(', ')}`];
  };
  const why = [...named('held', 'held'), ...named('unread', 'not read')];
  if (why.length === 0 && exit === 3) why.push('a part is gone and its data is carried');
  return why.length === 0 ? '' : ` (${why.join('; ')})`;
}

/** One block of lines a source: what state it is in, and what to do where it is not well. */
export function showSources(sources: readonly SourceReport[]): string[] {
  const rows = sources.map((source) => [
    source.name,
    source.state,
    String(source.parts),
    String(source.rows),
    String(source.rejects),
    String(source.drivers),
    String(source.points),
    showCounts(source.changes.points),
  ]);
  const head = table(
    [
      ['source', 'left'],
      ['state', 'left', 'state'],
      ['parts', 'right'],
      ['rows', 'right'],
      ['rejects', 'right'],
      ['drivers', 'right'],
      ['points', 'right'],
      ['changed points', 'left'],
    ],
    rows,
  );
  return [...head, ...sources.flatMap(sourceNotes)];
}

function sourceNotes(source: SourceReport): string[] {
  const notes: string[] = [];
  if (source.reason !== undefined) notes.push(`${source.name}: ${source.state}: ${source.reason}`);
  if (source.hint !== undefined) notes.push(`  ${source.hint}`);
  if (staysAccepted(source)) notes.push('  meanwhile its accepted data stays in every snapshot');
  const findings = showFindings(source.findings ?? []).map((line) => `  ${line}`);
  if (source.reason === undefined && findings.length > 0) {
    notes.push(`${source.name}: ${source.state}, and its values look like a slip:`);
  }
  notes.push(...showDeletes(source.deletes ?? []), ...findings);
  if (source.digest !== undefined && source.approvable === true)
    notes.push(`  approve it with: driver-sync approve ${source.digest.slice(0, 12)}`);
  for (const part of source.carried) {
    notes.push(
      `${source.name}: ${part} is gone and its data is carried; driver-sync forget ${source.name} ${shellWord(part)} drops it`,
    );
  }
  for (const warning of source.warnings) notes.push(`${source.name}: note: ${warning}`);
  return notes;
}

/** Whether a source that is held or unread has points of an accepted read, which snapshots go on with. */
function staysAccepted({ state, points, changes }: SourceReport): boolean {
  if (state === 'unread') return points > 0;
  return state === 'held' && points - changes.points.create + changes.points.delete > 0;
}

const deletesShown = 10;

function showDeletes(deletes: readonly DriverDeletes[]): string[] {
  const lines = deletes.slice(0, deletesShown).map(({ driver, months, whole }) => {
    const [first, last] = [months[0], months.at(-1)];
    const span = months.length === 1 ? first : `${months.length} points from ${first} to ${last}`;
    return `  would delete: ${driver}  ${whole ? 'all of it, ' : ''}${span}`;
  });
  return deletes.length > deletesShown ? [...lines, '  and more: driver-sync plan --json'] : lines;
}
