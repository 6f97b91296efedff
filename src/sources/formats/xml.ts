/**
 * XML as workbooks have it: elements by their local names, since a writer may give their namespace any prefix. Nothing
 * that a document declares itself is believed: one with a DOCTYPE is refused, so that no entity can grow or fetch.
 */
import type { Parser } from 'saxen';
import { depthMax } from '../limits.ts';

/** Far more than a cell may hold (32 767 characters), and little enough to look through again with every chunk. */
const tokenMax = 4 * 1024 * 1024;
/** The longest document that is parsed at once: a workbook's list of sheets, its styles. */
const wholeMax = 32 * 1024 * 1024;

/** A fault in a document; the message says which. */
export class XmlFault extends Error {}

export interface XmlHandler {
  open(tag: XmlTag): void;
  close(name: string): void;
  /** The text of one element may come in several pieces. */
  text(text: string): void;
}

/** An element that opens. Holds only until the next one does. */
export interface XmlTag {
  readonly name: string;
  attribute(name: string): string | undefined;
  /** The attribute of this local name that has a prefix, such as `r:id`. */
  prefixed(name: string): string | undefined;
}

/** Parses a document as its bytes come, with `after` once each chunk was handled, and stops where it says so. */
export async function* streamXml<T>(
  chunks: AsyncIterable<Uint8Array>,
  handler: XmlHandler,
  after: () => { readonly value: T; readonly isLast: boolean },
): AsyncGenerator<T, void, void> {
  const { parser, sinceToken } = await openParser(handler);
  const decode = decoder();
  let isLast = false;
  for await (const chunk of chunks) {
    // The rest is still read: only its end proves that the bytes are whole.
    if (isLast) continue;
    const text = decode(chunk);
    sinceToken.length += text.length;
    if (sinceToken.length > tokenMax) throw new XmlFault(`a tag or text of more than ${tokenMax} characters`);
    parser.write(text);
    const state = after();
    ({ isLast } = state);
    yield state.value;
  }
  if (isLast) return;
  parser.write(decode());
  parser.end();
  yield after().value;
}

/**
 * Parses a document in one go. saxen's streams break off a tag at a `>` inside an attribute's value where a chunk ends in
 * that value; no attribute of a sheet's cells can hold one, those of a list of sheets or formats can.
 */
export async function parseXml(chunks: AsyncIterable<Uint8Array>, handler: XmlHandler): Promise<void> {
  const { parser } = await openParser(handler);
  const decode = decoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decode(chunk);
    if (text.length > wholeMax) throw new XmlFault(`more than ${wholeMax} characters`);
  }
  parser.parse(text + decode());
}

/** UTF-8, or UTF-16 where its mark says so: a workbook's XML may be in no other encoding. */
function decoder(): (chunk?: Uint8Array) => string {
  let decoding: InstanceType<typeof TextDecoder> | undefined;
  return (chunk) => {
    const [first, second] = chunk ?? [];
    decoding ??= new TextDecoder(
      first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8',
      { fatal: true },
    );
    try {
      return chunk === undefined ? decoding.decode() : decoding.decode(chunk, { stream: true });
    } catch (cause) {
      throw new XmlFault(`bytes that are not ${decoding.encoding}`, { cause });
    }
  };
}

async function openParser(handler: XmlHandler): Promise<{ parser: Parser; sinceToken: { length: number } }> {
  const { Parser: Saxen } = await import('saxen');
  const sinceToken = { length: 0 };
  let depth = 0;
  let attributes: Readonly<Record<string, string>> | undefined;
  let read: () => Readonly<Record<string, string>> | false = () => false;
  const all = (): Readonly<Record<string, string>> => {
    attributes ??= read() || undefined;
    if (attributes === undefined) throw new XmlFault('attributes that cannot be read');
    return attributes;
  };
  const valueOf = (value: string | undefined): string | undefined => value && decodeEntities(value);
  const tag = {
    name: '',
    attribute: (name: string) => valueOf(all()[name]),
    prefixed: (name: string) => valueOf(Object.entries(all()).find(([key]) => key.endsWith(`:${name}`))?.[1]),
  };
  const parser = new Saxen()
    .on('openTag', (name, getter) => {
      sinceToken.length = 0;
      if (++depth > depthMax) throw new XmlFault(`elements nested more than ${depthMax} levels deep`);
      tag.name = localName(name);
      attributes = undefined;
      read = getter;
      handler.open(tag);
    })
    .on('closeTag', (name) => {
      sinceToken.length = 0;
      depth--;
      handler.close(localName(name));
    })
    .on('text', (text) => handler.text(decodeEntities(lineFeeds(text))))
    .on('cdata', (text) => handler.text(lineFeeds(text)))
    .on('attention', () => {
      throw new XmlFault('a DOCTYPE, which no workbook has');
    });
  return { parser, sinceToken };
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** As XML has it: a line end is one line feed, however the file writes it. */
function lineFeeds(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

const named: Readonly<Record<string, string>> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };

/** saxen's own cuts characters beyond U+FFFF in half, and leaves what it does not know. */
function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(#?)(x?)(\w*);?/g, (whole, number: string, hex: string, rest: string) => {
    const code = number === '' ? undefined : Number.parseInt(rest, hex === '' ? 10 : 16);
    const isWhole = whole.endsWith(';');
    if (isWhole && code !== undefined && code <= 0x10_ff_ff) return String.fromCodePoint(code);
    const character = named[`${hex}${rest}`];
    if (isWhole && code === undefined && character !== undefined) return character;
    throw new XmlFault(`${whole.slice(0, 20)}, which is not a character`);
  });
}
