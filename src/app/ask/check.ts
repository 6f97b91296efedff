/**
 * A first look at a source: do its columns fit, what do its first rows give, and would `sync` read them. Whether it would accept them
 * is the review's to say (`check-judgement.ts`).
 */
import { isAgentError } from '../../core/errors.ts';
import { isAdding } from '../../core/series/rule.ts';
import {
  type MappingProblem,
  columnProblems,
  leftOutWarnings,
  literalWarnings,
  otherDelimiter,
  placeWarnings,
} from '../../core/mapping/columns.ts';
import type { Batch } from '../../core/mapping/column-batch.ts';
import type { MonthRules } from '../../core/mapping/entry-reader.ts';
import { rowOf } from '../../core/row-origin.ts';
import { type ReadingSink, eachReading } from '../../core/mapping/reading.ts';
import { RowMapper } from '../../core/mapping/row-mapper.ts';
import type { Part, Reject } from '../../core/model.ts';
import type { Lookups, Source } from '../../core/ports.ts';
import { summarizeRun } from '../../core/series/compare.ts';
import { Fold } from '../../core/series/fold/fold.ts';
import { mergeDrivers, placeOrder } from '../../core/series/merge-folds.ts';
import { type FoldedDriver, type PartOrigin, packDriver, unpackDriver } from '../../core/series/packing.ts';
import type { Limit, Mapping, SourceSettings } from '../../core/settings.ts';
import { formatMonth } from '../../core/time/month.ts';
import { calendarFormats } from '../../core/time/time.ts';
import type { Finding } from '../../core/values/finding.ts';
import type { Dependencies } from '../dependencies.ts';
import { type KnownParts, currentParts } from '../read/current-parts.ts';
import { footerHint } from '../read/footer-hint.ts';
import { type EndedPart, type QuietNeeded, judgeEnd } from '../read/part-end.ts';
import { type RowTaker, readRows, readUnchanged, tooManyRejects, withLookups } from '../read/part-rows.ts';
import { withTimeout } from '../read/timeout.ts';
import { tieWarnings } from '../tie-warnings.ts';
import { FirstDays } from './first-days.ts';
import { ForeignNames } from './foreign-names.ts';
import { headerNote } from './header-note.ts';
import { PartProblems } from './part-problems.ts';
import { type SlipFinder, notingStored, slipFinders } from './slips.ts';
import { runSourceTests } from './source-tests.ts';

/** Rows of a part that are read, and more while the source has given no reading; and what is shown of them. */
const rowsMax = 5000;
const shownMax = 10;

export interface SourceCheck {
  readonly name: string;
  /** All of its rows were read, and no file of it may still be half a file. */
  readonly isWhole: boolean;
  readonly readings: readonly { driver: string; path: readonly string[]; month: string; value: string }[];
  /** How many the rows gave that were read, of which `readings` are the first. */
  readonly readingsRead: number;
  readonly rejects: readonly (Reject & { readonly part: string })[];
  readonly warnings: readonly string[];
  /** Why `sync` would not accept what was read. */
  readonly refusals: readonly Refusal[];
  /** Slips in the values of what was read, also where they hold nothing up. */
  readonly findings?: readonly Finding[];
  /** Where the source could not be opened or read. */
  readonly error?: Refusal;
  /** What the config asks for and the columns do not give, and tests of it that fail. */
  readonly problems: readonly MappingProblem[];
}

export interface Refusal {
  readonly message: string;
  readonly hint?: string | undefined;
}

export interface CheckDependencies extends Pick<Dependencies, 'clock' | 'openSource' | 'readLookups'> {
  readonly timezone: string;
  readonly maxRejects: Limit | undefined;
  /** Runs the tests of the config and opens no source. */
  readonly isOffline: boolean;
  /** What earlier passes left about a source. */
  readonly known: (source: string) => KnownParts;
}

export async function checkSource(
  deps: CheckDependencies,
  given: SourceSettings,
  signal: AbortSignal,
): Promise<SourceCheck> {
  const settings = { ...given, mapping: notingStored(given.mapping) };
  const known = deps.known(settings.name);
  const look = new Look(deps, settings, known);
  const limit = { ms: settings.timeoutMs, what: `reading source "${settings.name}"` };
  try {
    await withTimeout(deps.clock, limit, signal, async (inner) => {
      const lookups = await deps.readLookups(settings, inner);
      look.begin(withLookups(settings.mapping, lookups), { timezone: deps.timezone, calendar: lookups.calendar });
      look.warnOfTables(lookups);
      if (deps.isOffline) return;
      const source = deps.openSource(settings);
      // No version: the rows are wanted, whether or not they changed.
      const nowMs = deps.clock.now().getTime();
      const { listed, parts } = await currentParts(source, { ...known, versions: new Map(), nowMs }, inner);
      look.warnOfOtherNames(listed);
      const ends: EndedPart[] = [];
      for (const part of parts) ends.push(await look.read(source, part, inner));
      look.warn(source.warnings?.() ?? []);
      await look.judgeEnds(source, { ends, listed }, inner);
      look.end();
    });
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return { ...look.found(), isWhole: false, error: { message: error.message, hint: error.hint } };
  }
  return look.found();
}

class Look {
  readonly #deps: CheckDependencies;
  readonly #settings: SourceSettings;
  readonly #known: KnownParts;
  #slips: readonly (readonly SlipFinder[])[] = [];
  #mapping: Mapping;
  #months: MonthRules | undefined;
  #isWhole = false;
  #isUnsure = false;
  readonly #readings: SourceCheck['readings'][number][] = [];
  #readingsRead = 0;
  readonly #rejects: (Reject & { part: string })[] = [];
  #testProblems: readonly MappingProblem[] = [];
  readonly #partProblems = new PartProblems();
  readonly #foreign = new ForeignNames();
  readonly #firstDays = new FirstDays();
  readonly #warnings = new Set<string>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #origins: PartOrigin[] = [];
  /** By id, for each rule what the parts gave. */
  readonly #drivers = new Map<string, readonly FoldedDriver[]>();

  constructor(deps: CheckDependencies, settings: SourceSettings, known: KnownParts) {
    this.#deps = deps;
    this.#settings = settings;
    this.#known = known;
    this.#mapping = settings.mapping;
  }

  /** Runs the source's tests. `mapping`: with its maps that stand in files. */
  begin(mapping: Mapping, rules: MonthRules): void {
    this.#mapping = mapping;
    this.#months = rules;
    this.#slips = mapping.drivers.map((entry) => slipFinders(entry, rules));
    this.#warnFiscal();
    this.#testProblems = runSourceTests(this.#settings.tests, mapping, rules);
  }

  warnOfTables({ files }: Lookups): void {
    for (const { file, end } of files) {
      if (end.endsWithLineEnd || end.quietMs >= end.quietNeededMs) continue;
      this.#isUnsure = true;
      this.#warnings.add(
        `${file} ends without a line end and may be half a file: sync takes it once it was quiet for ${end.quietNeededMs / 1000} s; end its last line if it is whole`,
      );
    }
  }

  warn(warnings: readonly string[]): void {
    for (const warning of warnings) this.#warnings.add(warning);
  }

  /** Names what is left out, since somebody may think that it counts. */
  warnOfOtherNames(listed: readonly Part[]): void {
    for (const { name, otherNames = [] } of listed) {
      if (otherNames.length === 0) continue;
      const others = `${otherNames.slice(0, 3).join(', ')}${otherNames.length > 3 ? ` and ${otherNames.length - 3} more` : ''}`;
      this.#warnings.add(`${name} is there under other names too, which do not count: ${others}`);
    }
  }

  /** Gives the part with how it ends. */
  async read(source: Source, part: Part, signal: AbortSignal): Promise<EndedPart> {
    const { clock, maxRejects } = this.#deps;
    const { timeoutMs } = this.#settings;
    const taker = await readUnchanged(clock, { source, part, timeoutMs, signal }, async (now) => {
      const fresh = this.#taker(part);
      const content = await readRows(source, now, fresh, signal);
      return { ...fresh, content };
    });
    const { content, counts, fold, readings, rejects } = taker;
    if (content === undefined && counts.rows > 0) {
      this.#isUnsure = true;
      this.#warnings.add('only its first rows were read: "driver-sync plan" says whether sync would accept all of it');
    }
    this.#readings.push(...readings);
    this.#rejects.push(...rejects.map((reject) => ({ ...reject, part: part.name })));
    const rules = { mapping: this.#settings.mapping, maxRejects, whole: content !== undefined };
    const footer = content === undefined ? undefined : footerHint(this.#settings, counts, rejects, content);
    const mend = 'mend these rows, or raise guard.maxRejects';
    this.#refuse(part.name, tooManyRejects(counts, rules), footer === undefined ? mend : `${footer}; else ${mend}`);
    const { name, revisedAtMs } = { ...part, revisedAtMs: content?.revisedAtMs ?? part.revisedAtMs };
    this.#origins.push({ id: this.#origins.length + 1, source: this.#settings.name, name, revisedAtMs });
    for (const driver of fold.drain()) this.#merge(unpackDriver(driver));
    const end = content ?? (await source.textEnd?.(part, signal));
    return { ...part, endsWithLineEnd: end?.endsWithLineEnd };
  }

  async judgeEnds(
    source: Source,
    { ends, listed }: { ends: readonly EndedPart[]; listed: readonly Part[] },
    signal: AbortSignal,
  ): Promise<void> {
    const { accepted = [], facts } = this.#known;
    const unsure: QuietNeeded[] = [];
    for (const end of ends) {
      const isAccepted = accepted.some(({ name, version }) => name === end.name && version === end.version);
      if (end.endsWithLineEnd !== false || isAccepted) continue;
      try {
        const needed = await judgeEnd(end, { source, accepted: facts.ofPlace(listed), ends, listed }, signal);
        if (needed !== undefined) unsure.push(needed);
      } catch (error) {
        if (!isAgentError(error, 'part.unreadable')) throw error;
        this.#refuse(undefined, error.message, error.hint);
      }
    }
    const [first, ...more] = unsure;
    if (first === undefined) return;
    this.#isUnsure = true;
    const others = more.length === 0 ? '' : ` (and so do ${more.length} more)`;
    this.#warnings.add(
      `${first.part.name} ends without a line end${others} and may be half a file: sync takes it once it was quiet for ${first.neededMs / 1000} s; say lineEnd: any if such files are whole`,
    );
  }

  /** No part is left to be read. */
  end(): void {
    this.#isWhole = !this.#isUnsure;
  }

  #taker(part: Part): RowTaker & { readonly fold: Fold; readonly readings: SourceCheck['readings'][number][] } {
    const fold = new Fold(this.#origins.length + 1);
    const counts = { rows: 0, passed: 0, rejects: 0 };
    const readings: SourceCheck['readings'][number][] = [];
    const shown = shownMax - this.#readings.length;
    return {
      fold,
      readings,
      counts,
      rejects: [],
      rejectsMax: shownMax - this.#rejects.length,
      sink: this.#sink(part, { fold, readings, shown }),
      mapper: (first) => this.#mapper(part, first),
      // Without a reading all rows are read, since the review judges only what is whole.
      taken: () => (counts.rows < rowsMax || this.#readings.length + readings.length === 0 ? 'more' : 'enough'),
    };
  }

  #mapper(part: Part, first: Batch): RowMapper | undefined {
    const { columns, shared } = first;
    const mark = otherDelimiter(columns);
    if (mark !== undefined) {
      const shown = mark === '\t' ? '"\\t"' : `"${mark}"`;
      this.#warnings.add(
        `${part.name} has one column, "${columns[0]}", with ${shown} in it: should "delimiter" be ${shown}?`,
      );
    }
    const problems = columnProblems(this.#mapping, columns, shared);
    this.#partProblems.note(part.name, problems);
    const missing = new Set(problems.flatMap(({ column }) => column ?? []));
    const header = headerNote(this.#settings, part.name, first, [...missing]);
    if (header !== undefined) this.#warnings.add(header);
    for (const find of [literalWarnings, placeWarnings, leftOutWarnings])
      for (const warning of find(this.#mapping, columns)) this.#warnings.add(warning);
    return problems.length > 0 ? undefined : new RowMapper(this.#mapping, columns, this.#months as MonthRules, first);
  }

  #sink(
    part: Part,
    { fold, readings, shown }: { fold: Fold; readings: SourceCheck['readings'][number][]; shown: number },
  ): ReadingSink {
    const made = { row: 0, entries: new Map<string, number>() };
    return eachReading((given, at) => {
      const { id, path, rule } = given.name(at);
      this.#foreign.note([...path, id]);
      const moment = given.moment(at);
      if (rule !== 'last') this.#firstDays.note(moment);
      const row = given.rows[at] as number;
      const entry = given.entries[at] as number;
      for (const slip of this.#slips[entry] ?? [])
        slip.note({ id, text: given.text(at), time: given.time(at), isStored: given.stored[at] === true });
      // Entries of a row that a database collapsed have places of their own.
      if (row !== made.row && rowOf(row) !== null) made.entries.clear();
      made.row = row;
      // Several readings of one row may be meant where they add up.
      if (!isAdding(rule))
        this.#noteTwice(made.entries, { id, entry, key: JSON.stringify([id, moment.seconds, moment.nanos]) });
      this.#readingsRead++;
      if (readings.length < shown) {
        const value = rule === 'count' ? String(given.counts[at]) : given.value(at);
        readings.push({ driver: id, path, month: formatMonth(moment.month), value });
      }
      try {
        fold.add(given, at);
      } catch (error) {
        if (!isAgentError(error)) throw error;
        this.#refuse(part.name, error.message, error.hint);
      }
    });
  }

  /** Where entries make two readings of one driver and moment from one row, only the last counts. */
  #noteTwice(made: Map<string, number>, { id, entry, key }: { id: string; entry: number; key: string }): void {
    const before = made.get(key);
    made.set(key, entry);
    if (before === undefined || before === entry) return;
    this.#warnings.add(
      `driver "${id}" is made twice of one row and time, by drivers[${before}] and drivers[${entry}]: only one reading counts; give them different ids`,
    );
  }

  /** Merges a driver of one part with what other parts gave of it, as the buffer does. */
  #merge(driver: FoldedDriver): void {
    const before = this.#drivers.get(driver.id) ?? [];
    const others = before.filter(({ rule }) => rule !== driver.rule);
    for (const { rule, cells } of others) {
      for (const cell of cells) {
        const shared = driver.cells.find(({ month }) => month === cell.month);
        if (shared === undefined) continue;
        this.#refuse(
          undefined,
          `driver "${driver.id}" has two rules in ${formatMonth(cell.month)}: collapse ${rule} in ${this.#origin(cell.part).name}, and ${driver.rule} in ${this.#origin(shared.part).name}`,
          'give the entries that make this id the same collapse, or different ids',
        );
        return;
      }
    }
    const alike = before.filter(({ rule }) => rule === driver.rule);
    this.#drivers.set(driver.id, [...others, this.#merged([...alike, driver])]);
  }

  #merged(folds: readonly FoldedDriver[]): FoldedDriver {
    return mergeDrivers(
      folds,
      placeOrder((id) => this.#origin(id)),
    );
  }

  /** Parts are counted from 1. */
  #origin(id: number): PartOrigin {
    return this.#origins[id - 1] as PartOrigin;
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

  #refuse(part: string | undefined, reason: string | undefined, hint: string | undefined): void {
    if (reason === undefined) return;
    const message = part === undefined ? reason : `${part}: ${reason}`;
    this.#refusals.set(message, { message, hint });
  }

  found(): SourceCheck {
    for (const slip of this.#slips.flat()) this.warn(slip.warnings());
    for (const warning of this.#foreign.warnings(this.#settings)) this.#warnings.add(warning);
    if (this.#isWhole) this.warn(this.#firstDays.warnings());
    const drivers = [...this.#drivers.values()]
      .map((folds) => this.#merged(folds))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const { warnings, ties } = summarizeRun(drivers.map(packDriver));
    const context = {
      rules: this.#settings.mapping.drivers.map(({ rule }) => rule),
      partName: (part: number) => this.#origin(part).name,
      timezone: this.#deps.timezone,
    };
    for (const warning of [...warnings, ...tieWarnings(ties, context)]) this.#warnings.add(warning);
    return {
      name: this.#settings.name,
      isWhole: this.#isWhole,
      readings: this.#readings,
      readingsRead: this.#readingsRead,
      rejects: this.#rejects,
      warnings: [...this.#warnings],
      refusals: [...this.#refusals.values()],
      problems: [...this.#testProblems, ...this.#partProblems.all()],
    };
  }
}
