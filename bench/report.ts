/** Measurements as tables of Markdown: what was measured, and how far the goals are met. */
import type { Figure, Table } from './measurement.ts';

/** The programs of a measurement. Columns that none of them has are left out. */
export function showTable({ title, results, notes = [] }: Table): string {
  const [first] = results;
  const columns = [
    { head: title, align: '---', cells: results.map(({ name }) => name) },
    { head: 'version', align: '---', cells: results.map(({ version }) => version ?? '') },
    { head: 's', align: '---:', cells: results.map(({ seconds }) => shown(seconds, 2)) },
    { head: 'ratio', align: '---:', cells: results.map(({ seconds }) => shown(seconds / (first?.seconds ?? NaN), 2)) },
    { head: 'CPU s', align: '---:', cells: results.map(({ cpuSeconds }) => shown(cpuSeconds, 2)) },
    { head: 'MB', align: '---:', cells: results.map(({ peakMb }) => shown(peakMb, 0)) },
  ].filter(({ cells }) => cells.some((cell) => cell !== ''));
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(columns.map(({ head }) => head)),
    line(columns.map(({ align }) => align)),
    ...results.map((_, row) => line(columns.map(({ cells }) => cells[row] ?? ''))),
    ...(notes.length === 0 ? [] : ['', ...notes]),
  ].join('\n');
}

export function showFigures(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { name, value, unit, must, aim } = figure;
    const [goal, better] = [must, aim].map((number) => (number === undefined ? '' : showValue(number, unit)));
    return `| ${name} | ${showValue(value, unit)} | ${goal} | ${better} | ${verdict(figure)} |`;
  });
  return ['| figure | this run | goal | aim | |', '| --- | ---: | ---: | ---: | --- |', ...rows].join('\n');
}

function verdict({ value, better, must, aim }: Figure): string {
  const reaches = (goal: number | undefined): boolean | undefined =>
    goal === undefined ? undefined : better === 'more' ? value >= goal : value <= goal;
  if (reaches(aim) === true) return 'reaches its aim';
  const isMet = reaches(must);
  if (isMet === undefined) return '';
  return isMet ? 'met' : '**not met**';
}

/** How many times as bad as in the committed run a figure may be. */
const worseMax = 1.2;

export interface Comparison {
  readonly text: string;
  /** Names of figures that are too much worse. */
  readonly worse: readonly string[];
}

/** Figures of this run beside those of the committed one. Milliseconds belong to a machine and are left out. */
export function compareFigures(now: readonly Figure[], committed: readonly Figure[]): Comparison {
  const before = new Map(committed.map((figure) => [figure.name, figure]));
  const rows: string[] = [];
  const worse: string[] = [];
  for (const { name, value, unit, better } of now) {
    const past = before.get(name);
    if (unit === 'ms') continue;
    if (past === undefined) {
      rows.push(`| ${name} | | ${showValue(value, unit)} | new |`);
      continue;
    }
    const timesWorse = better === 'less' ? value / past.value : past.value / value;
    // A figure that is no number is no proof that all is well.
    const isWorse = !(timesWorse <= worseMax);
    if (isWorse) worse.push(name);
    const percent = Math.round(Math.abs(timesWorse - 1) * 100);
    const change = `${percent} % ${timesWorse > 1 ? 'worse' : 'better'}`;
    rows.push(
      `| ${name} | ${showValue(past.value, unit)} | ${showValue(value, unit)} | ${isWorse ? `**${change}**` : change} |`,
    );
  }
  return { text: ['| figure | committed | this run | |', '| --- | ---: | ---: | --- |', ...rows].join('\n'), worse };
}

function showValue(value: number, unit: Figure['unit']): string {
  if (unit === 'times') return shown(value, 2);
  return `${shown(value, value < 1 ? 2 : 0)} ${unit}`;
}

function shown(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '';
}
