/** Columns of numbers and texts, read by marks that are declared for texts. */
import { eachReading } from '../../src/core/mapping/reading.ts';
import { RowMapper } from '../../src/core/mapping/row-mapper.ts';
import { type DecimalFormat, plainDecimal } from '../../src/core/numbers/decimal.ts';
import type { Source } from '../../src/core/ports.ts';
import type { Mapping } from '../../src/core/settings.ts';
import { entry, mapping, utc } from './row-world.ts';
import { calm } from './source-world.ts';

export const german: DecimalFormat = { ...plainDecimal, decimal: ',', group: { mark: '.', sizes: [3] } };

/** Reads each of these columns by such marks, into a driver of its name. */
export function germanColumns(...columns: readonly string[]): Mapping {
  return mapping(columns.map((name) => entry({ path: [name], time: '2026-01', value: `{${name}}`, format: german })));
}

/** What is read of a source: by driver its value, and `value <- text` where the text is another; then the rejects. */
export async function readOf(source: Source, by: Mapping): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  let mapper: RowMapper | undefined;
  let rows = 0;
  for (const part of await source.parts(calm)) {
    for await (const batch of source.rows(part, calm)) {
      mapper ??= new RowMapper(by, batch.columns, utc);
      const sink = eachReading((all, at) => {
        const [value, text] = [all.value(at), all.text(at)];
        found[all.name(at).id] = value === text ? value : `${value} <- ${text}`;
      });
      mapper.read(batch, rows, sink, { reject: (at, reason) => (found[`row ${rows + at + 1}`] = reason) });
      rows += batch.count;
    }
  }
  return found;
}
