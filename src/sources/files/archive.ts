/** A compressed file, and the failures of a bad one. */
import { AgentError } from '../../core/errors.ts';

export type Compression = 'gzip' | 'zstd';

export interface Archive {
  /** The part's name, for messages. */
  readonly name: string;
  readonly compression: Compression;
  /** One pass over the bytes as they are stored. */
  readonly stored: AsyncIterable<Buffer>;
  /** The most bytes that may come out: an archive can be a thousandth of its content. */
  readonly expandedMax: number;
}

export function noArchive(name: string, compression: Compression): AgentError {
  return new AgentError('part.unreadable', `${name} is not a ${compression} archive, as its name says`, {
    hint: 'give it the name of what it is; was it expanded, or is it an error page?',
  });
}

export function cutShort(name: string, compression: Compression): AgentError {
  return new AgentError('part.unreadable', `${name}: the ${compression} archive is cut short`, {
    hint: 'is the copy still under way, or did it fail?',
  });
}

/** @param offset of the first byte that belongs to nothing, in the file */
export function notTheEnd(name: string, compression: Compression, offset: number): AgentError {
  return new AgentError(
    'part.unreadable',
    `${name}: something other than ${compression} follows the archive at byte offset ${offset}`,
    { hint: 'was something appended to it? export it again' },
  );
}
