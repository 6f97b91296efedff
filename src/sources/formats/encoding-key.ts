/** The config key `encoding`. A file of its own, so that threads that read text load no zod. */
import { z } from 'zod';
import { isEncoding } from './text.ts';

export const encodingKey = z
  .string()
  .refine(isEncoding, 'unknown encoding; utf-8, windows-1252, utf-16le and iso-8859-15 are some that are known')
  .default('utf-8')
  .describe(
    'Any WHATWG label, or a DOS code page such as `cp850`. A byte-order mark always wins. A byte that is invalid in it is an error, never replaced.',
  );
