/** The two streams of the process: data goes to stdout, talk to stderr, and whoever reads them gets all of it. */
import { randomBytes } from 'node:crypto';
import { fstatSync, writeSync } from 'node:fs';
import { styleText } from 'node:util';
import { csvText } from '../core/csv-text.ts';
import { visible, visibleJson } from '../core/text.ts';

/** How long a daemon that was told to end waits for readers of its log that have stopped reading. */
const daemonPatienceMs = 2000;

const unavailable = 75;

let patienceMs = Infinity;
let isFile = false;
let failure: NodeJS.ErrnoException | undefined;

/** Called once, by the process. A closed pipe is no error, on either stream: `driver-sync history | head` has seen enough. */
export function openOutput(): void {
  const stat = fstatSync(1);
  isFile = stat.isFile() || (stat.isCharacterDevice() && !process.stdout.isTTY);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') failure = error;
  });
  // There is nowhere left to say that stderr cannot be written, and a pass goes on without it.
  process.stderr.on('error', () => undefined);
}

/** For a daemon: its stdout is talk, which may be lost, and a reader that stopped reading must not keep it from ending. */
export function talkOnly(): void {
  isFile = false;
  process.stdout.removeAllListeners('error').on('error', () => undefined);
  patienceMs = daemonPatienceMs;
}

/** For a person. Each string is one line, whatever data is in it. */
export function print(lines: string | readonly string[]): void {
  write([lines].flat().map(coloured).join('\n'));
}

const tones = { good: 'green', waiting: 'yellow', bad: 'red' } as const;
const toneNames = Object.keys(tones) as readonly (keyof typeof tones)[];

const toneOf: Readonly<Record<string, keyof typeof tones>> = {
  accepted: 'good',
  acknowledged: 'good',
  ok: 'good',
  held: 'waiting',
  blocked: 'waiting',
  carried: 'waiting',
  warning: 'waiting',
  unread: 'bad',
  refused: 'bad',
  unreachable: 'bad',
  unknown: 'bad',
  broken: 'bad',
  fails: 'bad',
};

/** Begins and ends a coloured text. Data cannot hold it, so that no text from data colours anything. */
const mark = `\u0001${randomBytes(8).toString('hex')}`;

/** A text in the colour of a state, where a person reads it on a terminal; the state is a word in it. */
export function tinted(state: string, text = state): string {
  const tone = toneOf[state];
  const hasColours = process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '';
  return tone === undefined || !hasColours ? text : `${mark}${toneNames.indexOf(tone)}${text}${mark}-`;
}

function coloured(line: string): string {
  const [start = '', ...pieces] = line.split(mark);
  const rest = pieces.map((piece) => {
    const tone = toneNames[Number(piece.charAt(0))];
    const text = visible(piece.slice(1));
    return tone === undefined ? text : styleText(tones[tone], text, { validateStream: false });
  });
  return [visible(start), ...rest].join('');
}

export function printJson(data: unknown, indent = 0): void {
  write(visibleJson(JSON.stringify(data, null, indent)));
}

/** Rows of CSV: exactly the fields in a pipe or a file, one line a row on a terminal. */
export function printCsv(rows: readonly (readonly string[])[]): void {
  const shown = process.stdout.isTTY ? visible : (field: string): string => field;
  write(csvText(rows.map((fields) => fields.map(shown))));
}

/** How many columns a terminal has; `undefined` where something else reads. */
export function terminalWidth(): number | undefined {
  // A terminal of an emulator may not know its size.
  return process.stdout.isTTY ? process.stdout.columns || 80 : undefined;
}

/** Talk, on stderr. Each string is one line. */
export function say(...lines: readonly string[]): void {
  process.stderr.write(`${lines.map(visible).join('\n')}\n`);
}

/** Waits for no reader, so that a slow one holds nothing up but the end of the process. */
function write(text: string): void {
  if (isFile) writeFile(Buffer.from(`${text}\n`));
  else process.stdout.write(`${text}\n`);
}

/** `process.stdout` does not notice where only a beginning fits on the disk. */
function writeFile(bytes: Buffer): void {
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at);
  } catch (error) {
    failure = error as NodeJS.ErrnoException;
  }
}

/** Waits until readers have everything that was written, and gives the exit code: 75 where not all could be written. */
export async function endOutput(exit: number): Promise<number> {
  const read = Promise.all([process.stdout, process.stderr].map(emptied));
  await (patienceMs === Infinity ? read : Promise.race([read, elapsed(patienceMs)]));
  if (failure === undefined) return exit;
  const why = failure.code ?? failure.message;
  say(`driver-sync: the output could not be written to its end (${why})`, '  free some space, or write it elsewhere');
  await emptied(process.stderr);
  return exit === 1 || exit === 64 || exit === 78 ? exit : unavailable;
}

/** Writes leave a stream in their order, so this one comes after all others. A closed pipe calls back too. */
function emptied(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()));
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
