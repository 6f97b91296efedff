/** A pgbouncer before a PostgreSQL: each transaction may get another connection of a few. */
import { installed, pgbouncer } from './server-programs.ts';
import { type TestServer, home, isChecked, leave, startOnFreePort, supervise, urlOf } from './servers.ts';

export const cannotPool = !isChecked && pgbouncer === undefined;
export const poolerName = cannotPool ? 'pgbouncer, which is not installed' : 'pgbouncer';

export interface Pooler extends AsyncDisposable {
  /** The administrator's url of the database `postgres`. */
  readonly url: string;
}

/** @param server lets its administrator in without a password from this machine */
export async function poolerOf(server: TestServer): Promise<Pooler> {
  const program = installed(pgbouncer, 'pgbouncer');
  const { dir, own, as } = home('postgres');
  const users = own('users', '"admin" ""\n');
  const configAt = (port: number): string =>
    own(
      'pgbouncer.ini',
      [
        '[databases]',
        `* = host=127.0.0.1 port=${server.port}`,
        '[pgbouncer]',
        `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
        `auth_type = trust\nauth_file = ${users}`,
        'pool_mode = transaction\ndefault_pool_size = 4\nserver_reset_query =',
        '',
      ].join('\n'),
    );
  const { server: started, port } = await startOnFreePort((free) =>
    supervise(program, [configAt(free)], { as, ready: /process up/, polite: 'SIGINT' }),
  );
  return {
    url: urlOf('postgres', {
      user: 'admin',
      password: 'none',
      port,
      database: 'postgres',
      parameters: 'sslmode=disable',
    }),
    [Symbol.asyncDispose]: () => leave(dir, started, 'SIGKILL'),
  };
}
