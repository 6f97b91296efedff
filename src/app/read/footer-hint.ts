/** What to do about rejects that are the last rows of a part: totals below the data, which the config does not declare. */
import type { Content, Reject } from '../../core/model.ts';
import type { RowCounts } from '../../core/ports.ts';
import type { SourceSettings } from '../../core/settings.ts';
import { trimWhiteSpace } from '../../core/text.ts';

/** More rows than this are no totals. */
const footerMax = 5;

/** `undefined` where other rows are rejects too, or the kind of source has no `footer`. All rows of the part were read. */
export function footerHint(
  { kind }: Pick<SourceSettings, 'kind'>,
  { rows, rejects: count }: RowCounts,
  rejects: readonly Reject[],
  { endsWithLineEnd }: Pick<Content, 'endsWithLineEnd'>,
): string | undefined {
  const declared = typeof kind === 'object' && kind !== null && 'footer' in kind ? kind.footer : undefined;
  if (typeof declared !== 'number' || count > footerMax || count >= rows || rejects.length !== count) return undefined;
  if (rejects.some(({ row }) => row <= rows - count)) return undefined;
  // A row whose names and time can be read is data, and must not be cut off for its value.
  if (rejects.some(({ reason, text }) => !isBlank(text) && !/(^|[;:] )(path|id|time|\d+ fields?)\b/.test(reason)))
    return undefined;
  const totals = rejects.filter(({ text }) => !isBlank(text)).length;
  if (totals === 0) return undefined;
  const last = count === 1 ? 'it is the last row' : `they are the last ${count} rows`;
  const cut = endsWithLineEnd === false ? ', and no line end follows: was it cut? Where' : ': where';
  return `${last}${cut} a total stands below the data, say footer: ${declared + totals}`;
}

function isBlank(text: string): boolean {
  return trimWhiteSpace(text.replaceAll(/[",]/g, '')) === '';
}
