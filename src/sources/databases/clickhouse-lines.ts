/**
 * The rows of an answer of ClickHouse in its format TabSeparated. A server that fails on the way writes its failure behind
 * the rows, and the answer ends as if it were whole: so each row of the agent's statements begins with a mark. And an answer that was
 * cut behind a row looks whole where a proxy ends it by itself: so the extremes of all rows are asked for, which come behind them.
 */
import { AgentError } from '../../core/errors.ts';
import type { Row } from '../../core/model.ts';
import { batchLengthMax } from '../limits.ts';
import { batchRows, longRowError, rowBytesAllowed } from './long-rows.ts';

/** The first column of every statement that gives rows. */
export const markColumn = "'+'";
const mark = '+\t';

/** Makes a server write an empty line behind the rows, and the least and the greatest of each column; nothing where there are no rows. */
export const endSetting = { extremes: '1' } as const;
const endLines = 2;

/** Characters of a failure that are kept. */
const failureMax = 65_536;

export class AnswerLines {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #place: string;
  readonly #columns: number;
  /** How many lines came behind the rows; `undefined`: the rows have not ended. */
  #behind: number | undefined;
  readonly #hasEnd: boolean;
  /** The line that has not ended. */
  #rest = '';
  #rows: Row[] = [];
  #chars = 0;
  #taken = 0;
  /** What stands where a row was to begin. */
  #failure: string | undefined;

  /**
   * @param place of the database, for messages
   * @param hasEnd `endSetting` was asked for
   */
  constructor(place: string, { columns, hasEnd }: { readonly columns: number; readonly hasEnd: boolean }) {
    this.#place = place;
    this.#columns = columns;
    this.#hasEnd = hasEnd;
  }

  /** The words of the server that follow its rows, whole once all was pushed. */
  get failure(): string | undefined {
    return this.#failure;
  }

  get hasBatch(): boolean {
    return this.#rows.length >= batchRows || this.#chars >= batchLengthMax;
  }

  /** Whether nothing is left of a row that began, and the end was there, where rows have one. */
  get isWhole(): boolean {
    const mayEnd = !this.#hasEnd || this.#taken + this.#rows.length === 0 || this.hasEnded;
    return this.#rest === '' && this.#failure === undefined && mayEnd;
  }

  /** Whether the end was there: nothing was cut, whatever ends the answer. */
  get hasEnded(): boolean {
    return this.#behind === endLines;
  }

  /** All rows that were not taken yet, for one batch. */
  take(): readonly Row[] {
    const rows = this.#rows;
    this.#taken += rows.length;
    this.#rows = [];
    this.#chars = 0;
    return rows;
  }

  /** @throws AgentError `part.unreadable` where a row is too long to be held */
  push(chunk: Uint8Array): void {
    const text = this.#decoder.decode(chunk, { stream: true });
    if (this.#failure !== undefined) {
      this.#failure = `${this.#failure}${text}`.slice(0, failureMax);
      return;
    }
    // Joined once its end has come: a long line comes in many pieces.
    if (text.includes('\n')) this.#split(`${this.#rest}${text}`);
    else this.#rest += text;
    if (this.#rest.length > rowBytesAllowed(this.#columns)) throw this.#tooLong();
  }

  /** To be called when the answer has ended. */
  end(): void {
    if (this.#rest === '' || this.#rest.startsWith(mark)) return;
    this.#failure = this.#rest;
    this.#rest = '';
  }

  #split(text: string): void {
    const lines = text.split('\n');
    this.#rest = lines.pop() as string;
    for (const [at, line] of lines.entries()) {
      if (line === '' && this.#hasEnd && this.#behind === undefined) {
        this.#behind = 0;
        continue;
      }
      const fields = line.startsWith(mark) ? fieldsOf(line) : undefined;
      if (fields?.length !== this.#columns || this.#behind === endLines) {
        // What came behind one empty line and before another one were totals, as one line.
        const before = line === '' && this.#behind === 1 ? ['', mark] : [];
        this.#failure = [...before, ...lines.slice(at), this.#rest].join('\n').slice(0, failureMax);
        this.#rest = '';
        return;
      }
      if (this.#behind !== undefined) {
        this.#behind++;
        continue;
      }
      this.#rows.push(fields);
      this.#chars += line.length;
    }
  }

  #tooLong(): AgentError {
    return longRowError(`${this.#place}: row ${this.#taken + this.#rows.length + 1}`, this.#columns);
  }
}

function fieldsOf(line: string): readonly string[] {
  const fields = line.slice(mark.length).split('\t');
  if (!line.includes('\\')) return fields;
  return fields.map((field) => (field.includes('\\') ? textOf(field) : field));
}

/** The text of a field as TabSeparated writes it; '' for NULL. */
export function textOf(field: string): string {
  return field === String.raw`\N` ? '' : field.replaceAll(/\\([^])/g, (_all, sign: string) => signs[sign] ?? sign);
}

const signs: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  0: '\0',
  a: '\u0007',
  v: '\v',
};
