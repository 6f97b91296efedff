/** Throw-away ClickHouse servers: Debian's, and the newest, a library with a small HTTP server before it. */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Agent, request } from 'undici';
import * as programs from './server-programs.ts';
import {
  type Process,
  type TestServer,
  home,
  isChecked,
  leave,
  password,
  startOnFreePort,
  supervise,
  urlOf,
} from './servers.ts';

export const cannotClickhouse = !isChecked && programs.clickhouse === undefined;
export const cannotNewestClickhouse = !isChecked && programs.newestClickhouse === undefined;
/** For the names of suites. */
export const clickhouseName = cannotClickhouse ? 'ClickHouse, which is not installed' : 'ClickHouse';
export const newestClickhouseName = cannotNewestClickhouse
  ? 'the newest ClickHouse, which is not installed'
  : 'the newest ClickHouse';

/** For suites that want both. */
export const clickhouses = [
  { name: clickhouseName, isMissing: cannotClickhouse, isOld: true, start: () => clickhouseServer() },
  { name: newestClickhouseName, isMissing: cannotNewestClickhouse, isOld: false, start: newestClickhouse },
];

export interface ClickHouseOptions {
  /** Settings of the profile of every user but the administrator. */
  readonly profile?: Readonly<Record<string, string>>;
  /** Whether it has HTTPS instead of HTTP, with the certificate that `caFile` vouches for. */
  readonly tls?: boolean;
  /** Ports of the native protocol of the servers of a cluster called `books`. */
  readonly cluster?: readonly number[];
}

export interface ClickHouseServer extends TestServer {
  /** Where other servers of its cluster find it. */
  readonly nativePort: number;
}

/** Debian's, with users `admin`, and `reader` and `careful`, who are bound by the profile. */
export async function clickhouseServer(options: ClickHouseOptions = {}): Promise<ClickHouseServer> {
  const program = programs.installed(programs.clickhouse, 'ClickHouse');
  const { dir, tls, own, as } = home('clickhouse');
  own('users.xml', usersXml(options.profile ?? {}));
  const taken = { native: 0 };
  const { server, port } = await startOnFreePort((free) => {
    taken.native = free + 1;
    own('config.xml', configXml(dir, { ...options, certificate: tls, port: free }));
    return supervise(program, [`--config-file=${path.join(dir, 'config.xml')}`], {
      as,
      ready: /Ready for connections/,
      polite: 'SIGTERM',
    });
  });
  return {
    ...served(dir, server, { port, scheme: options.tls === true ? 'https' : 'http', ca: tls.ca }),
    nativePort: taken.native,
  };
}

function served(
  dir: string,
  server: Process,
  { port, scheme, ca }: { readonly port: number; readonly scheme: string; readonly ca: string },
): TestServer {
  const url: TestServer['url'] = (of = {}) =>
    urlOf(scheme, { user: 'admin', password, port, database: 'default', ...of });
  return {
    ...server,
    port,
    socket: '',
    user: 'admin',
    password,
    caFile: ca,
    url,
    run: async (sql, database = 'default') => await run(url({ database, host: 'localhost' }), ca, sql),
    [Symbol.asyncDispose]: () => leave(dir, server, 'SIGKILL'),
  };
}

/** Runs one statement, and gives its rows. */
async function run(at: string, ca: string, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { origin, username, password: secret, pathname, protocol } = new URL(at);
  const dispatcher = new Agent({
    headersTimeout: 0,
    ...(protocol === 'https:' && { connect: { ca: readFileSync(ca) } }),
  });
  try {
    const { statusCode, body } = await request(`${origin}/?database=${pathname.slice(1)}&default_format=JSON`, {
      method: 'POST',
      dispatcher,
      headers: {
        authorization: `Basic ${Buffer.from(`${username}:${decodeURIComponent(secret)}`).toString('base64')}`,
      },
      body: sql,
    });
    const said = await body.text();
    if (statusCode !== 200) throw new Error(`${sql.slice(0, 300)}: ${said}`);
    return said === '' ? [] : (JSON.parse(said) as { data: Readonly<Record<string, unknown>>[] }).data;
  } finally {
    await dispatcher.close();
  }
}

function usersXml(profile: Readonly<Record<string, string>>): string {
  const user = (name: string, of: string, word: string): string =>
    `<${name}><password>${word}</password><networks><ip>::/0</ip></networks><profile>${of}</profile><quota>default</quota></${name}>`;
  const settings = Object.entries(profile).map(([name, value]) => `<${name}>${value}</${name}>`);
  return `<yandex>
  <profiles><default/><bound>${settings.join('')}</bound></profiles>
  <users>
    ${user('default', 'default', '')}
    ${user('admin', 'default', password.replaceAll('&', '&amp;'))}
    ${user('reader', 'bound', 'reader-pass')}
  </users>
  <quotas><default/></quotas>
</yandex>`;
}

interface Config extends ClickHouseOptions {
  readonly certificate: { readonly cert: string; readonly key: string };
  readonly port: number;
}

/** Its own zone is far from UTC: nothing may depend on it. */
function configXml(dir: string, { tls, cluster = [], certificate, port }: Config): string {
  const folder = (name: string): string => path.join(dir, name, '/');
  const replicas = cluster.map(
    (native) => `<shard><replica><host>127.0.0.1</host><port>${native}</port></replica></shard>`,
  );
  return `<yandex>
  <logger><level>information</level><console>1</console></logger>
  ${tls === true ? `<https_port>${port}</https_port>` : `<http_port>${port}</http_port>`}
  <tcp_port>${port + 1}</tcp_port>
  <listen_host>127.0.0.1</listen_host>
  <openSSL><server>
    <certificateFile>${certificate.cert}</certificateFile><privateKeyFile>${certificate.key}</privateKeyFile>
    <verificationMode>none</verificationMode>
  </server></openSSL>
  <path>${folder('data')}</path><tmp_path>${folder('tmp')}</tmp_path><format_schema_path>${folder('schemas')}</format_schema_path>
  <users_config>${path.join(dir, 'users.xml')}</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  <mark_cache_size>50000000</mark_cache_size>
  <timezone>Asia/Tokyo</timezone>
  <remote_servers>${replicas.length === 0 ? '' : `<books>${replicas.join('')}</books>`}</remote_servers>
</yandex>`;
}

/** The newest, without users or TLS: for what SQL gives. */
export async function newestClickhouse(): Promise<TestServer> {
  const script = programs.installed(programs.newestClickhouse, 'test/support/newest-clickhouse');
  const { dir, tls } = home('newest-clickhouse');
  const data = path.join(dir, 'data');
  mkdirSync(data);
  const { server, port } = await startOnFreePort((free) =>
    supervise(process.execPath, [script, data, String(free)], {
      as: undefined,
      ready: /ready/,
      polite: 'SIGTERM',
    }),
  );
  return served(dir, server, { port, scheme: 'http', ca: tls.ca });
}
