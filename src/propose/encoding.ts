/** Guesses the encoding of a text from a sample of its bytes. */
import { isUtf8 } from 'node:buffer';
import { type OneByteEncoding, OneByteEvidence } from '../core/one-byte.ts';
import type { Guess } from './evidence.ts';

export interface DecodedPieces {
  /** `undefined` where nothing needs to be declared: UTF-8, or a byte-order mark. */
  readonly encoding: Guess<string> | undefined;
  /** Each piece begins and ends with whole lines, but for the start of the first and the end of the last of a whole file. */
  readonly pieces: readonly string[];
}

const utf8Mark = [0xef, 0xbb, 0xbf];

/** @param pieces of the file in order; the first one is its start. @param isWhole whether they are all of it */
export function decodePieces(pieces: readonly Buffer[], isWhole: boolean): DecodedPieces {
  const [head = Buffer.alloc(0)] = pieces;
  const wide = utf16Of(head);
  if (wide !== undefined) {
    const { label, isMarked } = wide;
    const text = new TextDecoder(label).decode(head.subarray(0, head.length - (head.length % 2)));
    const encoding = {
      key: 'encoding',
      value: label,
      because: 'every second byte is 0, and there is no byte-order mark',
    };
    return { encoding: isMarked ? undefined : encoding, pieces: [wholeLines(text, { first: true, last: isWhole })] };
  }
  const isMarked = utf8Mark.every((byte, at) => head[at] === byte);
  const encoding = isMarked ? undefined : oneByteGuess(pieces);
  const decoder = encoding?.value === 'cp850' ? undefined : new TextDecoder(encoding?.value ?? 'utf-8');
  const texts = pieces.map((piece, at) =>
    wholeLines(decoder?.decode(piece) ?? decode850(piece), {
      first: at === 0,
      last: isWhole && at === pieces.length - 1,
    }),
  );
  return { encoding, pieces: texts };
}

function utf16Of(head: Buffer): { readonly label: 'utf-16le' | 'utf-16be'; readonly isMarked: boolean } | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return { label: 'utf-16le', isMarked: true };
  if (head[0] === 0xfe && head[1] === 0xff) return { label: 'utf-16be', isMarked: true };
  const [a, b, c, d] = head;
  if (a === undefined || d === undefined) return undefined;
  if (a !== 0 && b === 0 && c !== 0 && d === 0) return { label: 'utf-16le', isMarked: false };
  if (a === 0 && b !== 0 && c === 0 && d !== 0) return { label: 'utf-16be', isMarked: false };
  return undefined;
}

/** `undefined` for UTF-8. */
function oneByteGuess(pieces: readonly Buffer[]): Guess<OneByteEncoding> | undefined {
  // A piece may begin or end within a character.
  if (pieces.every((piece) => isUtf8(piece.subarray(startOf(piece), endOf(piece))))) {
    return undefined;
  }
  const evidence = new OneByteEvidence();
  for (const piece of pieces) evidence.add(piece);
  const [value, ...others] = evidence.likelyEncodings();
  const seen = `the text is not UTF-8${firstBadLine(pieces)}`;
  const because =
    value === 'cp850'
      ? `${seen}; its letters are where a DOS code page has them`
      : `${seen}, so of an older Windows program${others.length === 0 ? '' : ' or of DOS'}`;
  const instead = others.map((other) => `encoding: ${other}`);
  return { key: 'encoding', value: value as OneByteEncoding, because, ...(instead.length > 0 && { instead }) };
}

function startOf(piece: Buffer): number {
  let at = 0;
  while (at < 3 && ((piece[at] ?? 0) & 0xc0) === 0x80) at++;
  return at;
}

function endOf(piece: Buffer): number {
  for (let back = 1; back <= 3 && back <= piece.length; back++) {
    const byte = piece[piece.length - back] ?? 0;
    if ((byte & 0xc0) === 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < length ? piece.length - back : piece.length;
    }
    if (byte < 0x80) break;
  }
  return piece.length;
}

/** ` from line 3 on`, where the start of the file shows it. */
function firstBadLine([head = Buffer.alloc(0)]: readonly Buffer[]): string {
  let from = 0;
  for (let line = 1; from < head.length; line++) {
    const end = head.indexOf(0x0a, from);
    const stop = end < 0 ? head.length : end;
    if (!isUtf8(head.subarray(from, stop))) return ` (line ${line})`;
    from = stop + 1;
  }
  return '';
}

/** The letters of code page 850; its frames and signs do not matter for a guess. */
const letters850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';

function decode850(piece: Buffer): string {
  return piece.toString('latin1').replaceAll(/[\u0080-\u00ff]/g, (one) => letters850[one.charCodeAt(0) - 0x80] ?? one);
}

/** Without the line that a piece begins or ends within. */
function wholeLines(text: string, { first, last }: { readonly first: boolean; readonly last: boolean }): string {
  const start = first ? 0 : text.search(/\r\n?|\n/) + 1;
  const rest = text.slice(start);
  if (last) return rest;
  const end = Math.max(rest.lastIndexOf('\n'), rest.lastIndexOf('\r'));
  return end < 0 ? rest : rest.slice(0, end + 1);
}
