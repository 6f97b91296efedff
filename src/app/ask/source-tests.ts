/** The `tests:` of a source: rows in, readings out, with no file and no database. */
import { type MappingProblem, columnNeeds } from '../../core/mapping/columns.ts';
import type { MonthRules } from '../../core/mapping/entry-reader.ts';
import { isAgentError } from '../../core/errors.ts';
import { eachReading } from '../../core/mapping/reading.ts';
import { RowCoder } from '../../core/mapping/row-coder.ts';
import { RowMapper } from '../../core/mapping/row-mapper.ts';
import { formatMonth } from '../../core/time/month.ts';
import type { ExpectedReading, Mapping, SourceTest } from '../../core/settings.ts';

interface GivenReading extends ExpectedReading {
  readonly path: readonly string[];
}

/** Runs a source's tests. Each failure names the place in the config whose expectation was not met. */
export function runSourceTests(
  tests: readonly SourceTest[],
  mapping: Mapping,
  rules: MonthRules,
): readonly MappingProblem[] {
  return tests.flatMap((test, index) => {
    try {
      return runTest(test, mapping, rules).map((problem) => ({ ...problem, path: ['tests', index, ...problem.path] }));
    } catch (error) {
      if (!isAgentError(error)) throw error;
      const { message, hint = 'give the rows every column that the source needs' } = error;
      return [{ path: ['tests', index, 'rows'], message, hint }];
    }
  });
}

function runTest(test: SourceTest, mapping: Mapping, rules: MonthRules): readonly MappingProblem[] {
  const { columns } = test;
  using mapper = new RowMapper(mapping, columns, rules);
  const readings: GivenReading[] = [];
  const rejects: string[] = [];
  const rows = test.rows.map((row) => columns.map((column) => row[column] ?? ''));
  const sink = eachReading((all, at) => {
    const { id, path, rule } = all.name(at);
    const value = rule === 'count' ? '1' : all.value(at);
    readings.push({ driver: id, path, month: formatMonth(all.moment(at).month), value });
  });
  const coder = new RowCoder((all) => columnNeeds(mapping, all));
  mapper.read(coder.batch({ columns, rows }), 0, sink, {
    reject: (at, reason) => rejects.push(`row ${at + 1}: ${reason}`),
  });
  return [...compareReadings(test.readings, readings), ...compareRejects(test.rejects, rejects)];
}

function compareReadings(
  expected: readonly ExpectedReading[],
  given: readonly GivenReading[],
): readonly MappingProblem[] {
  const left = [...given];
  const missing = expected.flatMap((reading, index) => {
    const at = left.findIndex((other) => isSame(reading, other));
    if (at >= 0) left.splice(at, 1);
    return at >= 0 ? [] : [{ reading, index }];
  });
  const hint =
    left.length === 0
      ? 'the rows give no other readings'
      : `the rows also give ${left.slice(0, 5).map(show).join('; ')}`;
  const problems: MappingProblem[] = missing.map(({ reading, index }) => ({
    path: ['readings', index],
    message: `the rows do not give ${show(reading)}`,
    hint,
  }));
  if (missing.length > 0 || left.length === 0) return problems;
  const more = left.slice(0, 5).map(show).join('; ');
  return [
    { path: ['readings'], message: `the rows also give ${more}`, hint: 'list every reading, or leave the row out' },
  ];
}

function compareRejects(expected: number, given: readonly string[]): readonly MappingProblem[] {
  if (given.length === expected) return [];
  const message = `${given.length} of the rows are rejected, expected ${expected}`;
  return [{ path: ['rejects'], message, hint: given[0] ?? 'every row could be read' }];
}

function isSame(expected: ExpectedReading, given: GivenReading): boolean {
  const { driver, month, value, path } = expected;
  if (driver !== given.driver || month !== given.month || value !== given.value) return false;
  return path === undefined || JSON.stringify(path) === JSON.stringify(given.path);
}

function show({ driver, month, value, path }: ExpectedReading): string {
  return `${driver} ${month} ${value}${path === undefined ? '' : ` (${path.join(' / ')})`}`;
}
