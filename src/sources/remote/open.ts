/** The places of the patterns of `files:` that are on other machines. Nothing is connected, or loaded, before one is looked at. */
import type { Clock } from '../../core/ports.ts';
import { isRemote, parseRemote } from './address.ts';
import type { RemoteSettings } from './keys.ts';
import type { RemoteFiles, RemoteStore } from './store.ts';

interface Surroundings {
  readonly baseDir: string;
  readonly clock: Clock;
}

export function remotesOf(
  { files, s3, sftp, dav }: RemoteSettings & { readonly files: readonly string[] },
  { baseDir, clock }: Surroundings,
): readonly RemoteFiles[] {
  return files.filter(isRemote).flatMap((text) => {
    const pattern = parseRemote(text);
    if ('message' in pattern) return [];
    const open = async (signal: AbortSignal): Promise<RemoteStore> => {
      switch (pattern.protocol) {
        case 's3': {
          const { openS3 } = await import('./s3.ts');
          return await openS3(pattern, s3 ?? {}, { baseDir, env: process.env }, signal);
        }
        case 'sftp': {
          const { openSftp } = await import('./sftp.ts');
          return await openSftp(pattern, sftp ?? {}, { baseDir, clock }, signal);
        }
        case 'dav': {
          const { openDav } = await import('./dav.ts');
          return await openDav(pattern, dav ?? {}, { baseDir, clock }, signal);
        }
      }
    };
    return [{ pattern, open }];
  });
}
