/** `notify:`, who is told of what is wrong. No text of an address is ever shown: it is a secret. */
import path from 'node:path';
import type { ChannelSettings } from '../core/settings.ts';
import { noticeEvents } from '../core/telling/notice.ts';
import { notifyShape } from './agent-keys.ts';
import { type Cursor, isMapping, keysAt, spotOf, within, writtenAt } from './cursor.ts';
import { readFields, reportType } from './fields.ts';

/** Channels whose address is not known, since a variable is not set that the command does not need, are left out. */
export function readNotify(cursor: Cursor, baseDir: string): readonly ChannelSettings[] {
  const written = writtenAt(cursor);
  if (spotOf(cursor) === undefined || written === undefined) return [];
  if (!Array.isArray(written)) {
    reportType(cursor, 'a list', written);
    return [];
  }
  return written.flatMap((_, index) => readChannel(within(cursor, index), baseDir) ?? []);
}

function readChannel(cursor: Cursor, baseDir: string): ChannelSettings | undefined {
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
  if (!isMail) return url === undefined ? undefined : { kind: 'hook', url, format, on, caFile };
  for (const key of ['email', 'smtp'].filter((one) => !keys.includes(one))) {
    complain(
      key,
      `"${key}" is missing`,
      key === 'smtp' ? 'such as smtp: "${SMTP_URL}"' : 'such as email: [a@b.example]',
    );
  }
  if (email === undefined || smtp === undefined) return undefined;
  return { kind: 'mail', to: email, from, smtp, on, caFile };
}
