/** The first mistake in a text that is not JSON. */
import { JsonError } from './byte-input.ts';
import { JsonScanner } from './json-scanner.ts';
import type { Token } from './json-scanner.ts';

/** What a mistake calls the name of a member: some write it without quotes, or in other ones. */
export const aKey = 'a key in double quotes';

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
  if (token === 'end' && open.length === 0) throw scanner.isEmpty();
  if (token !== '{' && token !== '[') throw scanner.mistake('a value');
  if (open.push(token) > depthMax) throw new RangeError('nested too deeply');
  return token === '{' ? firstName : firstElement;
};

const firstElement: Place = (token, reading) => {
  if (token === 'end') throw reading.scanner.mistake('"]"');
  return token === ']' ? close(reading) : value(token, reading);
};

const firstName: Place = (token, reading) => {
  if (token === '}') return close(reading);
  if (token !== 'string') throw reading.scanner.mistake(expectedAt(firstName, reading));
  return colon;
};

const name: Place = (token, reading) => {
  if (token !== 'string') throw reading.scanner.mistake(expectedAt(name, reading));
  return colon;
};

const colon: Place = (token, { scanner }) => {
  if (token !== ':') throw scanner.mistake('":"');
  return value;
};

const afterValue: Place = (token, reading) => {
  const { scanner, open } = reading;
  const within = open.at(-1);
  if (within === undefined && token === 'end') return undefined;
  const closing = within === '{' ? '}' : ']';
  if (within !== undefined && token === closing) return close(reading);
  if (within !== undefined && token === 'end') throw scanner.mistake(`"${closing}"`);
  if (within === undefined || token !== ',') throw scanner.mistake(expectedAt(afterValue, reading));
  return within === '{' ? name : value;
};

function close({ open }: Reading): Place {
  open.pop();
  return afterValue;
}

/** What a mistake says that should be at a place, also where no token begins. */
function expectedAt(place: Place, { open }: Reading): string {
  if (place === firstName) return `${aKey} or "}"`;
  if (place === name) return aKey;
  if (place === colon) return '":"';
  if (place !== afterValue) return 'a value';
  return open.length === 0 ? 'the end' : '"," or a closing bracket';
}

/** @param offset where the text begins in the whole one, in bytes. @returns undefined for JSON */
export function mistakeIn(text: string, offset: number): JsonError | undefined {
  const reading: Reading = { scanner: new JsonScanner(text, offset), open: [] };
  try {
    let place: Place | undefined = value;
    while (place !== undefined) place = place(reading.scanner.next(expectedAt(place, reading)), reading);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return new JsonError('nested too deeply', offset);
    if (error instanceof JsonError) return error;
    throw error;
  }
}
