/** Why a table has no times or no numbers: which column came nearest, and what in it does not fit. */
import { examples, isRecordList, words } from './evidence.ts';
import { guessNumbers } from './numbers.ts';
import { type Column, type Table, shownName } from './profile.ts';
import { guessTimes, monthNamesLocale } from './times.ts';

/** Columns with fewer texts that fit come nowhere near. */
const shareMin = 0.3;
/** How many texts of a column are looked at. */
const lookedAt = 60;

export function whyNoTime(table: Table): string {
  const { columns } = table;
  const headers = columns.map(({ name }) => name).filter((name) => monthNamesLocale([name]) !== undefined);
  if (headers.length > 1) {
    return `the headers ${examples(headers)} name months without a year, and neither a column nor the file's name says one: give it one, such as budget-2026.csv`;
  }
  const why = "no column names a date, a month or a year, and neither do the headers or the file's name";
  const within = listsWithin(table);
  if (within !== undefined) return why + within;
  const month = columns.find(({ texts }) => texts.size > 0 && monthNamesLocale([...texts.keys()]) !== undefined);
  if (month !== undefined) {
    return `${why}: ${shownName(month)} has months without a year, such as ${examples(month.texts.keys())}; a year in the file's name would do`;
  }
  return why + nearest(table, (text, name) => guessTimes(new Map([[text, 1]]), name) !== undefined, 'a time');
}

export function whyNoNumbers(table: Table): string {
  const within = listsWithin(table);
  if (within !== undefined) return `no column holds numbers that could be values${within}`;
  const isNumber = (text: string): boolean => guessNumbers(new Map([[text, 1]]), table.habit) !== undefined;
  return `no column holds numbers that could be values${nearest(table, isNumber, 'a number')}`;
}

/** Records may hold what is looked for in lists of their own. */
function listsWithin({ columns }: Table): string | undefined {
  const lists = columns.find(({ texts }) => [...texts.keys()].some(isRecordList));
  return (
    lists &&
    `: ${shownName(lists)} holds lists of records, which are not read; docs/SOURCES.md#programs has a script that makes rows of them`
  );
}

function nearest({ columns }: Table, fits: (text: string, name: string) => boolean, what: string): string {
  const judged = columns.flatMap((column) => {
    // What is taken for another kind of column already fits wholly.
    const texts = [...column.texts.keys()].slice(0, lookedAt);
    const strangers = texts.filter((text) => !fits(text, column.name));
    const share = texts.length === 0 ? 0 : 1 - strangers.length / texts.length;
    return share >= shareMin && strangers.length > 0 ? [{ column, texts, strangers, share }] : [];
  });
  const [best] = judged.toSorted((a, b) => b.share - a.share);
  if (best !== undefined) {
    const { column, texts, strangers } = best;
    const fitting = texts.find((text) => !strangers.includes(text));
    return `: ${shownName(column)} comes nearest, where ${JSON.stringify(fitting)} is ${what} and ${examples(strangers)} ${strangers.length === 1 ? 'is' : 'are'} not${repeated(column, strangers)}`;
  }
  const named = columns.find(({ name, texts }) => what === 'a time' && words.time.test(name) && texts.size > 0);
  return named === undefined
    ? ''
    : `: ${shownName(named)} is called as if it did, and no format reads its texts, such as ${examples(named.texts.keys())}`;
}

/** Lists that were made to be printed have their header on each page. */
function repeated({ name, ref }: Column, strangers: readonly string[]): string {
  if (name === '' || !strangers.includes(name)) return '';
  return `; the header stands in the table again: where: { ${JSON.stringify(ref)}: { not: [ ${JSON.stringify(name)} ] } } leaves those rows out, and for columns that are aligned by spaces there is type: fixed`;
}
