/** `ledger:`, where agents of several machines keep what was pushed and decided. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { parse } from 'yaml';
import type { LedgerSettings } from '../core/settings.ts';
import { type Cursor, isMapping, spotOf, within, writtenAt } from './cursor.ts';
import type { Environment } from './document.ts';
import { type Fields, readFields, readValue } from './fields.ts';
import { ledgerShape } from './ledger-keys.ts';
import { canonicalJson } from './source.ts';

/** Its own parts of a config each machine may have otherwise. */
const ofMachine = new Set('state status notify heartbeat workers keep keepMax ledger'.split(' '));

export interface Beside {
  /** The text of the config file. */
  readonly text: string;
  readonly baseDir: string;
  readonly secrets: Environment['secrets'];
}

/** `undefined` where the state directory keeps the ledger, or something was reported. */
export function readLedger(cursor: Cursor, { text, baseDir, secrets }: Beside): LedgerSettings | undefined {
  const written = writtenAt(cursor);
  const at = isMapping(written) ? within(cursor, 'url') : cursor;
  if (spotOf(at)?.unset === true && secrets === 'optional') {
    at.report({ path: at.path, message: 'a variable that is not set', hint: 'every command needs the ledger' });
    return undefined;
  }
  if (spotOf(cursor) === undefined || written === undefined) return undefined;
  const fields: Fields<typeof ledgerShape> = isMapping(written)
    ? readFields(cursor, ledgerShape)
    : { url: readValue(cursor, ledgerShape.url, written)?.value as never };
  const { url: address, caFile, schema = 'driver_sync', takeOver: leaseMs = 20_000 } = fields;
  if (address === undefined) return undefined;
  if (leaseMs < 1000 || leaseMs > 600_000) {
    const takeOver = within(cursor, 'takeOver');
    takeOver.report({ path: takeOver.path, message: 'expected 1s to 10m', hint: '20s is the default' });
  }
  return {
    address,
    caFile: caFile === undefined ? undefined : path.resolve(baseDir, caFile),
    schema,
    leaseMs,
    alike: alikeDigest(text),
  };
}

/**
 * sha256 (hex) of what all agents of a ledger have to have alike, as it is written: variables may have other values on other
 * machines, and passwords may change.
 */
function alikeDigest(text: string): string {
  const config: unknown = parse(text, { merge: true, logLevel: 'silent' });
  const shared = Object.entries(config as object).filter(([key]) => !ofMachine.has(key));
  return createHash('sha256')
    .update(canonicalJson(Object.fromEntries(shared)))
    .digest('hex');
}
