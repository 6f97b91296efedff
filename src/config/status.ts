/** `status:`, where the status page listens. */
import type { StatusSettings } from '../core/settings.ts';
import { type Listen, statusShape } from './agent-keys.ts';
import { type Cursor, isMapping, spotOf, within, writtenAt } from './cursor.ts';
import { type Surroundings, readTokenFile } from './destination.ts';
import { type Fields, readFields, readValue } from './fields.ts';

/** `undefined` where it is off, or was reported. */
export function readStatus(cursor: Cursor, surroundings: Surroundings): StatusSettings | undefined {
  const written = writtenAt(cursor);
  if (spotOf(cursor) === undefined || written === undefined || written === 'off') return undefined;
  if (!isMapping(written)) {
    const listen: Listen | undefined = readValue(cursor, statusShape.listen, written)?.value;
    return listen && { ...listen, tokenFile: undefined, hosts: [] };
  }
  const { listen, tokenFile, hosts = [] }: Fields<typeof statusShape> = readFields(cursor, statusShape);
  const file =
    tokenFile === undefined ? undefined : readTokenFile(within(cursor, 'tokenFile'), tokenFile, surroundings);
  return listen && { ...listen, tokenFile: file, hosts };
}
