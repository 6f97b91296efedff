/** The config keys of files on other machines: how each kind of place is reached. */
import { z } from 'zod';
import { isToken } from '../../http/credentials.ts';
import { filePath } from '../path-key.ts';

const secret = z.string().min(1);

function notBoth(pairs: readonly (readonly [string, string])[]) {
  return (keys: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void => {
    for (const [one, other] of pairs) {
      if (keys[one] === undefined || keys[other] === undefined) continue;
      const message = `${one} and ${other} are both there`;
      context.addIssue({ code: 'custom', path: [other], message, params: { hint: 'keep one of the two' } });
    }
  };
}

const caFile = filePath
  .optional()
  .describe('A PEM file of further authorities that may vouch for the server, relative to the config file.');

const fileOf = (what: string) =>
  filePath
    .optional()
    .describe(`A file that holds the ${what} alone, relative to the config file. It is read anew each time.`);

const s3 = z
  .strictObject({
    endpoint: z
      .string()
      .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'expected an http or https address')
      .optional()
      .describe(
        'The address of the service, where it is not Amazon: `https://minio.example.com`. Default: `$AWS_ENDPOINT_URL_S3`, `$AWS_ENDPOINT_URL`, else Amazon.',
      ),
    region: z.string().min(1).optional().describe('Default: `$AWS_REGION`, `$AWS_DEFAULT_REGION`, else `us-east-1`.'),
    accessKeyId: z
      .string()
      .refine(isToken, 'the key is empty, or has a character that no key has')
      .optional()
      .describe('Default: `$AWS_ACCESS_KEY_ID`.'),
    secretAccessKey: secret.optional().describe('Best as `${VARIABLE}`. Default: `$AWS_SECRET_ACCESS_KEY`.'),
    secretAccessKeyFile: fileOf('secret key'),
    sessionToken: secret.optional().describe('Of keys for a while. Default: `$AWS_SESSION_TOKEN`.'),
    caFile,
  })
  .superRefine(notBoth([['secretAccessKey', 'secretAccessKeyFile']]))
  .superRefine(({ accessKeyId, secretAccessKey, secretAccessKeyFile }, context) => {
    const hasSecret = secretAccessKey !== undefined || secretAccessKeyFile !== undefined;
    if ((accessKeyId !== undefined) === hasSecret) return;
    context.addIssue({
      code: 'custom',
      message: 'accessKeyId and its secret key stand together',
      params: { hint: 'write both, or leave both to the environment' },
    });
  });

const sftp = z
  .strictObject({
    user: z.string().min(1).optional().describe('Default: the user in the address.'),
    password: secret.optional().describe('Best as `${VARIABLE}`. Default: the password in the address.'),
    passwordFile: fileOf('password'),
    keyFile: filePath.optional().describe('A private key (OpenSSH or PEM), relative to the config file.'),
    passphrase: secret.optional().describe('Of the key.'),
    hostKey: z
      .union([z.string(), z.array(z.string()).min(1)], { error: 'expected a fingerprint, or a list of them' })
      .transform((given) => [given].flat())
      .refine(
        (keys) => keys.every((key) => /^SHA256:[A-Za-z\d+/]{43}=?$/.test(key)),
        'expected SHA256:… as ssh-keygen -lf prints it',
      )
      .optional()
      .describe(
        'The fingerprint of the key of the server, or a list of them: `SHA256:…`. A server with another key is refused. Default: as `knownHosts` says.',
      ),
    knownHosts: filePath
      .optional()
      .describe('Default: `~/.ssh/known_hosts` and `/etc/ssh/ssh_known_hosts`. A host that neither knows is refused.'),
  })
  .superRefine(
    notBoth([
      ['password', 'passwordFile'],
      ['hostKey', 'knownHosts'],
    ]),
  );

const dav = z
  .strictObject({
    user: z.string().min(1).optional().describe('Default: the user in the address.'),
    password: secret.optional().describe('Best as `${VARIABLE}`. Default: the password in the address.'),
    passwordFile: fileOf('password'),
    token: z
      .string()
      .refine(isToken, 'the token is empty, or has a character that no token has')
      .optional()
      .describe('Sent as `Authorization: Bearer`, instead of user and password.'),
    tokenFile: fileOf('token'),
    caFile,
  })
  .superRefine(
    notBoth([
      ['password', 'passwordFile'],
      ['token', 'tokenFile'],
      ['token', 'password'],
      ['tokenFile', 'password'],
      ['token', 'passwordFile'],
      ['tokenFile', 'passwordFile'],
    ]),
  );

export const remoteKeys = {
  s3: s3.optional().describe('How `s3://` is reached: Amazon S3 or a service that speaks as it does.'),
  sftp: sftp.optional().describe('How `sftp://` is reached. Needs the package `ssh2`.'),
  dav: dav.optional().describe('How a WebDAV share (`https://`) is reached, such as Nextcloud or SharePoint.'),
};

/** The output of `remoteKeys`. */
export type RemoteSettings = z.output<z.ZodObject<typeof remoteKeys>>;
export type S3Settings = z.output<typeof s3>;
export type SftpSettings = z.output<typeof sftp>;
export type DavSettings = z.output<typeof dav>;
