/** `notify:`, who is told of what is wrong. No text of an address is ever shown: it is a secret. */
import path from 'node:path';
import type { ChannelSettings, Settings } from '../core/settings.ts';
import { noticeEvents } from '../core/telling/notice.ts';
import { notifyShape } from './agent-keys.ts';
import { type Cursor, isMapping, keysAt, spotOf, within, writtenAt } from './cursor.ts';
import { readFields, reportType } from './fields.ts';

type Unaddressed = Settings['unaddressed']['notify'][number];

/** Channels whose address is not known, since a variable is not set that the command does not need, are apart. */
export function readNotify(
  cursor: Cursor,
  baseDir: string,
): { readonly channels: readonly ChannelSettings[]; readonly unaddressed: readonly Unaddressed[] } {
  const written = writtenAt(cursor);
  const isWritten = spotOf(cursor) !== undefined && written !== undefined;
  if (isWritten && !Array.isArray(written)) reportType(cursor, 'a list', written);
  if (!isWritten || !Array.isArray(written)) return { channels: [], unaddressed: [] };
  const all = written.flatMap((_, index) => readChannel(within(cursor, index), baseDir) ?? []);
  return {
    channels: all.filter(isAddressed),
    unaddressed: all.filter((one) => !isAddressed(one)),
  };
}

function isAddressed(one: ChannelSettings | Unaddressed): one is ChannelSettings {
  return 'kind' in one;
}

function readChannel(cursor: Cursor, baseDir: string): ChannelSettings | Unaddressed | undefined {
  const fields = readFields(cursor, notifyShape);
  if (!isMapping(writtenAt(cursor))) return undefined;
  const keys = keysAt(cursor);
  const isMail = keys.includes('email') || keys.includes('smtp');
  const complain = (key: string, message: string, hint: string): void =>
    cursor.report({ path: [...cursor.path, key], on: keys.includes(key) ? 'key' : 'missing', message, hint });
  if (!isMail && !keys.includes('url')) {
    complain('url', 'nobody to tell', 'write url: for a hook, or email: and smtp:');
    return undefined;
  }
  const others = isMail ? ['url', 'format'] : ['from'];
  for (const key of others.filter((one) => keys.includes(one))) {
    complain(key, `${key} belongs to ${isMail ? 'a hook' : 'e-mail'}`, 'write one entry for each who is told');
  }
  const { url, email, smtp, from, format = 'json', on = noticeEvents } = fields;
  const caFile = fields.caFile === undefined ? undefined : path.resolve(baseDir, fields.caFile);
  const isUnset = ['url', 'email', 'smtp'].some((key) => spotOf(within(cursor, key))?.unset === true);
  const elsewhere = isUnset ? { on } : undefined;
  if (!isMail) return url === undefined ? elsewhere : { kind: 'hook', url, format, on, caFile };
  for (const key of ['email', 'smtp'].filter((one) => !keys.includes(one))) {
    complain(
      key,
      `"${key}" is missing`,
      key === 'smtp' ? 'such as smtp: "${SMTP_URL}"' : 'such as email: [a@b.example]',
    );
  }
  if (email === undefined || smtp === undefined) return elsewhere;
  return { kind: 'mail', to: email, from, smtp, on, caFile };
}
