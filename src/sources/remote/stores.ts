/** Opens the store of a pattern. Loaded when one is looked at: most configs name none. */
import type { Clock } from '../../core/ports.ts';
import type { RemotePattern } from './address.ts';
import { openDav } from './dav.ts';
import type { RemoteSettings } from './keys.ts';
import { openS3 } from './s3.ts';
import { openSftp } from './sftp.ts';
import type { RemoteStore } from './store.ts';

export interface Surroundings {
  readonly baseDir: string;
  readonly clock: Clock;
}

/** @throws AgentError `source.unreadable` */
export async function openStore(
  pattern: RemotePattern,
  { s3 = {}, sftp = {}, dav = {} }: RemoteSettings,
  { baseDir, clock }: Surroundings,
  signal: AbortSignal,
): Promise<RemoteStore> {
  switch (pattern.protocol) {
    case 's3':
      return await openS3(pattern, s3, { baseDir, env: process.env }, signal);
    case 'sftp':
      return await openSftp(pattern, sftp, { baseDir, clock }, signal);
    case 'dav':
      return await openDav(pattern, dav, { baseDir, clock }, signal);
  }
}
