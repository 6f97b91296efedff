/**
 * The statement that collapses a query, in five steps: texts, what they are, which rows are odd and of which month the
 * others are, groups, and the rows that stand for them.
 *
 * All rows of a group have readings of the same entries, so the latest stands for all of them where only `last`, `sum`,
 * `average` and `count` are asked for. The first row, or that of a smallest or largest value, leaves beside it as a row of
 * its own, and everything leaves in the order of the query: folded as any rows are, ties end as they do without pushdown,
 * also between keys that make one driver. An odd row is a group of its own.
 */
import type { CollapsePlan, CollapseRequest } from './collapse-query.ts';
import type { Dialect, SqlColumn } from './dialect.ts';
import { monthRanges, oddMark } from './month-ranges.ts';

/** Between the parts of a line; the first sorts before whatever a time may go on with. */
export const lineMark = '!';
export const valueMark = '|';
/** Digits of a row's place in the order of the query: `placeBase` and its number. */
export const placeLength = 19;
const placeBase = '1000000000000000000';

export interface CollapseSql {
  /**
   * Its columns, texts all of them: those of the query; 1 for an odd row, else 0; how many rows it stands for; the latest line, the first one
   * and that of each extreme; for each summed value the pieces of its sum and the longest scale; the place.
   * A line is `time!place` and the values of one row, `|` between them, '' where a value is missing.
   */
  readonly sql: string;
  /** Of the pieces of a sum. */
  readonly exponents: readonly number[];
}

export function collapseSql(dialect: Dialect, plan: CollapsePlan, request: CollapseRequest): CollapseSql {
  const columns = request.columns.map(({ type }, at) => ({ name: `c${at}`, type, kind: dialect.kindOf(type) }));
  const writer = new Writer(dialect, plan, columns);
  const query = dialect.ordered(request.query.replace(/;\s*$/, ''));
  const sql = [
    `WITH q (${list(columns.map(({ name }) => name))}) AS (\n${query}\n)`,
    `texts AS (${writer.texts()} ${dialect.once})`,
    `facts AS (${writer.facts(request.timezone)} ${dialect.once})`,
    `kinds AS (${writer.kinds(request.timezone)})`,
    `written AS (${writer.lines()} ${dialect.once})`,
    `collapsed AS (${writer.groups()})`,
  ].join(',\n');
  return { sql: `${sql}\n${writer.answer()}`, exponents: dialect.sums('').map(({ exponent }) => exponent) };
}

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
    const { missing, values } = this.#plan;
    const { bytes, literal, isNumber } = this.#dialect;
    const fields = [
      ...this.#columns.map(({ name }) => name),
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
    const cases = [
      `WHEN ${is('day', 't')} THEN ${isOneZone ? concat('t', `'${midnight}'`) : 't'}`,
      `WHEN ${is('month', 't')} THEN ${concat('t', `'-01${midnight}'`)}`,
      ...(isOneZone ? [`WHEN ${is('second', 't')} THEN replace(t, 'T', ' ')`] : []),
      `WHEN ${is('moment', 't')} THEN ${concat(`'${oddMark}'`, 't')}`,
    ];
    return `CASE ${cases.join(' ')} ELSE '' END`;
  }

  /** Odd rows, the months of the others, amounts, and places in the order of the query. */
  kinds(timezone: string): string {
    const { keys, time, values, extremes } = this.#plan;
    const { amount, isKey } = this.#dialect;
    const any = this.#all.map((at) => `h${at} = 1`).join(' OR ');
    const wrong = [
      ...this.#all.map((at) => `h${at} = 1 AND n${at} = 0`),
      "s = ''",
      ...keys.flatMap(({ column, needsText }) => (needsText ? [`k${column} = ''`] : [])),
    ];
    const unsure = [
      'faithful = 0',
      ...(isKey === undefined || this.#keys.length === 0 ? [] : [`NOT (${isKey(this.#keys)})`]),
    ];
    const wanted = (at: number): boolean => values[at]?.isSummed === true || extremes.some(({ value }) => value === at);
    const { kind } = this.#column(time.column);
    const zones = { source: time.zone, agent: timezone };
    const ranges =
      kind === 'text'
        ? monthRanges(time.zone === timezone ? 'wall' : 'date', zones)
        : monthRanges(kind === 'integer' || kind === 'decimal' ? 'wall' : kind, zones).filter(
            ({ from }) => from !== oddMark,
          );
    const counted = this.#dialect.counted('facts');
    const month = this.#dialect.month(ranges, this.#column(time.column), 's');
    // Some engines write all of this down, so that it is no more than what is needed.
    const leaving = this.#columns.map((_column, at) => this.#leaving(at));
    const fields = [
      ...this.#columns.flatMap(({ name }, at) => (leaving[at]?.includes(name) === true ? [name] : [])),
      ...(leaving.includes('t') ? ['t'] : []),
      ...this.#keys,
      ...this.#all.flatMap((at) => [`v${at}`, `h${at}`]),
      's',
      `${flag(`${unsure.join(' OR ')} OR ((${any}) AND (${wrong.join(' OR ')}))`)} AS odd`,
      `CASE WHEN ${any} THEN ${month} ELSE ${this.#dialect.bytes("''")} END AS m`,
      ...values.flatMap(({ column }, at) =>
        wanted(at)
          ? [`CASE WHEN h${at} = 1 AND n${at} = 1 THEN ${amount(this.#column(column), `v${at}`)} END AS a${at}`]
          : [],
      ),
      `${counted.field} AS place`,
    ];
    return `SELECT ${list(fields)} FROM ${counted.from}`;
  }

  /** The line of each row that is not odd, and the group of each row as one text: engines guess few groups then, and hash. */
  lines(): string {
    const { concat, numberText, bytes } = this.#dialect;
    const valueOf = (at: number): string => `CASE h${at} WHEN 1 THEN v${at} ELSE '' END`;
    const values = this.#all.flatMap((at) => (at === 0 ? [valueOf(at)] : [`'${valueMark}'`, valueOf(at)]));
    const place = numberText(`${placeBase} + place`);
    const line = concat('s', `'${lineMark}'`, place, ...values);
    // With one value its month says whether it is there.
    const has = this.#all.length === 1 ? [] : this.#all.map((at) => `CASE h${at} WHEN 1 THEN '+' ELSE '-' END`);
    const keys = this.#keys.flatMap((key, at) =>
      at === 0 ? [key] : [`'${lineMark}'`, key, `'${lineMark}'`, numberText(`length(${key})`)],
    );
    const group = concat(...has, 'm', `'${lineMark}'`, ...keys);
    const fields = [
      'kinds.*',
      `CASE odd WHEN 0 THEN ${bytes(line)} END AS line`,
      `CASE odd WHEN 0 THEN ${bytes(group)} ELSE ${bytes(place)} END AS grp`,
    ];
    return `SELECT ${list(fields)} FROM kinds`;
  }

  groups(): string {
    const { extremes, values, wantsFirst } = this.#plan;
    const { bytes, concat, rank, sums, indexOf } = this.#dialect;
    const plain = (sql: string): string => `CASE odd WHEN 0 THEN ${sql} END`;
    const fields = [
      ...this.#keys.map((key) => `max(${key}) AS ${key}`),
      ...this.#columns.flatMap((_column, at) => {
        const leaving = this.#leaving(at);
        return leaving === undefined ? [] : [`max(CASE odd WHEN 1 THEN ${leaving} END) AS o${at}`];
      }),
      'max(odd) AS odd',
      'count(*) AS n',
      'max(place) AS place',
      'max(line) AS latest',
      ...(wantsFirst ? ['min(line) AS earliest'] : []),
      ...extremes.map(({ value, sign }, at) => {
        const line = `CASE WHEN odd = 0 AND a${value} IS NOT NULL THEN ${bytes(concat(rank(`a${value}`, sign), 'line'))} END`;
        return `max(${line}) AS e${at}`;
      }),
      ...values.flatMap(({ isSummed }, at) =>
        isSummed
          ? [
              ...sums(plain(`a${at}`)).map(({ sql }, piece) => `${sql} AS s${at}_${piece}`),
              `max(${plain(`length(v${at}) - ${indexOf(concat(`v${at}`, "'.'"), '.')}`)}) AS d${at}`,
            ]
          : [],
      ),
    ];
    return `SELECT ${list(fields)} FROM written GROUP BY grp`;
  }

  /** The groups, and beside each those of its rows that have to leave alone: `piece` counts them. */
  answer(): string {
    const { extremes, wantsFirst } = this.#plan;
    const { numberText, rankLength } = this.#dialect;
    const alone = [
      ...(wantsFirst ? ['earliest'] : []),
      ...extremes.map((_extreme, at) => `substr(e${at}, ${rankLength + 1})`),
    ];
    const lines = ['latest', ...alone];
    const ofGroup = (sql: string): string => (alone.length === 0 ? sql : `CASE piece WHEN 0 THEN ${sql} END`);
    const cases = lines.map((other, piece) => `WHEN ${piece} THEN ${other}`);
    const line = alone.length === 0 ? 'latest' : `CASE piece ${cases.join(' ')} END`;
    const count = alone.length === 0 ? 'n' : 'CASE piece WHEN 0 THEN n ELSE 1 END';
    const place = `CASE odd WHEN 1 THEN ${numberText(`${placeBase} + place`)} ELSE ${this.#placeOf(line)} END`;
    const fields = [
      ...this.#fields(),
      numberText('odd'),
      numberText(count),
      line,
      ...alone.map(ofGroup),
      ...this.#sumNames().map((sum) => ofGroup(numberText(sum))),
      `${place} AS sorted`,
    ];
    // A UNION would have some engines collapse everything once for each of its parts.
    const pieces = lines.map((_line, piece) => `SELECT ${piece} AS piece`).join(' UNION ALL ');
    const isOther = alone.map((other, at) => {
      const others = lines.slice(0, at + 1).map((before) => `${other} <> coalesce(${before}, '')`);
      return `(piece = ${at + 1} AND odd = 0 AND ${others.join(' AND ')})`;
    });
    const from =
      alone.length === 0 ? '' : ` CROSS JOIN (${pieces}) AS pieces WHERE piece = 0 OR ${isOther.join(' OR ')}`;
    return `SELECT ${list(fields)} FROM collapsed${from} ORDER BY sorted`;
  }

  #placeOf(line: string): string {
    return `substr(${line}, ${this.#dialect.indexOf(line, lineMark)} + 1, ${placeLength})`;
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
