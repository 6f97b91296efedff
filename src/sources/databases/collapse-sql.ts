/**
 * The statement that collapses a query, in five steps: texts, what they are, which rows are odd and of which month the
 * others are, groups, and what leaves.
 *
 * A group is one key and month, or one odd row. Its row brings for each value how many rows have it, and each row that
 * an entry wants (the latest, the first, that of the smallest or largest amount) as a line, which is found as the greatest
 * or least of such texts: nothing is joined and nothing runs twice. Where places are counted, everything leaves in the
 * order of the query by the place of the row that stands for it, so that ties between keys that make one driver end as
 * they do without pushdown.
 */
import type { CollapsePlan, CollapseRequest, LineKind, WantedLine } from './collapse-query.ts';
import type { Dialect, SqlColumn } from './dialect.ts';
import { monthRanges, oddMark } from './month-ranges.ts';
import { withoutEnd } from './query-words.ts';

/** After the time of a line: it sorts before whatever a time may go on with. */
export const lineMark = '!';
/** Digits of a row's place in the order of the query: `placeBase` and its number. */
export const placeLength = 19;
const placeBase = '1000000000000000000';
/** Of `2026-01-31 23:00:00`. */
const secondLength = 19;

export interface CollapseSql {
  /**
   * Its columns, texts all of them: those of the query; 1 for an odd row, else 0; how many rows it stands for; where places are counted its last one; of each value
   * how many rows have it; the lines of the plan; for each summed value the pieces of its sum and the longest scale.
   * A line is `time!place` and the value's text, without the place where none are counted; a time alone where nothing follows.
   */
  readonly sql: string;
  /** Of the pieces of a sum. */
  readonly exponents: readonly number[];
}

export function collapseSql(dialect: Dialect, plan: CollapsePlan, request: CollapseRequest): CollapseSql {
  const columns = request.columns.map(({ type }, at) => ({ name: `c${at}`, type, kind: dialect.kindOf(type) }));
  const writer = new Writer(dialect, plan, columns);
  const query = dialect.ordered(withoutEnd(request.query));
  const sql = [
    `WITH q (${list(columns.map(({ name }) => name))}) AS (\n${query}\n)`,
    `texts AS (${writer.texts()} ${dialect.once('texts')})`,
    `facts AS (${writer.facts(request.timezone)} ${dialect.once('facts')})`,
    `kinds AS (${writer.kinds(request.timezone)} ${dialect.once('kinds')})`,
    `places AS (${writer.places()} ${dialect.once('places')})`,
    `collapsed AS (${writer.groups()})`,
  ].join(',\n');
  return { sql: `${sql}\n${writer.answer()}`, exponents: dialect.sums('').map(({ exponent }) => exponent) };
}

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
  /** Indexes into `values`. */
  readonly #all: readonly number[];

  constructor(dialect: Dialect, plan: CollapsePlan, columns: readonly SqlColumn[]) {
    this.#dialect = dialect;
    this.#plan = plan;
    this.#columns = columns;
    this.#keys = plan.keys.map(({ column }) => `k${column}`);
    this.#all = [...plan.values.keys()];
  }

  #column(at: number): SqlColumn {
    return this.#columns[at] as SqlColumn;
  }

  /** What an odd row leaves with, by column; `undefined` where that is the key's text. */
  #leaving(at: number): string | undefined {
    const { values, time } = this.#plan;
    const column = this.#column(at);
    if (this.#leavesRaw) return this.#dialect.leave(column);
    if (this.#isKey(at)) return undefined;
    const value = values.findIndex((of) => of.column === at);
    if (value !== -1) return `v${value}`;
    return time.column === at ? 't' : this.#dialect.leave(column);
  }

  texts(): string {
    const { conditions, keys, values, time } = this.#plan;
    const { text, bytes, literal, isFaithful } = this.#dialect;
    const textOf = (at: number): string => text(this.#column(at));
    const used = new Set([...conditions, ...keys, ...values, time].map(({ column }) => column));
    const faithful = [...used].flatMap((at) => isFaithful?.(this.#column(at), textOf(at)) ?? []);
    const where = conditions.map(({ column, texts, isNegated }) => {
      const test =
        texts.length === 0
          ? `1 = ${isNegated ? 1 : 0}`
          : `${bytes(textOf(column))} ${isNegated ? 'NOT IN' : 'IN'} (${list(texts.map(literal))})`;
      // A text that is not the agent's is not for the database to judge.
      return isFaithful === undefined
        ? `(${test})`
        : `(NOT ${flag(isFaithful(this.#column(column), textOf(column)))} OR ${test})`;
    });
    const fields = [
      ...this.#columns.map(({ name }) => name),
      ...keys.map(({ column }) => `${bytes(textOf(column))} AS k${column}`),
      ...values.map(({ column }, at) => `${textOf(column)} AS v${at}`),
      `${textOf(time.column)} AS t`,
      `${flag(faithful.length === 0 ? '1 = 1' : all(faithful))} AS faithful`,
    ];
    return `SELECT ${list(fields)} FROM q${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`}`;
  }

  /** Which values are there (`h`) and which are numbers (`n`), and the time as it is sorted, '' where it is none. */
  facts(timezone: string): string {
    const { missing, values, time } = this.#plan;
    const { bytes, literal, isNumber } = this.#dialect;
    // Some engines write all of this down, so that it is no more than what is needed.
    const needed = new Set([...values, time].map(({ column }) => column));
    const fields = [
      ...this.#columns.flatMap(({ name }, at) =>
        needed.has(at) || this.#leaving(at)?.includes(name) === true ? [name] : [],
      ),
      ...this.#keys,
      't',
      ...this.#all.map((at) => `v${at}`),
      'faithful',
      ...this.#all.map((at) => {
        const isThere = missing.length === 0 ? '1 = 1' : `${bytes(`v${at}`)} NOT IN (${list(missing.map(literal))})`;
        return `${flag(isThere)} AS h${at}`;
      }),
      ...values.map(({ column }, at) => `${flag(isNumber(this.#column(column), `v${at}`))} AS n${at}`),
      `${bytes(this.#sortedTime(timezone))} AS s`,
    ];
    return `SELECT ${list(fields)} FROM texts`;
  }

  #sortedTime(timezone: string): string {
    const { is, isMoment, concat } = this.#dialect;
    const { column, zone } = this.#plan.time;
    const from = this.#column(column);
    if (from.kind !== 'text') return `CASE WHEN ${isMoment(from, 't')} THEN t ELSE '' END`;
    // Where they are of one zone, a day is its midnight, so that it ties with a date-time that says so.
    const isOneZone = zone === timezone;
    const midnight = isOneZone ? ' 00:00:00' : '';
    // Nine digits of each fraction, so that they are ordered as texts.
    const digits = concat("replace(replace(t, 'T', ' '), 'Z', '')", "'000000000'");
    const fine = `substr(${digits}, 1, ${secondLength + 10})`;
    const cases = [
      `WHEN ${is('day', 't')} THEN ${isOneZone ? concat('t', `'${midnight}'`) : 't'}`,
      `WHEN ${is('month', 't')} THEN ${concat('t', `'-01${midnight}'`)}`,
      ...(isOneZone
        ? [
            `WHEN ${is('second', 't')} THEN replace(t, 'T', ' ')`,
            `WHEN ${is('minute', 't')} THEN ${concat("replace(t, 'T', ' ')", "':00'")}`,
            `WHEN ${is('fraction', 't')} THEN ${fine}`,
          ]
        : []),
      `WHEN ${is('zuluSecond', 't')} THEN replace(t, 'T', ' ')`,
      `WHEN ${is('zuluFraction', 't')} THEN ${concat(fine, "'Z'")}`,
      `WHEN ${is('moment', 't')} THEN ${concat(`'${oddMark}'`, 't')}`,
    ];
    return `CASE ${cases.join(' ')} ELSE '' END`;
  }

  /** Odd rows, the months of all, amounts, and places in the order of the query. */
  kinds(timezone: string): string {
    const { keys, values, lines, hasPlaces } = this.#plan;
    const { amount, bytes, isKey, is, literal } = this.#dialect;
    const wrong = [
      ...this.#all.map((at) => `h${at} = 1 AND n${at} = 0`),
      "s = ''",
      // Nearly all names begin with a letter or digit of ASCII, and need no closer look.
      ...keys.flatMap(({ column, needsText }) =>
        needsText
          ? [`(k${column} < ${literal('!')} OR k${column} > ${literal('~')}) AND ${is('blank', `k${column}`)}`]
          : [],
      ),
    ];
    const unsure = [
      'faithful = 0',
      ...(isKey === undefined || this.#keys.length === 0 ? [] : [`NOT (${isKey(this.#keys)})`]),
    ];
    const isRanked = (at: number): boolean =>
      lines.some(({ value, kind }) => value === at && signs[kind] !== undefined);
    const leaving = this.#columns.map((_column, at) => this.#leaving(at));
    const counted = this.#dialect.counted('facts');
    const fields = [
      ...this.#columns.flatMap(({ name }, at) => (leaving[at]?.includes(name) === true ? [name] : [])),
      ...(leaving.includes('t') ? ['t'] : []),
      ...this.#keys,
      ...this.#all.flatMap((at) => [`v${at}`, `h${at}`]),
      's',
      `${flag(`${unsure.join(' OR ')} OR ((${this.#hasAny}) AND (${wrong.map((of) => `(${of})`).join(' OR ')}))`)} AS odd`,
      // A time at the end of all years may be none in the agent's zone: rows without a value are no rejects then.
      `CASE WHEN s = '' OR NOT (${this.#hasAny} OR (s > '1001' AND s < '9999')) THEN ${bytes("''")} ELSE ${this.#month(timezone)} END AS m`,
      ...values.flatMap(({ column, isSummed }, at) =>
        isSummed || isRanked(at)
          ? [`CASE WHEN h${at} = 1 AND n${at} = 1 THEN ${amount(this.#column(column), `v${at}`)} END AS a${at}`]
          : [],
      ),
      ...(hasPlaces ? [`${counted.field} AS place`] : []),
    ];
    return `SELECT ${list(fields)} FROM ${hasPlaces ? counted.from : 'facts'}`;
  }

  /** The month of `s`. Texts with a zone or a fraction, which no text without one is ordered with, have months of their own. */
  #month(timezone: string): string {
    const { time } = this.#plan;
    const { concat, month } = this.#dialect;
    const column = this.#column(time.column);
    const { kind } = column;
    const zones = { source: time.zone, agent: timezone };
    if (kind !== 'text') {
      const ranges = monthRanges(kind === 'integer' || kind === 'decimal' ? 'wall' : kind, zones);
      return month(
        ranges.filter(({ from }) => from !== oddMark),
        column,
        's',
      );
    }
    const ranges = monthRanges(time.zone === timezone ? 'wall' : 'date', zones);
    const [after, end] = [secondLength + 1, secondLength + 11].map((at) => `substr(s, ${at}, 1)`) as [string, string];
    const second = `substr(s, 1, ${secondLength})`;
    const zulu = month(monthRanges('instant', zones), column, second);
    const fraction = month(ranges, column, second);
    return `CASE WHEN ${after} IN ('Z', '.') AND s < '${oddMark}' THEN ${concat(after, end, `CASE WHEN ${after} = 'Z' OR ${end} = 'Z' THEN ${zulu} ELSE ${fraction} END`)} ELSE ${month(ranges, column, 's')} END`;
  }

  /** Where in time and in the order of the query each row is, and its group as one text: engines guess few groups then, and hash. */
  places(): string {
    const { concat, numberText, bytes, unique } = this.#dialect;
    const { hasPlaces } = this.#plan;
    const place = numberText(`${placeBase} + place`);
    const keys = this.#keys.flatMap((key, at) =>
      at === 0 ? [key] : [`'${lineMark}'`, key, `'${lineMark}'`, numberText(`length(${key})`)],
    );
    const group = concat(...this.#presence(), 'm', `'${lineMark}'`, ...keys);
    const fields = [
      'kinds.*',
      `${hasPlaces ? bytes(concat('s', `'${lineMark}'`, place)) : 's'} AS stands`,
      `CASE odd WHEN 0 THEN ${bytes(group)} ELSE ${bytes(hasPlaces ? place : unique)} END AS grp`,
    ];
    return `SELECT ${list(fields)} FROM kinds`;
  }

  /**
   * Which values are there, where that keeps rows apart: the agent rejects all rows of a key that makes no name for an
   * entry, of those that have a value for it, and only those.
   */
  #presence(): readonly string[] {
    const { keys } = this.#plan;
    const { concat, literal } = this.#dialect;
    const presence = concat(...this.#all.map((at) => `CASE h${at} WHEN 1 THEN '+' ELSE '-' END`), "''");
    if (keys.some(({ mayFail }) => mayFail === 'always')) return [presence];
    const words = keys.flatMap(({ column, mayFail }) => {
      if (mayFail === 'never') return [];
      const begins = ['0:', 'A[', 'a{'].map(
        ([first = '', beyond = '']) => `k${column} >= ${literal(first)} AND k${column} < ${literal(beyond)}`,
      );
      return [begins.map((of) => `(${of})`).join(' OR ')];
    });
    return words.length === 0 ? [] : [`CASE WHEN ${all(words)} THEN '' ELSE ${presence} END`];
  }

  get #hasAny(): string {
    return this.#all.map((at) => `h${at} = 1`).join(' OR ');
  }

  groups(): string {
    const { values, lines, hasPlaces } = this.#plan;
    const { concat, sums, indexOf } = this.#dialect;
    const fields = [
      ...this.#keys.map((key) => `max(${key}) AS ${key}`),
      ...this.#columns.flatMap((_column, at) => {
        const leaving = this.#leaving(at);
        return leaving === undefined ? [] : [`max(CASE odd WHEN 1 THEN ${leaving} END) AS o${at}`];
      }),
      'max(odd) AS odd',
      'count(*) AS n',
      ...this.#all.map((at) => `sum(h${at}) AS h${at}`),
      ...lines.map((line, at) => `${this.#bestLine(line)} AS l${at}`),
      ...values.flatMap(({ isSummed }, at) =>
        isSummed
          ? [
              ...sums(`a${at}`).map(({ sql }, piece) => `${sql} AS s${at}_${piece}`),
              `max(CASE h${at} WHEN 1 THEN length(v${at}) - ${indexOf(concat(`v${at}`, "'.'"), '.')} END) AS d${at}`,
            ]
          : [],
      ),
      ...(hasPlaces
        ? ['max(place) AS place', ...this.#sortingLine()]
        : ['CASE max(odd) WHEN 0 THEN grp END AS sorted']),
    ];
    return `SELECT ${list(fields)} FROM places GROUP BY grp`;
  }

  #bestLine({ value, kind, hasText }: WantedLine): string {
    const { bytes, concat, rank } = this.#dialect;
    const mark = this.#plan.hasPlaces ? [] : [`'${lineMark}'`];
    const parts = hasText ? ['stands', ...mark, `v${value}`] : ['stands'];
    const sign = signs[kind];
    if (sign !== undefined) parts.unshift(rank(`a${value}`, sign));
    const line = parts.length === 1 ? 'stands' : bytes(concat(...parts));
    return `${kind === 'earliest' ? 'min' : 'max'}(CASE h${value} WHEN 1 THEN ${line} END)`;
  }

  answer(): string {
    const { lines, hasPlaces } = this.#plan;
    const { numberText } = this.#dialect;
    const fields = [
      ...this.#fields(),
      numberText('odd'),
      numberText('n'),
      ...(hasPlaces ? [numberText('place')] : []),
      ...this.#all.map((at) => numberText(`h${at}`)),
      ...lines.map((_line, at) => this.#lineOf(at)),
      ...this.#sumNames().map((sum) => numberText(sum)),
    ];
    // In one order wherever none is asked for, so that a query that gives the same rows has the same answer.
    const others = this.#columns.flatMap((_column, at) => (this.#leaving(at) === undefined ? [] : [`o${at}`]));
    const order = hasPlaces ? [this.#placeOfGroup()] : ['sorted', ...this.#keys, ...others];
    return `SELECT ${list(fields)} FROM collapsed ORDER BY ${list(order)}`;
  }

  /** A line of a group without the rank that it was found by. */
  #lineOf(at: number): string {
    const { rankLength } = this.#dialect;
    const { kind } = this.#plan.lines[at] as WantedLine;
    return signs[kind] === undefined ? `l${at}` : `substr(l${at}, ${rankLength + 1})`;
  }

  /** The line that says where a group stands among the others: the only one that is wanted, else the latest. */
  get #standing(): string | undefined {
    const { entries, values } = this.#plan;
    const [entry] = entries;
    if (entry === undefined) return undefined;
    if (entries.every(({ line }) => line === entry.line)) return this.#lineOf(entry.line);
    return values.length === 1 ? this.#lineOf(entry.latest) : undefined;
  }

  #sortingLine(): readonly string[] {
    return this.#standing === undefined ? [`max(CASE WHEN ${this.#hasAny} THEN stands END) AS sorted`] : [];
  }

  #placeOfGroup(): string {
    const { numberText, indexOf } = this.#dialect;
    const line = this.#standing ?? 'sorted';
    const place = `substr(${line}, ${indexOf(line, lineMark)} + 1, ${placeLength})`;
    return `CASE odd WHEN 1 THEN ${numberText(`${placeBase} + place`)} ELSE ${place} END`;
  }

  #fields(): readonly string[] {
    return this.#columns.map((_column, at) => {
      if (!this.#isKey(at)) return `o${at}`;
      return this.#leavesRaw ? `CASE odd WHEN 1 THEN o${at} ELSE k${at} END` : `k${at}`;
    });
  }

  #sumNames(): readonly string[] {
    const pieces = this.#dialect.sums('');
    return this.#plan.values.flatMap(({ isSummed }, at) =>
      isSummed ? [...pieces.map((_piece, piece) => `s${at}_${piece}`), `d${at}`] : [],
    );
  }

  #isKey(at: number): boolean {
    return this.#plan.keys.some(({ column }) => column === at);
  }

  /** Whether the key's text may differ from what an odd row has to leave with. */
  get #leavesRaw(): boolean {
    return this.#dialect.isFaithful !== undefined;
  }
}

function list(items: readonly string[]): string {
  return items.join(', ');
}

function all(conditions: readonly string[]): string {
  return conditions.map((condition) => `(${condition})`).join(' AND ');
}

/** 1 where the condition holds, 0 where it does not or is NULL. */
function flag(condition: string): string {
  return `CASE WHEN ${condition} THEN 1 ELSE 0 END`;
}
