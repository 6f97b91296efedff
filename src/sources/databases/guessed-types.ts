/** Where a query lets DuckDB guess what the texts of a file mean, for a word of `check`: a guess is another one when the rows change. */
import { type Token, bracketed, tokensOf } from './query-words.ts';

/** The types of a text file, by the function that reads one, and by the ending of a name that stands for the function. */
const formats = [
  {
    name: 'CSV',
    reader: /^read_csv(?:_auto)?$/i,
    file: /\.(?:csv|tsv)(?:\.gz|\.zst)?'$/i,
    risk: 'a date such as 01/02/2026 may be taken for the other day and month, and a number of over 15 digits loses some',
    way: "read_csv('…', all_varchar = true), or use type: csv",
  },
  {
    name: 'JSON',
    reader: /^read_(?:nd)?json(?:_auto)?$/i,
    file: /\.(?:json|jsonl|ndjson)(?:\.gz|\.zst)?'$/i,
    risk: 'a number of over 15 digits loses some, and a text that looks like a date becomes one',
    way: "read_json('…', columns = {…}) with the types that are meant, or use type: json or jsonl, which keep every digit",
  },
] as const;

/** Arguments that say what columns are. */
const telling = /^(?:columns|types|dtypes|column_types)$/i;

/** @returns a sentence for each format of which types are guessed */
export function guessedTypeNotes(query: string): readonly string[] {
  const said = tokensOf(query, 'standard');
  return formats.flatMap(({ name, reader, file, risk, way }) => {
    const isGuessed = said.some((token, at) =>
      reader.test(token.text) ? isUntold(said, at) : file.test(token.text) && isTable(said, at),
    );
    return isGuessed ? [`the query lets DuckDB guess the types of ${name} files: ${risk}; write ${way}`] : [];
  });
}

/** Whether no argument of a call says what the columns are. @param at where its name stands */
function isUntold(said: readonly Token[], at: number): boolean {
  const open = said[at + 1];
  if (open?.text !== '(') return false;
  const args = bracketed(said, at + 1).filter(({ depth }) => depth === open.depth + 1);
  return !args.some(({ text }, index) => {
    const value = args.slice(index + 1).find((token) => !/^[:=>]$/.test(token.text));
    return /^all_varchar$/i.test(text) ? !/^(?:false|0)$/i.test(value?.text ?? '') : telling.test(text);
  });
}

/** Whether a text stands in the place of a table: FROM 'x.csv'. */
function isTable(said: readonly Token[], at: number): boolean {
  const before = said[at - 1]?.text.toLowerCase();
  if (before === 'from' || before === 'join') return true;
  // FROM 'x.csv', 'y.csv'
  return before === ',' && isTable(said, at - 2) && said[at - 2]?.text.startsWith("'") === true;
}
