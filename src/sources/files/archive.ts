/** What a compressed file is, and what its expanders have to say of a bad one. */
import { AgentError } from '../../core/errors.ts';

export type Compression = 'gzip' | 'zstd';

export interface Archive {
  /** Of the part, for messages. */
  readonly name: string;
  readonly compression: Compression;
  /** One pass over the bytes as they are stored. */
  readonly stored: AsyncIterable<Buffer>;
  /** What expands to more bytes is refused: an archive of a thousandth of it can fill any memory or day. */
  readonly expandedMax: number;
}

export function noArchive(name: string, compression: Compression): AgentError {
  return new AgentError('part.unreadable', `${name} is no ${compression} archive, as its name says it is`, {
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
    `${name}: something that is no ${compression} follows the archive at byte offset ${offset}`,
    { hint: 'was something appended to it? export it again' },
  );
}
