/**
 * The statement that collapses a query, in three steps over it: rows with their keys and places, groups, and their texts.
 *
 * A group is one key and month, or one row that is left to the agent. Its answer says how many rows have each value, and gives
 * each row that an entry wants (the latest, the first, the smallest or the largest amount) as a line. That row is the greatest
 * or least of such texts: nothing is joined and nothing runs twice. Where rows are numbered, a line holds the number, so that
 * ties between keys that make one driver end as they do without pushdown.
 */
import { type Line, type LineFormat, lineFormat } from './collapse-line.ts';
import type { CollapsePlan, CollapseRequest, LineKind, WantedLine } from './collapse-plan.ts';
import { type Dialect, type SqlColumn, always, decimalDigits, everyYear, wholeDigits } from './dialect.ts';
import { type MonthRule, isAlwaysSure, monthRule } from './month-rule.ts';
import { withoutEnd } from './query-words.ts';

export interface CollapseSql {
  /**
   * Its columns, all of them texts: those of the query; '' for a group, and the place of a row that is left to the agent (1
   * where places are not counted); how many rows it stands for; how many rows have each value; the lines of the plan; the sum of
   * each summed value.
   */
  readonly sql: string;
  readonly parseLine: (line: string) => Line;
}

export function collapseSql(dialect: Dialect, plan: CollapsePlan, request: CollapseRequest): CollapseSql {
  const writer = new Writer(dialect, plan, request);
  return { sql: writer.statement(request.query), parseLine: writer.format.parse };
}

/** A name, and the SQL that it stands for. */
type Field = readonly [name: string, sql: string];

interface Value {
  readonly text: string;
  /** No number is longer than this many characters. */
  readonly textMax: number;
  readonly isThere: string;
  readonly isNumber: string;
  /** The number to rank and to sum; NULL where there is none. */
  readonly number: string;
}

/** Before the names of steps, so that no table is called like one. */
const prefix = 'driver_sync_';

/** Codes of what is written in ASCII. */
const ofWords = 'BETWEEN 33 AND 126';

/** A sign, a point and the zero before it. */
const signsMax = 3;

/** The sign by which amounts are ranked, so that the greatest text is the one to find. */
const signs: Readonly<Record<LineKind, '+' | '-' | undefined>> = {
  latest: undefined,
  earliest: undefined,
  smallest: '-',
  largest: '+',
};

class Writer {
  readonly format: LineFormat;
  readonly #dialect: Dialect;
  readonly #plan: CollapsePlan;
  readonly #columns: readonly SqlColumn[];
  readonly #keys: readonly string[];
  readonly #values: readonly Value[];
  readonly #time: SqlColumn;
  readonly #rule: MonthRule;
  /** Whether a row has any value. */
  readonly #hasAny: string;
  /** Each column's own name in the answer, which messages of an engine show. */
  readonly #labels: readonly string[];

  constructor(dialect: Dialect, plan: CollapsePlan, { columns, timezone }: CollapseRequest) {
    this.#dialect = dialect;
    this.#plan = plan;
    this.#columns = columns.map(({ type }, at) => ({ name: `c${at}`, type, kind: dialect.types.kindOf(type) }));
    this.#keys = plan.keys.map(({ column }) => `k${column}`);
    this.#values = plan.values.map(({ column }) => this.#value(this.#column(column)));
    this.#time = this.#column(plan.time.column);
    this.#rule = monthRule(plan.time.kind, { source: plan.time.zone, agent: timezone });
    this.format = lineFormat(dialect, this.#time, plan.hasPlaces);
    this.#labels = columns.map(({ name }) => (/^[^"\\]+$/.test(name) ? ` AS "${name}"` : ''));
    this.#hasAny = any(this.#values.map(({ isThere }) => isThere));
  }

  #column(at: number): SqlColumn {
    return this.#columns[at] as SqlColumn;
  }

  #value(column: SqlColumn): Value {
    const isNumber = this.#dialect.numbers.isShort(column);
    return {
      text: this.#dialect.texts.of(column),
      textMax: (decimalDigits(column.type)?.all ?? 2 * wholeDigits) + signsMax,
      // Where NULL does not count as missing, it is a text that is not a number.
      isThere: this.#plan.isNullMissing ? `${column.name} IS NOT NULL` : always,
      isNumber: this.#plan.isNullMissing || isNumber !== always ? isNumber : `${column.name} IS NOT NULL`,
      number: isNumber === always ? column.name : `CASE WHEN ${isNumber} THEN ${column.name} END`,
    };
  }

  statement(query: string): string {
    const columns = list(this.#columns.map(({ name }) => name));
    const groups = this.#groups();
    const answer = this.#answer();
    return [
      `WITH ${prefix}q (${columns}) AS (\n${this.#dialect.queries.ordered(withoutEnd(query, this.#dialect.syntax))}\n)`,
      `${prefix}rows AS (${this.#rows(namesIn(groups))})`,
      `${prefix}groups AS (${groups})\n${answer}`,
    ].join(',\n');
  }

  /** The rows that pass, with only the columns that later steps use: some engines write them down. */
  #rows(wanted: ReadonlySet<string>): string {
    const { queries, texts } = this.#dialect;
    const { from, field } = queries.counted(`${prefix}q`);
    const keys = this.#plan.keys.map(({ column }): Field => [
      `k${column}`,
      texts.bytes(texts.of(this.#column(column))),
    ]);
    const fields = [
      ...this.#columns.map(({ name }) => name).filter((name) => wanted.has(name)),
      ...keys.map(named),
      ...(this.#plan.hasPlaces ? [`${field} AS place`] : []),
    ];
    const conditions = this.#conditions();
    const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
    // Every engine computes a subquery that numbers rows once.
    return this.#plan.hasPlaces
      ? `SELECT ${list(fields)} FROM ${from}${where}`
      : `SELECT ${list(fields)} FROM ${prefix}q${where} ${queries.once}`;
  }

  #conditions(): readonly string[] {
    const { of, bytes, literal } = this.#dialect.texts;
    return this.#plan.conditions.map(({ column, texts, isNegated }) => {
      if (texts.length === 0) return isNegated ? always : '1 = 0';
      return `${bytes(of(this.#column(column)))} ${isNegated ? 'NOT IN' : 'IN'} (${list(texts.map(literal))})`;
    });
  }

  /** Whether a row is left to the agent: it may be a reject, or a time or number that only the agent reads. */
  #isLeft(): string {
    const { groups, texts, times } = this.#dialect;
    const { keys } = this.#plan;
    const wrong = [
      ...this.#values.flatMap(({ isThere, isNumber }) =>
        isNumber === always ? [] : [`${isThere} AND (${isNumber}) IS NOT TRUE`],
      ),
      `(${times.isOfYears(this.#time, everyYear)}) IS NOT TRUE`,
      // Nearly all names begin with a letter or digit of ASCII, and need no closer look.
      ...keys.flatMap(({ column, needsText }) =>
        needsText
          ? [`(${texts.firstCode(this.#textOfKey(column))} ${ofWords}) IS NOT TRUE AND ${texts.isBlank(`k${column}`)}`]
          : [],
      ),
    ];
    const areKeys =
      groups.isKey?.(keys.map(({ column }) => ({ bytes: `k${column}`, column: this.#column(column) }))) ?? always;
    return any([...(areKeys === always ? [] : [`NOT (${areKeys})`]), all([this.#hasAny, any(wrong)])]);
  }

  /** The key if the step before computed it once; else the column, which is cheaper than computing the key again. */
  #textOfKey(at: number): SqlColumn {
    const column = this.#column(at);
    return this.#plan.hasPlaces ? { ...column, name: `k${at}`, kind: 'other', type: 'text' } : column;
  }

  /**
   * The month of a time, and the time itself where its month is not sure. In the first and last year, the agent's zone may make
   * a time a reject; rows without a value never are, and stay apart.
   */
  #months(): readonly Field[] {
    const { day, isOfYears, month } = this.#dialect.times;
    const { years, leastSeconds, mostSeconds, skippedDays } = this.#rule;
    const time = this.#time;
    const least = month(time, leastSeconds);
    const sure = [
      isOfYears(time, years),
      ...(leastSeconds === mostSeconds ? [] : [`${least} = ${month(time, mostSeconds)}`]),
      ...(skippedDays.length === 0 ? [] : [`${day(time)} NOT IN (${list(skippedDays.map((of) => `'${of}'`))})`]),
    ];
    const isSure = nested(sure);
    const ofMonth: Field = ['m', `CASE WHEN ${isSure} THEN ${least} END`];
    if (isAlwaysSure(this.#rule)) return [ofMonth];
    const isTime = isOfYears(time, { first: everyYear.first + 1, last: everyYear.last - 1 });
    const unsure = all([`(${isSure}) IS NOT TRUE`, any([isTime, this.#hasAny])]);
    return [ofMonth, ['t', `CASE WHEN ${unsure} THEN ${time.name} END`]];
  }

  /**
   * Which values a row has, where that keeps rows apart: if a key makes no name for an entry, the agent rejects the rows that
   * have a value for that entry, and only those.
   */
  #presence(): string | undefined {
    const { keys } = this.#plan;
    const { concat, literal } = this.#dialect.texts;
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

  #groups(): string {
    const { packing, some } = this.#dialect.groups;
    const presence = this.#presence();
    const groups: readonly Field[] = [
      ['rest', `CASE WHEN ${this.#isLeft()} THEN ${this.#left()} END`],
      ...this.#months(),
      ...(presence === undefined ? [] : [['present', presence] as const]),
      ...this.#keys.map((key): Field => [key, key]),
    ];
    const fields: readonly Field[] = [
      ...groups,
      ...(packing === undefined ? this.#others.map((at): Field => [`o${at}`, some(this.#column(at))]) : []),
      ['n', 'count(*)'],
      ...this.#values.map(({ isThere }, at): Field => [`r${at}`, `count(CASE WHEN ${isThere} THEN 1 END)`]),
      ...this.#plan.lines.map((line, at): Field => [`l${at}`, this.#bestLine(line)]),
      ...this.#summed.map((at): Field => [`s${at}`, `sum(${(this.#values[at] as Value).number})`]),
    ];
    return `SELECT ${list(fields.map(named))} FROM ${prefix}rows GROUP BY ${list(groups.map(([name]) => name))}`;
  }

  /** Columns beside the keys, for a row that is left to the agent. */
  get #others(): readonly number[] {
    return [...this.#columns.keys()].filter((at) => !this.#keys.includes(`k${at}`));
  }

  get #summed(): readonly number[] {
    return [...this.#plan.values.keys()].filter((at) => this.#plan.values[at]?.isSummed === true);
  }

  /** A value of its own for such a row, with its columns where that costs nothing for other rows. */
  #left(): string {
    const { groups, numbers, texts } = this.#dialect;
    const own = this.#plan.hasPlaces ? 'place' : groups.unique;
    if (groups.packing === undefined) return own;
    return groups.packing.pack([numbers.text(own), ...this.#others.map((at) => texts.leave(this.#column(at)))]);
  }

  #ofLeft(at: number): string {
    const { packing } = this.#dialect.groups;
    if (packing !== undefined) return packing.unpack('rest', this.#others.indexOf(at) + 1);
    return this.#dialect.texts.leave({ ...this.#column(at), name: `o${at}` });
  }

  #answer(): string {
    const numberText = this.#dialect.numbers.text;
    const { packing } = this.#dialect.groups;
    const { hasPlaces, lines } = this.#plan;
    const place = packing === undefined ? numberText('rest') : packing.unpack('rest', 0);
    const columns = [...this.#columns.keys()].map((at) =>
      this.#others.includes(at) ? `CASE WHEN rest IS NOT NULL THEN ${this.#ofLeft(at)} END` : `k${at}`,
    );
    const fields = [
      ...columns.map((sql, at) => `${sql}${this.#labels[at]}`),
      `CASE WHEN rest IS NOT NULL THEN ${hasPlaces ? place : "'1'"} END`,
      numberText('n'),
      ...this.#values.map((_value, at) => numberText(`r${at}`)),
      ...lines.map((line, at) => this.#lineText(line, `l${at}`)),
      ...this.#summed.map((at) => numberText(`s${at}`)),
    ];
    return `SELECT ${list(fields)} FROM ${prefix}groups`;
  }

  #bestLine({ value: at, kind, hasText }: WantedLine): string {
    const { rank, rankLength } = this.#dialect.numbers;
    const { isThere, text, textMax, number } = this.#values[at] as Value;
    const { pieces, bare } = this.format;
    const sign = signs[kind];
    const parts = [
      ...(sign === undefined ? [] : [{ sql: rank(number, sign), length: rankLength }]),
      ...pieces,
      ...(hasText ? [{ sql: text, length: textMax }] : []),
    ];
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const isBare = bare !== undefined && parts.length === pieces.length;
    const whole = isBare
      ? bare.sql
      : this.#dialect.texts.line(
          parts.map(({ sql }) => sql),
          length,
        );
    return `${kind === 'earliest' ? 'min' : 'max'}(CASE WHEN ${isThere} THEN ${whole} END)`;
  }

  /** A line of a group without the rank that it was found by. */
  #lineText({ kind, hasText }: WantedLine, line: string): string {
    if (signs[kind] !== undefined) return `substr(${line}, ${this.#dialect.numbers.rankLength + 1})`;
    return this.format.bare === undefined || hasText ? line : this.format.bare.textOf(line);
  }
}

function list(items: readonly string[]): string {
  return items.join(', ');
}

function any(conditions: readonly string[]): string {
  return conditions.map((condition) => `(${condition})`).join(' OR ');
}

function all(conditions: readonly string[]): string {
  return conditions.map((condition) => `(${condition})`).join(' AND ');
}

function named([name, sql]: Field): string {
  return name === sql ? name : `${sql} AS ${name}`;
}

/** All words of a piece of SQL, its names among them. */
function namesIn(sql: string): ReadonlySet<string> {
  return new Set(sql.match(/\w+/g));
}

/** All conditions, judged in order: a later one may raise an error where an earlier one does not hold. */
function nested([first = always, ...rest]: readonly string[]): string {
  return rest.length === 0 ? first : `CASE WHEN ${first} THEN ${nested(rest)} ELSE 1 = 0 END`;
}
