/** The first mistake in a text that is not JSON. */
import { JsonError } from './byte-input.ts';
import { JsonScanner } from './json-scanner.ts';
import type { Token } from './json-scanner.ts';

/** Texts that are nested deeper are refused, whatever is in them. */
export const depthMax = 10_000;

interface Reading {
  readonly scanner: JsonScanner;
  /** The brackets that are open. */
  readonly open: ('{' | '[')[];
}

/** What may stand at a place: it takes the token there, and says what may follow. `undefined` is the end. */
type Place = (token: Token, reading: Reading) => Place | undefined;

const value: Place = (token, { scanner, open }) => {
  if (token === 'string' || token === 'literal') return afterValue;
  if (token !== '{' && token !== '[') throw scanner.mistake('a value');
  if (open.push(token) > depthMax) throw new RangeError('nested too deeply');
  return token === '{' ? firstName : firstElement;
};

const firstElement: Place = (token, reading) => {
  if (token === 'end') throw reading.scanner.mistake('"]"');
  return token === ']' ? close(reading) : value(token, reading);
};

const firstName: Place = (token, reading) => {
  if (token === 'end') throw reading.scanner.mistake('"}"');
  if (token === ',') throw reading.scanner.mistake('a value');
  return token === '}' ? close(reading) : name(token, reading);
};

const name: Place = (token, { scanner }) => {
  if (token !== 'string') throw scanner.mistake('a string');
  return colon;
};

const colon: Place = (token, { scanner }) => {
  if (token !== ':') throw scanner.mistake('":"');
  return value;
};

const afterValue: Place = (token, reading) => {
  const { scanner, open } = reading;
  const within = open.at(-1);
  if (within === undefined) {
    if (token === 'end') return undefined;
    throw scanner.mistake('the end');
  }
  const closing = within === '{' ? '}' : ']';
  if (token === closing) return close(reading);
  if (token === 'end') throw scanner.mistake(`"${closing}"`);
  if (token !== ',') throw scanner.mistake('"," or a closing bracket');
  return within === '{' ? name : value;
};

function close({ open }: Reading): Place {
  open.pop();
  return afterValue;
}

/** @param offset where the text begins in the whole one, in bytes. @returns undefined for JSON */
export function mistakeIn(text: string, offset: number): JsonError | undefined {
  const reading: Reading = { scanner: new JsonScanner(text, offset), open: [] };
  try {
    let place: Place | undefined = value;
    while (place !== undefined) place = place(reading.scanner.next(), reading);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return new JsonError('nested too deeply', offset);
    if (error instanceof JsonError) return error;
    throw error;
  }
}
