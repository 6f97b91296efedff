/** Queries of SQLite whose rows may be others while the file is the same. */
import { type Token, bracketed, tokensOf } from './query-words.ts';

const words = /^current_(?:date|time|timestamp)$/i;
/** Time values that mean the present moment; SQLite takes a text in double quotes that names no column for one, too. */
const moments = /^(['"])(?:now|subsec|subsecond)\1$/i;
const random = /^random(?:blob)?$/i;
/** Without a time value they take the present moment. */
const ofTime = /^(?:date|time|datetime|julianday|unixepoch)$/i;
const formatting = /^strftime$/i;

/**
 * Whether the query says by its own words that it asks for the time or for chance. Too often is no harm: it runs at each poll then. A view
 * that does so is not seen.
 */
export function isMovingQuery(query: string): boolean {
  const said = tokensOf(query, 'standard');
  return said.some(({ text }, at) => {
    if (words.test(text) || moments.test(text)) return true;
    if (said[at + 1]?.text !== '(') return false;
    if (random.test(text)) return true;
    return (ofTime.test(text) && said[at + 2]?.text === ')') || (formatting.test(text) && hasOneArgument(said, at + 1));
  });
}

/** @param open where its bracket opens */
function hasOneArgument(said: readonly Token[], open: number): boolean {
  const depth = said[open]?.depth ?? 0;
  return !bracketed(said, open).some((token) => token.text === ',' && token.depth === depth + 1);
}
