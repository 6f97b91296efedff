/** A zip file's entries, each proven to be what the directory says before its end is told. */
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import type { Entry, RandomAccessReader as RandomAccess, ZipFile } from 'yauzl';
import { AgentError } from '../../core/errors.ts';
import { grouped } from '../limits.ts';
import type { Slices } from './slices.ts';

/** As much as node:zlib expands at a time: 400 rows of a sheet, each with a cell in the last column. */
const readBytes = 16 * 1024;
/** Real workbooks have some hundred entries. */
const entriesMax = 100_000;
const stored = 0;
const deflated = 8;
/** Of those that programs offer, by their numbers. */
const methods: Readonly<Record<number, string>> = {
  9: 'Deflate64',
  12: 'bzip2',
  14: 'LZMA',
  93: 'Zstandard',
  95: 'XZ',
  98: 'PPMd',
};
const hint = 'is the copy still under way, or did it fail? copy or save it again';

/**
 * yauzl reads the directory, node:zlib the entries. The sizes in the directory are claims: the bytes that really come
 * out are counted.
 */
export class Zip {
  readonly #slices: Slices;
  readonly #zip: ZipFile;
  /** By name in lower case: case does not matter in names of a workbook's parts. */
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #expandedMax: number;
  #expandedBytes = 0;
  #current: { readonly name: string; bytes: number } | undefined;

  private constructor(slices: Slices, opened: { zip: ZipFile; entries: Map<string, Entry>; expandedMax: number }) {
    this.#slices = slices;
    this.#zip = opened.zip;
    this.#entries = opened.entries;
    this.#expandedMax = opened.expandedMax;
  }

  /**
   * @param expandedMax how many bytes may come out of all entries that are read, together
   * @throws AgentError `part.unreadable` where it is not a zip file, or is damaged or cut short
   */
  static async open(slices: Slices, expandedMax: number): Promise<Zip> {
    const { RandomAccessReader, fromRandomAccessReaderPromise } = await import('yauzl');
    class Reader extends RandomAccessReader {
      override read(...[buffer, offset, length, position, done]: Parameters<RandomAccess['read']>): void {
        const copy = async (): Promise<void> => {
          let failure: Error | null = null;
          try {
            (await slices.read(position, position + length)).copy(buffer, offset);
          } catch (error) {
            failure = error as Error;
          }
          done(failure);
        };
        void copy();
      }
    }
    const entries = new Map<string, Entry>();
    try {
      const zip = await fromRandomAccessReaderPromise(new Reader(), slices.byteLength, { autoClose: false });
      for await (const entry of zip.eachEntry()) {
        const name = entry.fileName.toLowerCase();
        // Two of one name are two contents: programs differ in which of them they believe.
        if (entries.has(name)) throw new Error(`two entries are called ${entry.fileName}`);
        entries.set(name, entry);
        if (entries.size > entriesMax) throw new Error(`more than ${grouped(entriesMax)} entries`);
      }
      return new Zip(slices, { zip, entries, expandedMax });
    } catch (error) {
      throw slices.blame(refusalOf(error, slices) ?? error, hint);
    }
  }

  /** As the directory writes them, folders with a slash at their end. */
  get names(): readonly string[] {
    return [...this.#entries.values()].map(({ fileName }) => fileName);
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase());
  }

  /** How much of the entry that is being read has come, 0 to 1, if its size is what the directory claims. */
  shareOf(name: string): number {
    const size = this.#entries.get(name.toLowerCase())?.uncompressedSize ?? 0;
    return this.#current?.name === name ? Math.min(1, this.#current.bytes / Math.max(1, size)) : 0;
  }

  /** The expanded bytes of an entry that is there. Their end comes only where size and checksum are right. */
  async *chunks(name: string): AsyncGenerator<Buffer, void, void> {
    const entry = this.#entries.get(name.toLowerCase());
    let checksum = 0;
    const current = { name, bytes: 0 };
    this.#current = current;
    try {
      if (entry === undefined) throw new Error(`it has no ${name}`);
      for await (const chunk of this.#expand(entry)) {
        checksum = crc32(chunk, checksum);
        current.bytes += chunk.length;
        this.#expandedBytes += chunk.length;
        if (this.#expandedBytes > this.#expandedMax) throw this.#tooLarge();
        yield chunk;
      }
      if (current.bytes !== entry.uncompressedSize) {
        throw new Error(`${name} has ${current.bytes} bytes, and should have ${entry.uncompressedSize}`);
      }
      if (checksum !== entry.crc32) throw new Error(`the checksum of ${name} is wrong`);
    } catch (error) {
      throw this.#slices.blame(error, hint);
    }
  }

  async *#expand(entry: Entry): AsyncGenerator<Buffer, void, void> {
    const method = entry.compressionMethod;
    const what = `${this.#slices.file.name}: ${entry.fileName}`;
    if (entry.isEncrypted()) throw encrypted(what);
    if (method !== stored && method !== deflated) {
      const by = methods[method] ?? `method ${method}`;
      throw new AgentError('part.unreadable', `${what} is compressed by ${by}, which is not read here`, {
        hint: 'make the archive again with the usual method, deflate',
      });
    }
    const { fileDataStart } = await this.#zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const pieces = this.#stored(fileDataStart, fileDataStart + entry.compressedSize);
    if (method === stored) return yield* pieces;
    const inflate = createInflateRaw();
    const feeding = pipeline(pieces, inflate);
    // It fails with the stream, which is where the failure is seen.
    feeding.catch(() => undefined);
    yield* inflate as AsyncIterable<Buffer>;
    await feeding;
  }

  async *#stored(start: number, end: number): AsyncGenerator<Buffer, void, void> {
    for (let at = start; at < end; at += readBytes) yield await this.#slices.read(at, Math.min(at + readBytes, end));
  }

  #tooLarge(): AgentError {
    const { name } = this.#slices.file;
    return new AgentError('part.unreadable', `${name} expands to more than ${this.#expandedMax} bytes (expandedMax)`, {
      hint: 'raise expandedMax if the file is meant to be that large',
    });
  }
}

/** What yauzl's own words stand for, where the archive is not damaged. */
function refusalOf(error: unknown, slices: Slices): AgentError | undefined {
  const said = error instanceof Error ? error.message : '';
  if (said.startsWith('End of central directory')) return cutShort(slices);
  return said.startsWith('strong encryption') ? encrypted(slices.file.name) : undefined;
}

function encrypted(what: string): AgentError {
  return new AgentError('part.unreadable', `${what} is encrypted`, {
    hint: 'make the archive again without a password',
  });
}

function cutShort({ file }: Slices): AgentError {
  return new AgentError('part.unreadable', `${file.name} is cut short: its table of contents, at the end, is missing`, {
    hint,
  });
}
