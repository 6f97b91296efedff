/** Headers of wide tables: the texts that `unpivot` takes a month and the other new columns from. */
import type { Unpivot } from '../../core/settings.ts';
import type { LongRow } from './grid.ts';

/** The header whose cell holds a value column of a long row; `undefined` where none is known that the pattern takes so. */
export function headerFor(
  { columns, name, value }: Unpivot,
  row: LongRow,
  { column, unpivoted }: { readonly column: string; readonly unpivoted: readonly string[] },
): string | undefined {
  const isSeveral = value.length > 1;
  const words = [...new Set(columns.source.match(/[A-Za-z]{2,}/g))];
  const wanted = unpivoted.filter((one) => !value.includes(one) && row.has(one));
  const texts = wanted.map((one) => row.get(one) as string);
  const parts = [
    ...new Set([
      ...texts,
      ...texts.flatMap((text) =>
        joined(
          texts.filter((one) => one !== text),
          text,
        ),
      ),
    ]),
  ];
  const affixes = isSeveral ? [column] : ['', ...words];
  for (const part of parts) {
    for (const affix of affixes) {
      for (const header of affix === '' ? [part] : [...joined([affix], part), ...joined([part], affix)]) {
        const groups = columns.exec(header);
        if (groups === undefined || (isSeveral && groups.get('value') !== column)) continue;
        const given = (one: string): string | undefined => (one === name ? header : groups.get(one));
        if (wanted.every((one) => given(one) === row.get(one))) return header;
      }
    }
  }
  return undefined;
}

function joined(before: readonly string[], text: string): string[] {
  return before.flatMap((one) => ['', ' ', '_', '-', '.', '/', ': '].map((mark) => `${one}${mark}${text}`));
}
