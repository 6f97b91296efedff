/** CSV: exactly the fields, quoted where they have to be. */
export function csvText(rows: readonly (readonly string[])[]): string {
  return rows.map((fields) => fields.map(quoteField).join(',')).join('\n');
}

function quoteField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
