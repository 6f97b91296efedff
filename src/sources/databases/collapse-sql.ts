/**
 * The statement that collapses a query, in steps: texts, what they are, which rows are odd and of which month the others
 * are, groups. Typed columns need no look at their texts, and leave a step or two with nothing to do.
 *
 * A group is one key and month, or one odd row. Its row brings for each value how many rows have it, and each row that
 * an entry wants (the latest, the first, that of the smallest or largest amount) as a line, which is found as the greatest
 * or least of such texts: nothing is joined and nothing runs twice. Where places are counted, a line holds that of its row,
 * so that ties between keys that make one driver end as they do without pushdown.
 */
import { yearMax, yearMin } from '../../core/time/month.ts';
import { type Field, type TimeSql, type ValueSql, all, flag, timeSql, valueSql } from './collapse-columns.ts';
import { type Line, type LineFormat, lineFormat } from './collapse-line.ts';
import type { CollapsePlan, CollapseRequest, LineKind, WantedLine } from './collapse-query.ts';
import { type Dialect, type SqlColumn, type StepName, always, everyYear } from './dialect.ts';
import { withoutEnd } from './query-words.ts';

export interface CollapseSql {
  /**
   * Its columns, texts all of them: those of the query; '' for a group, and for an odd row its place, or 1 where none are
   * counted; how many rows it stands for; of each value how many rows have it; the lines of the plan; for each summed
   * value the pieces of its sum, and the longest scale where the pieces do not show it.
   */
  readonly sql: string;
  readonly parseLine: (line: string) => Line;
  /** For each value of the plan, where it is summed. */
  readonly sums: readonly (SumColumns | undefined)[];
}

export interface SumColumns {
  /** Of its pieces: powers of ten. */
  readonly exponents: readonly number[];
  readonly hasScale: boolean;
}

export function collapseSql(dialect: Dialect, plan: CollapsePlan, request: CollapseRequest): CollapseSql {
  const writer = new Writer(dialect, plan, request);
  const columns = list(request.columns.map((_column, at) => `c${at}`));
  const query = dialect.ordered(withoutEnd(request.query, dialect.syntax));
  return {
    sql: `WITH ${prefix}q (${columns}) AS (\n${query}\n),\n${writer.steps()}`,
    parseLine: writer.parseLine,
    sums: writer.sums(),
  };
}

interface Step {
  readonly name: StepName;
  readonly from: string;
  readonly where: readonly string[];
  readonly fields: readonly Field[];
}

/** Of the names of steps, so that they are nobody's table: in SQLite a query would see the step and not the table. */
const prefix = 'driver_sync_';

/** Codes of what is written in ASCII. */
const ofWords = 'BETWEEN 33 AND 126';

/** By which amounts are ranked, so that the greatest text is the one to find. */
const signs: Readonly<Record<LineKind, '+' | '-' | undefined>> = {
  latest: undefined,
  earliest: undefined,
  smallest: '-',
  largest: '+',
};

class Writer {
  readonly #dialect: Dialect;
  readonly #plan: CollapsePlan;
  readonly #columns: readonly SqlColumn[];
  readonly #keys: readonly string[];
  readonly #values: readonly ValueSql[];
  readonly #time: TimeSql;
  readonly #format: LineFormat;
  readonly #hasAny: string;
  /** Each column's own name in the answer, which messages of an engine show. */
  readonly #labels: readonly string[];

  constructor(dialect: Dialect, plan: CollapsePlan, { columns, timezone }: CollapseRequest) {
    const { keys, values, time, missing } = plan;
    this.#dialect = dialect;
    this.#plan = plan;
    this.#columns = columns.map(({ type }, at) => ({ name: `c${at}`, type, kind: dialect.kindOf(type) }));
    this.#keys = keys.map(({ column }) => `k${column}`);
    this.#values = values.map(({ column }, at) => valueSql(dialect, this.#column(column), { at, missing }));
    this.#time = timeSql(dialect, this.#column(time.column), { source: time.zone, agent: timezone });
    this.#format = lineFormat(dialect, this.#time, plan.hasPlaces);
    this.#labels = columns.map(({ name }) => (/^[^"\\]+$/.test(name) ? ` AS "${name}"` : ''));
    this.#hasAny = this.#values.map(({ isThere }) => isThere).join(' OR ');
  }

  #column(at: number): SqlColumn {
    return this.#columns[at] as SqlColumn;
  }

  /** What follows the query. A step hands on what later ones speak of and no more: some engines write it down. */
  steps(): string {
    const steps = this.#steps();
    const { name: last } = steps.at(-1) as Step;
    const written = [this.#groups(last), this.#answer()];
    let wanted = namesIn(written);
    for (const [at, { name, from, where, fields }] of [...steps.entries()].toReversed()) {
      const known = [this.#columns, ...steps.slice(0, at).map((step) => step.fields)].flat().map(nameOf);
      const handed = known.filter((of) => wanted.has(of));
      const own = fields.filter(([of]) => wanted.has(of));
      const condition = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`;
      // A step that counts rows is one of its own to every engine.
      const end = name === last && this.#plan.hasPlaces ? '' : this.#dialect.once(name);
      written.unshift(
        `${prefix}${name} AS (SELECT ${list([...handed, ...own.map(named)])} FROM ${from}${condition} ${end}),`,
      );
      wanted = namesIn([...handed, ...own.map(([, sql]) => sql)]);
    }
    return written.join('\n');
  }

  #steps(): readonly Step[] {
    const read = [...this.#values, this.#time];
    const texts = [...this.#keyFields(), ...read.flatMap((of) => of.texts), ...this.#faithful()];
    const facts = read.flatMap((of) => of.facts);
    const steps: Step[] = [{ name: 'texts', from: `${prefix}q`, where: this.#conditions(), fields: texts }];
    if (facts.length > 0) steps.push({ name: 'facts', from: `${prefix}texts`, where: [], fields: facts });
    const amounts = this.#values.flatMap((value, at): Field[] =>
      this.#isExpensive(value) ? [[`a${at}`, value.amount]] : [],
    );
    if (amounts.length > 0) steps.push({ name: 'amounts', from: `${prefix}facts`, where: [], fields: amounts });
    if (!this.#plan.hasPlaces) return steps;
    const last = steps.pop() as Step;
    const { from, field } = this.#dialect.counted(last.from);
    return [...steps, { ...last, from, fields: [...last.fields, ['place', field]] }];
  }

  #keyFields(): readonly Field[] {
    const { bytes, text } = this.#dialect;
    return this.#plan.keys.map(({ column }) => [`k${column}`, bytes(text(this.#column(column)))]);
  }

  /** Whether the texts that are used are those of the agent, where that is not sure. */
  #faithful(): readonly Field[] {
    const { conditions, keys, values, time } = this.#plan;
    const { isFaithful, text } = this.#dialect;
    if (isFaithful === undefined) return [];
    const used = new Set([...conditions, ...keys, ...values, time].map(({ column }) => this.#column(column)));
    return [['faithful', flag(all([...used].map((column) => isFaithful(column, text(column)))))]];
  }

  #conditions(): readonly string[] {
    const { text, bytes, literal, isFaithful } = this.#dialect;
    return this.#plan.conditions.map(({ column: at, texts, isNegated }) => {
      const column = this.#column(at);
      const test =
        texts.length === 0
          ? `1 = ${isNegated ? 1 : 0}`
          : `${bytes(text(column))} ${isNegated ? 'NOT IN' : 'IN'} (${list(texts.map(literal))})`;
      // A text that is not the agent's is not for the database to judge.
      return isFaithful === undefined ? `(${test})` : `((${isFaithful(column, text(column))}) IS NOT TRUE OR ${test})`;
    });
  }

  #isOdd(): string {
    const { isKey, is, firstCode } = this.#dialect;
    const { keys } = this.#plan;
    const wrong = [
      ...this.#values.flatMap(({ isThere, isNumber }) =>
        isNumber === always ? [] : [`${isThere} AND (${isNumber}) IS NOT TRUE`],
      ),
      `(${this.#time.isTime}) IS NOT TRUE`,
      // Nearly all names begin with a letter or digit of ASCII, and need no closer look.
      ...keys.flatMap(({ column, needsText }) =>
        needsText
          ? [`(${firstCode(this.#textOfKey(column))} ${ofWords}) IS NOT TRUE AND ${is('blank', `k${column}`)}`]
          : [],
      ),
    ];
    const areKeys =
      isKey?.(keys.map(({ column }) => ({ bytes: `k${column}`, column: this.#column(column) }))) ?? always;
    const unsure = [
      ...(this.#dialect.isFaithful === undefined ? [] : ['faithful = 0']),
      ...(areKeys === always ? [] : [`NOT (${areKeys})`]),
    ];
    return any([...unsure, all([this.#hasAny, any(wrong)])]);
  }

  /** The key where it was written down, and the column where it would be made anew. */
  #textOfKey(at: number): SqlColumn {
    const column = this.#column(at);
    return this.#plan.hasPlaces ? { ...column, name: `k${at}` } : column;
  }

  /**
   * Which values are there, where that keeps rows apart: the agent rejects all rows of a key that makes no name for an
   * entry, of those that have a value for it, and only those.
   */
  #presence(): string | undefined {
    const { keys } = this.#plan;
    const { concat, literal } = this.#dialect;
    if (keys.every(({ mayFail }) => mayFail === 'never')) return undefined;
    const presence = concat(...this.#values.map(({ isThere }) => `CASE WHEN ${isThere} THEN '+' ELSE '-' END`), "''");
    if (keys.some(({ mayFail }) => mayFail === 'always')) return presence;
    const words = keys.flatMap(({ column, mayFail }) => {
      if (mayFail === 'never') return [];
      const begins = ['0:', 'A[', 'a{'].map(
        ([first = '', beyond = '']) => `k${column} >= ${literal(first)} AND k${column} < ${literal(beyond)}`,
      );
      return [any(begins)];
    });
    return `CASE WHEN ${all(words)} THEN '' ELSE ${presence} END`;
  }

  /** Groups of rows of a step: one key and month, or one odd row. */
  #groups(step: StepName): string {
    const { packing, some } = this.#dialect;
    const { isOfYears, month } = this.#time;
    // A time at the end of all years may be none in the agent's zone: rows without a value are no rejects then.
    const hasMonth = any([
      isOfYears({ first: yearMin + 1, last: yearMax - 1 }),
      all([this.#hasAny, isOfYears(everyYear)]),
    ]);
    const presence = this.#presence();
    const groups: readonly Field[] = [
      ['odd', `CASE WHEN ${this.#isOdd()} THEN ${this.#odd()} END`],
      ['m', `CASE WHEN ${hasMonth} THEN ${month} END`],
      ...(presence === undefined ? [] : [['present', presence] as const]),
      ...this.#keys.map((key) => [key, key] as const),
    ];
    const fields: readonly Field[] = [
      ...groups,
      ...(packing === undefined ? this.#others.map((at): Field => [`o${at}`, some(this.#column(at))]) : []),
      ['n', 'count(*)'],
      ...this.#values.map(({ isThere }, at): Field => [`r${at}`, `count(CASE WHEN ${isThere} THEN 1 END)`]),
      ...this.#plan.lines.map((line, at): Field => [`l${at}`, this.#bestLine(line)]),
      ...this.#values.flatMap((_value, at) => this.#sumFields(at)),
    ];
    return `${prefix}collapsed AS (SELECT ${list(fields.map(named))} FROM ${prefix}${step} GROUP BY ${list(groups.map(nameOf))})`;
  }

  /** Columns that are wanted beside the keys, for an odd row to leave as it is. */
  get #others(): readonly number[] {
    const hasAll = this.#dialect.isFaithful !== undefined;
    return [...this.#columns.keys()].filter((at) => hasAll || !this.#keys.includes(`k${at}`));
  }

  /** What tells an odd row from all others, and its columns where that costs nothing for the rest. */
  #odd(): string {
    const { leave, numberText, packing, unique } = this.#dialect;
    const own = this.#plan.hasPlaces ? 'place' : unique;
    if (packing === undefined) return own;
    return packing.pack([numberText(own), ...this.#others.map((at) => leave(this.#column(at)))]);
  }

  /** A column of an odd row. */
  #ofOdd(at: number): string {
    const { leave, packing } = this.#dialect;
    if (packing !== undefined) return packing.unpack('odd', this.#others.indexOf(at) + 1);
    return leave({ ...this.#column(at), name: `o${at}` });
  }

  /** A column of the query: of a group its key, of an odd row what is there. */
  #answered(at: number): string {
    const key = this.#keys.find((name) => name === `k${at}`);
    if (key !== undefined && !this.#others.includes(at)) return key;
    return `CASE WHEN odd IS NULL THEN ${key ?? 'NULL'} ELSE ${this.#ofOdd(at)} END`;
  }

  #answer(): string {
    const { numberText, packing } = this.#dialect;
    const { hasPlaces, lines } = this.#plan;
    const place = packing === undefined ? numberText('odd') : packing.unpack('odd', 0);
    const fields = [
      ...this.#columns.map((_column, at) => `${this.#answered(at)}${this.#labels[at]}`),
      `CASE WHEN odd IS NOT NULL THEN ${hasPlaces ? place : "'1'"} END`,
      numberText('n'),
      ...this.#values.map((_value, at) => numberText(`r${at}`)),
      ...lines.map((line, at) => this.#lineText(line, `l${at}`)),
      ...this.#values.flatMap((_value, at) => this.#sumFields(at).map(([of]) => numberText(of))),
    ];
    return `SELECT ${list(fields)} FROM ${prefix}collapsed`;
  }

  #bestLine({ value: at, kind, hasText }: WantedLine): string {
    const { line, rank, rankLength } = this.#dialect;
    const { isThere, text, textMax } = this.#values[at] as ValueSql;
    const { pieces, bare } = this.#format;
    const sign = signs[kind];
    const parts = [
      ...(sign === undefined ? [] : [{ sql: rank(this.#amount(at), sign), length: rankLength }]),
      ...pieces,
      ...(hasText ? [{ sql: text, length: textMax }] : []),
    ];
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const texts = parts.map(({ sql }) => sql);
    const whole = bare !== undefined && parts.length === pieces.length ? bare.sql : line(texts, length);
    return `${kind === 'earliest' ? 'min' : 'max'}(CASE WHEN ${isThere} THEN ${whole} END)`;
  }

  /** The pieces of a value's sum, and its scale. */
  #sumFields(at: number): readonly Field[] {
    if (this.#plan.values[at]?.isSummed !== true) return [];
    const { column, isThere, scale } = this.#values[at] as ValueSql;
    const pieces = this.#dialect
      .sums(this.#amount(at), column)
      .map(({ sql }, piece): Field => [`s${at}_${piece}`, sql]);
    return scale === undefined ? pieces : [...pieces, [`d${at}`, `max(CASE WHEN ${isThere} THEN ${scale} END)`]];
  }

  /** A line of a group without the rank that it was found by. */
  #lineText({ kind, hasText }: WantedLine, line: string): string {
    if (signs[kind] !== undefined) return `substr(${line}, ${this.#dialect.rankLength + 1})`;
    return this.#format.bare === undefined || hasText ? line : this.#format.bare.textOf(line);
  }

  #amount(at: number): string {
    const value = this.#values[at] as ValueSql;
    return this.#isExpensive(value) ? `a${at}` : value.amount;
  }

  /** Whether its amount is made of a text and asked for more than once. */
  #isExpensive({ column, facts }: ValueSql): boolean {
    return facts.length > 0 && this.#dialect.sums('', column).length > 1;
  }

  get parseLine(): LineFormat['parse'] {
    return this.#format.parse;
  }

  sums(): CollapseSql['sums'] {
    return this.#plan.values.map(({ isSummed }, at) => {
      const { column, scale } = this.#values[at] as ValueSql;
      const exponents = this.#dialect.sums('', column).map(({ exponent }) => exponent);
      return isSummed ? { exponents, hasScale: scale !== undefined } : undefined;
    });
  }
}

function list(items: readonly string[]): string {
  return items.join(', ');
}

function any(conditions: readonly string[]): string {
  return conditions.map((condition) => `(${condition})`).join(' OR ');
}

function named([name, sql]: Field): string {
  return name === sql ? name : `${sql} AS ${name}`;
}

function nameOf(of: Field | SqlColumn): string {
  return 'name' in of ? of.name : of[0];
}

/** Every name that SQL speaks of, and other words. */
function namesIn(sql: readonly string[]): ReadonlySet<string> {
  return new Set(sql.join(' ').match(/\w+/g));
}
