/** Recognises files that are not tables of text, by their first bytes. */

/** Enough for the root element and the namespaces of an XML document. */
const lookedAtBytes = 4096;

interface OtherKind {
  /** To follow `it is`. */
  readonly what: string;
  readonly hint: string;
}

const asCsv = 'export it as csv, or convert it before the agent reads it';
const unpack = 'unpack it, or pack it with gzip';

/**
 * The first bytes as Latin-1. A text is compared with them as they are, a pattern with white space and the NULs of
 * UTF-16 taken out. No table begins like one of these.
 */
const beginnings: readonly (readonly [beginning: string | RegExp, what: string, hint: string])[] = [
  ['\x1F\x8B\x08', 'a gzip archive', 'give it a name that ends in .gz'],
  ['\x28\xB5\x2F\xFD', 'a zstd archive', 'give it a name that ends in .zst'],
  [
    'PK\x03\x04',
    'a workbook or another zip archive',
    'use type: xlsx for a workbook; of an archive say which files count: members: ["**/*.csv"]',
  ],
  [
    '\xD0\xCF\x11\xE0',
    'a workbook of an old Excel, or one with a password',
    'save it as .xlsx without a password, and use type: xlsx',
  ],
  ['PAR1\x15', 'a Parquet file', 'use type: parquet'],
  ['PAR1\x1C', 'a Parquet file', 'use type: parquet'],
  ['SQLite format 3', 'a SQLite database', 'use type: sqlite'],
  [/^BZh\d1AY&SY/, 'a bzip2 archive', unpack],
  ['\xFD7zXZ', 'an xz archive', unpack],
  ['%PDF-', 'a PDF document', 'a PDF holds no rows: export the data itself'],
  ['{\\rtf', 'a text document (RTF)', asCsv],
  [/^OFXHEADER\s*:|^<\?xml[^]*<(?:\?OFX|OFX>)/, 'a bank statement (OFX)', asCsv],
  [/^\{1:[A-Z]\d\d|^:20:[^\r\n]*\r?\n:(?:21|25|28C?|60[FM]):/, 'a bank statement (MT940)', asCsv],
  [/^<\?xml[^]*urn:iso:std:iso:20022:/, 'a bank statement or payment (ISO 20022)', asCsv],
  [/^<\?xml[^]*(?:Excel\.Sheet|office:spreadsheet)/, 'a spreadsheet in XML', 'save it as .xlsx and use type: xlsx'],
  [
    /^(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body|table)[\s>]/i,
    'a page of HTML',
    'is it an error or login page, or a table that was saved as a web page? export it as csv',
  ],
  [/^<\?xml\s/, 'an XML document', asCsv],
];

/** @param start the first bytes of the file, expanded */
export function otherKind(start: Buffer): OtherKind | undefined {
  const text = start.toString('latin1', 0, lookedAtBytes).replace(/^(?:\xEF\xBB\xBF|\xFF\xFE|\xFE\xFF)/, '');
  const plain = text.replaceAll('\0', '').trimStart();
  const found = beginnings.find(([beginning]) =>
    typeof beginning === 'string' ? text.startsWith(beginning) : beginning.test(plain),
  );
  return found && { what: found[1], hint: found[2] };
}

/** The encoding of a text that has one of two bytes for every character, and no mark that says so. */
export function unmarkedUtf16(start: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second, third, fourth] = start;
  if (first === undefined || third === undefined) return undefined;
  if (first !== 0 && second === 0 && third !== 0 && fourth === 0) return 'utf-16le';
  if (first === 0 && second !== 0 && third === 0 && fourth !== 0) return 'utf-16be';
  return undefined;
}
