/** The fields that make a template's text: `{year} {month}` and `2026 March` give `2026` and `March`. */
import type { Template } from '../../core/mapping/template.ts';

/** By column; `undefined` where the template cannot give the text. */
export function fieldsOf({ pieces }: Template, text: string): ReadonlyMap<string, string> | undefined {
  const columns: string[] = [];
  const pattern = pieces.map((piece) => {
    if (typeof piece === 'string') return escaped(piece);
    const known = columns.indexOf(piece.column);
    if (known >= 0) return `\\${known + 1}`;
    columns.push(piece.column);
    return '(.*?)';
  });
  const match = new RegExp(`^${pattern.join('')}$`, 's').exec(text);
  if (match === null) return undefined;
  return new Map(columns.map((column, at) => [column, match[at + 1] ?? '']));
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
