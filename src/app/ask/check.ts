/** A first look at a source: do its columns fit, what do its first rows give, and what looks like a slip. */
import { isAgentError } from '../../core/errors.ts';
import { describeLimit, isAdding, isBeyond, rejectLimit } from '../../core/guard/guard.ts';
import { type MappingProblem, columnProblems, otherDelimiter } from '../../core/mapping/columns.ts';
import type { MonthRules } from '../../core/mapping/entry-reader.ts';
import { RowMapper, rowShown } from '../../core/mapping/row-mapper.ts';
import type { Reject, Row, RowBatch } from '../../core/model.ts';
import { formatMonth } from '../../core/time/month.ts';
import type { Source } from '../../core/ports.ts';
import type { ReadingSink } from '../../core/mapping/reading.ts';
import type { DriverEntry, Limit, Mapping, SourceSettings } from '../../core/settings.ts';
import { calendarFormats } from '../../core/time/time.ts';
import { rowText, withLookups } from '../read/read-source.ts';
import { runSourceTests } from './source-tests.ts';
import { withTimeout } from '../read/timeout.ts';
import type { Dependencies } from '../dependencies.ts';

/** Rows of a part that are looked at, and what is shown of them. */
const rowsMax = 5000;
const shownMax = 10;

export interface SourceCheck {
  readonly name: string;
  readonly readings: readonly { driver: string; path: readonly string[]; month: string; value: string }[];
  readonly rejects: readonly (Reject & { readonly part: string })[];
  readonly warnings: readonly string[];
  /** Where the source could not be opened or read. */
  readonly error?: { readonly message: string; readonly hint?: string | undefined };
  /** What the config asks for and the columns do not give, and tests of it that fail. */
  readonly problems: readonly MappingProblem[];
}

export interface CheckDependencies extends Pick<Dependencies, 'clock' | 'openSource' | 'readLookups'> {
  readonly timezone: string;
  readonly maxRejects: Limit | undefined;
  /** Runs the tests of the config and opens no source. */
  readonly isOffline: boolean;
}

export async function checkSource(
  deps: CheckDependencies,
  settings: SourceSettings,
  signal: AbortSignal,
): Promise<SourceCheck> {
  const look = new Look(settings, deps.maxRejects);
  const limit = { ms: settings.timeoutMs, what: `reading source "${settings.name}"` };
  try {
    await withTimeout(deps.clock, limit, signal, async (inner) => {
      const lookups = await deps.readLookups(settings, inner);
      look.begin(withLookups(settings.mapping, lookups), { timezone: deps.timezone, calendar: lookups.calendar });
      if (deps.isOffline) return;
      const source = deps.openSource(settings);
      const parts = await source.parts(inner);
      const looked =
        source.newestOnly === true ? [parts.reduce((a, b) => (b.revisedAtMs >= a.revisedAtMs ? b : a))] : parts;
      for (const part of looked) await look.at(source, part, inner);
    });
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return { ...look.found(), error: { message: error.message, hint: error.hint } };
  }
  return look.found();
}

interface RowCounts {
  passed: number;
  rejects: number;
}

class Look {
  readonly #settings: SourceSettings;
  #mapping: Mapping;
  #months: MonthRules | undefined;
  readonly #readings: SourceCheck['readings'][number][] = [];
  readonly #rejects: (Reject & { part: string })[] = [];
  readonly #problems = new Map<string, MappingProblem>();
  readonly #warnings = new Set<string>();
  readonly #paths = new Map<string, string>();
  readonly #ids = new Map<string, string>();
  readonly #rules = new Map<string, string>();
  #isRead = false;
  readonly #slips: readonly SlipFinder[];
  readonly #maxRejects: Limit;

  constructor(settings: SourceSettings, maxRejects: Limit | undefined) {
    this.#maxRejects = rejectLimit(settings.mapping, maxRejects);
    this.#settings = settings;
    this.#mapping = settings.mapping;
    this.#slips = settings.mapping.drivers.map((entry) => new SlipFinder(entry, this.#settings.type));
  }

  /** Runs the source's tests. `mapping`: with its maps that stand in files. */
  begin(mapping: Mapping, rules: MonthRules): void {
    this.#mapping = mapping;
    this.#months = rules;
    this.#warnFiscal();
    this.#note(runSourceTests(this.#settings.tests, mapping, rules));
  }

  /** Nine months off, and nothing would say so. */
  #warnFiscal(): void {
    for (const { time } of this.#settings.mapping.drivers) {
      if (time.format.fiscalYear === undefined) continue;
      for (const format of calendarFormats(time.format)) {
        this.#warnings.add(
          `the format ${format} names calendar quarters or years, and the source has a fiscalYear: should it be fiscal-quarter or fiscal-year?`,
        );
      }
    }
  }

  #note(problems: readonly MappingProblem[]): void {
    for (const problem of problems) this.#problems.set(JSON.stringify(problem), problem);
  }

  async at(source: Source, part: Parameters<Source['rows']>[0], signal: AbortSignal): Promise<void> {
    const rows = source.rows(part, signal);
    let row = 0;
    const counts = { passed: 0, rejects: 0 };
    let mapper: RowMapper | undefined;
    try {
      while (row < rowsMax) {
        const next = await rows.next();
        if (next.done === true) return;
        const { columns } = next.value;
        if (columns.length === 0 && next.value.rows.length === 0) {
          this.#isRead = true;
          continue;
        }
        if (mapper === undefined) {
          this.#warnOneColumn(part.name, columns);
          const problems = columnProblems(this.#mapping, columns);
          this.#note(problems);
          if (problems.length > 0) return;
          this.#isRead = true;
          mapper = new RowMapper(this.#mapping, columns, this.#months as MonthRules);
        }
        for (const at of next.value.rows.keys()) {
          this.#row(part.name, { batch: next.value, at, row: ++row }, { mapper, counts });
        }
      }
    } finally {
      await rows.return(undefined as never);
      this.#warnRejects(part.name, counts);
    }
  }

  #warnRejects(part: string, { passed, rejects }: RowCounts): void {
    if (rejects === 0 || !isBeyond(rejects, passed, this.#maxRejects)) return;
    const limit = describeLimit(this.#maxRejects);
    this.#warnings.add(
      `${part}: ${rejects} of the first ${passed} rows cannot be read, more than guard.maxRejects ${limit}: sync would not accept it`,
    );
  }

  found(): SourceCheck {
    for (const slip of this.#slips) for (const warning of slip.warnings()) this.#warnings.add(warning);
    if (this.#isRead && this.#readings.length === 0 && !this.#settings.mayBeEmpty) {
      this.#warnings.add('its first rows give no readings: a read without any is held');
    }
    return {
      name: this.#settings.name,
      readings: this.#readings,
      rejects: this.#rejects,
      warnings: [...this.#warnings],
      problems: [...this.#problems.values()],
    };
  }

  #row(
    part: string,
    { batch, at, row }: { batch: RowBatch; at: number; row: number },
    { mapper, counts }: { mapper: RowMapper; counts: RowCounts },
  ): void {
    const made = new Map<string, number>();
    const sink: ReadingSink = {
      add: ({ id, path, rule }, moment, { value, text, entry }) => {
        this.#notePath(id, JSON.stringify(path));
        this.#noteRule(id, rule);
        // Of readings that add up several of one row may be meant.
        if (!isAdding(rule))
          this.#noteTwice(made, { id, entry, key: JSON.stringify([id, moment.seconds, moment.nanos]) });
        this.#slips[entry]?.note(text);
        if (this.#readings.length >= shownMax) return;
        this.#readings.push({ driver: id, path, month: formatMonth(moment.month), value });
      },
    };
    const result = mapper.readFrom(batch, at, row, sink);
    if (result === 'filtered') return;
    const standsFor = batch.collapsed?.[at]?.rows ?? 1;
    counts.passed += standsFor;
    if (result === undefined) return;
    counts.rejects += standsFor;
    if (this.#rejects.length >= shownMax) return;
    this.#rejects.push({
      part,
      row: rowShown(batch, at, row),
      reason: result.reject,
      text: rowText(batch.rows[at] as Row),
    });
  }

  #notePath(id: string, path: string): void {
    const before = this.#paths.get(id);
    if (before === undefined) this.#paths.set(id, path);
    else if (before !== path) this.#warnings.add(`driver "${id}" has two paths, ${before} and ${path}`);
    const twin = this.#ids.get(path) ?? id;
    this.#ids.set(path, twin);
    if (twin !== id) this.#warnings.add(`drivers "${twin}" and "${id}" have one path, ${path}`);
  }

  #noteRule(id: string, rule: string): void {
    const before = this.#rules.get(id) ?? rule;
    this.#rules.set(id, before);
    if (before === rule) return;
    this.#warnings.add(`driver "${id}" is made with collapse ${before} and ${rule}: sync would not accept it`);
  }

  /** Of two readings of one driver and moment that entries make of one row only the last counts. */
  #noteTwice(made: Map<string, number>, { id, entry, key }: { id: string; entry: number; key: string }): void {
    const before = made.get(key);
    made.set(key, entry);
    if (before === undefined || before === entry) return;
    this.#warnings.add(
      `driver "${id}" is made twice of one row and time, by drivers[${before}] and drivers[${entry}]: only one reading counts; give them different ids`,
    );
  }

  #warnOneColumn(part: string, columns: readonly string[]): void {
    const mark = otherDelimiter(columns);
    if (mark === undefined) return;
    const shown = mark === '\t' ? '"\\t"' : `"${mark}"`;
    this.#warnings.add(`${part} has one column, "${columns[0]}", with ${shown} in it: should "delimiter" be ${shown}?`);
  }
}

/** Types whose numbers may be numbers, which have a point whatever a person sees, and no group mark. */
const typesWithNumbers = new Set(['xlsx', 'parquet', 'json', 'jsonl']);

/** Finds a column of numbers whose every mark is followed by three digits: it may group, not divide, or the other way round. */
class SlipFinder {
  readonly #entry: DriverEntry;
  readonly #hasNumbers: boolean;
  #marked = 0;
  #grouped = 0;
  #example = '';

  constructor(entry: DriverEntry, type: string) {
    this.#entry = entry;
    this.#hasNumbers = typesWithNumbers.has(type);
  }

  note(text: string): void {
    const { decimal, group } = this.#entry.value.format;
    const mark = group === undefined ? decimal : this.#hasNumbers && group.mark === '.' ? group.mark : undefined;
    const at = mark === undefined ? -1 : text.indexOf(mark);
    if (at < 0) return;
    this.#marked++;
    if (!/^\D*\d{1,3}$/.test(text.slice(0, at)) || !/^\d{3}\D*$/.test(text.slice(at + 1))) return;
    this.#grouped++;
    this.#example = text.trim();
  }

  warnings(): readonly string[] {
    const { value } = this.#entry;
    const { decimal, group } = value.format;
    if (group !== undefined && this.#grouped > 0) {
      return [
        `"." groups three digits in ${value.from.text}, as in ${this.#example}: where these are numbers and not texts, the point divides; leave decimal and group out then`,
      ];
    }
    if (this.#marked < 2 || this.#grouped < this.#marked) return [];
    return [
      `every "${decimal}" in ${value.from.text} is followed by three digits, as in ${this.#example}: if it groups thousands, declare group: "${decimal}" and another decimal mark`,
    ];
  }
}
