/** The statement that groups rows, for ClickHouse. */
import {
  type ClickHouseColumn,
  type SumSql,
  all,
  any,
  days,
  isFirstMoment,
  haveBlank,
  isOneOf,
  isThere,
  keptOf,
  keyOf,
  sumOf,
  turned,
  valueOf,
} from './clickhouse-columns.ts';
import { constant, typeOf } from './clickhouse-types.ts';
import type { CollapsePlan, WantedLine } from './collapse-plan.ts';
import type { Years } from './dialect.ts';
import { isAlwaysSure, monthRule } from './month-rule.ts';

/** Rows to collapse. */
export interface Rows {
  readonly columns: readonly ClickHouseColumn[];
  /** What stands behind FROM. */
  readonly from: string;
  /** The condition of the query itself. */
  readonly where: string | undefined;
}

/** Before each name, so that no column is called like one. */
const prefix = 'driver_sync_';
const [month, item, place] = [`${prefix}m`, `${prefix}item`, `${prefix}place`];

type Field = readonly [name: string, sql: string];

export class GroupWriter {
  readonly #plan: CollapsePlan;
  readonly #rows: Rows;
  readonly #timezone: string;
  readonly #sums: readonly (SumSql | undefined)[];

  /** @throws AgentError `part.unreadable` where numbers cannot be added up exactly */
  constructor(plan: CollapsePlan, rows: Rows, timezone: string) {
    this.#plan = plan;
    this.#rows = rows;
    this.#timezone = timezone;
    this.#sums = plan.values.map(({ column, isSummed }) => (isSummed ? sumOf(this.#column(column)) : undefined));
  }

  /**
   * Its columns: those of the query; 0 for a group, else the place of a row that is left to the agent (1 where places are not
   * counted); how many rows it stands for; how many have each value; time, place and value of each line; each sum.
   */
  statement(): string {
    const plan = this.#plan;
    const others = this.#others;
    const mayLeave = this.#isLeft() !== undefined;
    const columns = this.#rows.columns.map((_column, at) => {
      if (!others.includes(at)) return `${prefix}k${at}`;
      return mayLeave ? `tupleElement(${item}, ${others.indexOf(at) + 1})` : "''";
    });
    const ofLeft = plan.hasPlaces ? `tupleElement(${item}, ${others.length + 1})` : '1';
    const answer = [
      ...columns,
      mayLeave ? `if(${month} = 0, toUInt64(${ofLeft}), toUInt64(0))` : '0',
      `${prefix}n`,
      ...plan.values.map((_value, at) => `${prefix}r${at}`),
      ...plan.lines.flatMap((line, at) => this.#lineColumns(line, `${prefix}l${at}`)),
      ...this.#sums.flatMap((sum, at) => (sum === undefined ? [] : [`${prefix}s${at}`])),
    ].map((sql, at) => `${sql} AS ${prefix}a${at}`);
    const join = mayLeave ? ` LEFT ARRAY JOIN ${prefix}rest AS ${item}` : '';
    return `SELECT ${answer.join(', ')} FROM (\n${this.#groups()}\n)${join}`;
  }

  #groups(): string {
    const plan = this.#plan;
    const isLeft = this.#isLeft();
    const keys = plan.keys.map(({ column }): Field => [`${prefix}k${column}`, keyOf(this.#column(column))]);
    const groups = [...keys, ...this.#months(isLeft), ...this.#presence()];
    const fields: readonly Field[] = [
      ...groups,
      [`${prefix}n`, 'count()'],
      ...plan.values.map(({ column }, at): Field => {
        const there = isThere(this.#column(column));
        return [`${prefix}r${at}`, there === undefined ? 'count()' : `countIf(${there})`];
      }),
      ...plan.lines.flatMap((line, at) => this.#lineFields(line, `${prefix}l${at}`)),
      ...this.#sums.flatMap((sum, at): Field[] =>
        sum === undefined ? [] : [[`${prefix}s${at}`, this.#of('sum', at, sum.number)]],
      ),
      ...(isLeft === undefined ? [] : [this.#rest()]),
    ];
    const { from, where } = this.#source();
    const selected = fields.map(([name, sql]) => `${sql} AS ${name}`).join(', ');
    return `SELECT ${selected} FROM ${from}${where} GROUP BY ${groups.map(([name]) => name).join(', ')}`;
  }

  #source(): { readonly from: string; readonly where: string } {
    const { from, where } = this.#rows;
    const conditions = this.#plan.conditions.map(({ column, texts, isNegated }) => {
      const isIn = isOneOf(this.#column(column), texts);
      return isNegated ? `NOT (${isIn})` : isIn;
    });
    const every = [...(where === undefined ? [] : [`\n${where}\n`]), ...conditions];
    const clause = every.length === 0 ? '' : ` WHERE ${all(every)}`;
    if (!this.#plan.hasPlaces) return { from, where: clause };
    // One after the other, since a query that is ordered comes in one stream.
    return { from: `(SELECT *, rowNumberInAllBlocks() + 1 AS ${place} FROM ${from}${clause})`, where: '' };
  }

  #column(at: number): ClickHouseColumn {
    return this.#rows.columns[at] as ClickHouseColumn;
  }

  get #time(): ClickHouseColumn {
    return this.#column(this.#plan.time.column);
  }

  get #others(): readonly number[] {
    const keys = new Set(this.#plan.keys.map(({ column }) => column));
    return [...this.#rows.columns.keys()].filter((at) => !keys.has(at));
  }

  /** The columns beside the keys of the rows that are left to the agent. */
  #rest(): Field {
    const columns = this.#others.map((at) => keptOf(this.#column(at)));
    const whole = [...columns, ...(this.#plan.hasPlaces ? [place] : [])];
    return [`${prefix}rest`, `groupArrayIf(tuple(${whole.join(', ')}), ${month} = 0)`];
  }

  /** Whether a row is left to the agent: it may be a reject, or hold a number that is too long to be added up. */
  #isLeft(): string | undefined {
    const plan = this.#plan;
    const values = plan.values.map(({ column }) => this.#column(column));
    const theres = values.map(isThere);
    const isMissing = (there: string | undefined): string[] =>
      there === undefined || plan.isNullMissing ? [] : [`NOT ${there}`];
    const time = isThere(this.#time);
    const blank = haveBlank(plan.keys.flatMap(({ column, needsText }) => (needsText ? [this.#column(column)] : [])));
    const wrong = [
      ...theres.flatMap(isMissing),
      ...this.#sums.flatMap((sum, at) =>
        sum?.isShort === undefined
          ? []
          : [all([...(theres[at] === undefined ? [] : [theres[at]]), `NOT ${sum.isShort}`])],
      ),
      ...(time === undefined ? [] : [`NOT ${time}`]),
      ...(this.#time.isOld ? [isFirstMoment(this.#time)] : []),
      ...(blank === undefined ? [] : [blank]),
    ];
    if (wrong.length === 0) return undefined;
    const some = theres.filter((there) => there !== undefined);
    // Where NULL is no value that is missing, every row has a value.
    const hasAlways = some.length < theres.length || !plan.isNullMissing;
    return hasAlways ? any(wrong) : all([any(some), any(wrong)]);
  }

  /** The month, 0 for a row that is left to the agent; and what sets times apart whose month in the zone of the agent is not sure. */
  #months(isLeft: string | undefined): readonly Field[] {
    const { base, kind } = typeOf(this.#time.type);
    const time = valueOf(this.#time);
    const zone = kind === 'date' ? '' : ", 'UTC'";
    const rule = monthRule(kind === 'date' ? 'date' : 'instant', {
      source: this.#plan.time.zone,
      agent: this.#timezone,
    });
    const { years, leastSeconds, mostSeconds, skippedDays } = rule;
    const isSeconds = base.startsWith('DateTime') && !base.startsWith('DateTime64');
    const moved = (seconds: number): string => (isSeconds ? `${time} + ${seconds}` : `addSeconds(${time}, ${seconds})`);
    const monthAt = (seconds: number): string => `toYYYYMM(${seconds === 0 ? time : moved(seconds)}${zone})`;
    const least = monthAt(leastSeconds);
    const unlessLeft = (sql: string): Field => [month, isLeft === undefined ? sql : `if(${isLeft}, 0, ${sql})`];
    if (isAlwaysSure(rule)) return [unlessLeft(least)];
    const isSure = all([
      ...(kind === 'date' ? [] : [isSeconds ? secondsWithin(time, years, leastSeconds) : withinYears(time, years)]),
      ...(leastSeconds === mostSeconds ? [] : [`${least} = ${monthAt(mostSeconds)}`]),
      ...(skippedDays.length === 0 ? [] : [`toDate(${time}${zone}) NOT IN (${days(skippedDays)})`]),
    ]);
    if (isSeconds) return [unlessLeft(`if(${isSure}, ${least}, ${ownMonth(time)})`)];
    return [
      unlessLeft(`if(${isSure}, ${least}, 1)`),
      [`${prefix}t`, `if(${isSure}, CAST(0, ${constant(base)}), ${time})`],
    ];
  }

  /** Which values a row has, where a key may make no name: the agent rejects the rows that have a value then, and only those. */
  #presence(): readonly Field[] {
    const plan = this.#plan;
    const theres = plan.values.map(({ column }) => isThere(this.#column(column)));
    const bits = theres.flatMap((there, at) => (there === undefined ? [] : [`${2 ** at} * (${there})`]));
    if (plan.keys.every(({ mayFail }) => mayFail === 'never') || bits.length === 0 || !plan.isNullMissing) return [];
    const presence = ['1', ...bits].join(' + ');
    const words = plan.keys.flatMap(({ column, mayFail }) => {
      if (mayFail === 'never') return [];
      const key = keyOf(this.#column(column));
      return [
        any(
          ['0:', 'A[', 'a{'].map(
            ([first, beyond]) => `toString(${key}) >= '${first}' AND toString(${key}) < '${beyond}'`,
          ),
        ),
      ];
    });
    const isAlways = plan.keys.some(({ mayFail }) => mayFail === 'always');
    return [[`${prefix}p`, isAlways ? presence : `if(${all(words)}, 0, ${presence})`]];
  }

  /** An aggregate over the rows that have a value. @param value an index into the plan's values */
  #of(aggregate: string, value: number, args: string): string {
    const there = isThere(this.#column((this.#plan.values[value] as { column: number }).column));
    return there === undefined ? `${aggregate}(${args})` : `${aggregate}If(${args}, ${there})`;
  }

  #lineFields({ value, kind, hasText }: WantedLine, name: string): readonly Field[] {
    const column = this.#column((this.#plan.values[value] as { column: number }).column);
    const time = valueOf(this.#time);
    const amount = valueOf(column);
    const ofPlace = this.#plan.hasPlaces ? [place] : [];
    const isEarliest = kind === 'earliest';
    if (kind === 'latest' || isEarliest) {
      const best = isEarliest ? 'min' : 'max';
      if (this.#plan.hasPlaces) return [[name, this.#of(best, value, tuple([time, place, amount]))]];
      // Of two numbers and no tuple: five times as fast.
      const ofTime: Field = [`${name}t`, this.#of(best, value, time)];
      if (!hasText) return [ofTime];
      return [ofTime, [`${name}v`, this.#of(isEarliest ? 'argMin' : 'argMax', value, `${amount}, ${time}`)]];
    }
    const rank = kind === 'largest' ? amount : turned(column);
    return [[name, this.#of('max', value, tuple([rank, time, ...ofPlace, amount]))]];
  }

  /** Time, place and value of a line. */
  #lineColumns({ kind, hasText }: WantedLine, name: string): readonly string[] {
    const { hasPlaces } = this.#plan;
    const isRanked = kind === 'smallest' || kind === 'largest';
    if (!isRanked && !hasPlaces) return [`${name}t`, '0', hasText ? `${name}v` : "''"];
    const at = (index: number): string => `tupleElement(${name}, ${index})`;
    const timeAt = isRanked ? 2 : 1;
    return [at(timeAt), hasPlaces ? at(timeAt + 1) : '0', hasText ? at(timeAt + (hasPlaces ? 2 : 1)) : "''"];
  }
}

/** For times that begin with 1970: before that, none is left that a zone behind UTC could move to. */
function secondsWithin(time: string, { last }: Years, leastSeconds: number): string {
  const isBefore = `${time} < toDateTime('${last + 1}-01-01 00:00:00', 'UTC')`;
  return leastSeconds < 0 ? `${isBefore} AND ${time} >= toDateTime('1970-01-02 00:00:00', 'UTC')` : isBefore;
}

function withinYears(time: string, { first, last }: Years): string {
  return `toYear(${time}, 'UTC') >= ${first} AND toYear(${time}, 'UTC') <= ${last}`;
}

/**
 * A number like no month's for a time whose month is not sure: one for each half minute, since in every zone
 * all months since 1970 begin with one. A key of its own for the time took 3 ns of the 45 that a row takes.
 */
function ownMonth(time: string): string {
  return `toUInt32(1000000 + intDiv(toUInt32(${time}), 30))`;
}

function tuple(parts: readonly string[]): string {
  return `tuple(${parts.join(', ')})`;
}
