/** Storage of the login: clients, grants, tokens and signing keys. It lives as long as the database. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { JsonWebKey } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { Adapter, AdapterPayload } from 'oidc-provider';

/** Anybody may register clients; the oldest are dropped beyond this many. */
const clientsMax = 1_000;

interface Keys {
  readonly signing: JsonWebKey;
  readonly cookies: string;
}

/** `seq` orders by age; `expires_at` is in UNIX seconds, NULL for never. */
const tables = `
  CREATE TABLE IF NOT EXISTS login (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    model TEXT NOT NULL,
    id TEXT NOT NULL,
    payload TEXT NOT NULL,
    grant_id TEXT,
    uid TEXT,
    expires_at INTEGER,
    UNIQUE (model, id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS login_by_grant ON login (grant_id);
  CREATE INDEX IF NOT EXISTS login_by_uid ON login (model, uid);
  CREATE TABLE IF NOT EXISTS login_keys (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), keys TEXT NOT NULL) STRICT;
`;

interface Row {
  readonly payload: string;
}

export class LoginStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    database.exec(tables);
  }

  /** The signing keys, made at the first call. */
  keys(): Keys {
    const kept = this.#database.prepare<[], { keys: string }>('SELECT keys FROM login_keys').get();
    if (kept !== undefined) return JSON.parse(kept.keys) as Keys;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const signing = { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' };
    const keys: Keys = { signing, cookies: randomBytes(32).toString('base64url') };
    this.#database.prepare<[string]>('INSERT INTO login_keys VALUES (1, ?)').run(JSON.stringify(keys));
    return keys;
  }

  /** The records of one model, such as `AccessToken`. */
  adapter(model: string): Adapter {
    const database = this.#database;
    const find = (column: 'id' | 'uid', value: string): AdapterPayload | undefined => {
      const row = database
        .prepare<[string, string, number], Row>(
          `SELECT payload FROM login WHERE model = ? AND ${column} = ? AND (expires_at IS NULL OR expires_at > ?)`,
        )
        .get(model, value, nowSeconds());
      return row && (JSON.parse(row.payload) as AdapterPayload);
    };
    return {
      upsert: async (id, payload, expiresIn) => this.#upsert(model, { id, payload, expiresIn }),
      find: async (id) => find('id', id),
      findByUid: async (uid) => find('uid', uid),
      // No enabled flow uses user codes.
      findByUserCode: async () => undefined,
      async consume(id) {
        database
          .prepare<[number, string, string]>(
            `UPDATE login SET payload = json_set(payload, '$.consumed', ?) WHERE model = ? AND id = ?`,
          )
          .run(nowSeconds(), model, id);
      },
      async destroy(id) {
        database.prepare<[string, string]>('DELETE FROM login WHERE model = ? AND id = ?').run(model, id);
      },
      async revokeByGrantId(grantId) {
        database.prepare<[string, string]>('DELETE FROM login WHERE model = ? AND grant_id = ?').run(model, grantId);
      },
    };
  }

  #upsert(model: string, { id, payload, expiresIn }: { id: string; payload: object; expiresIn?: number | undefined }) {
    const { grantId = null, uid = null } = payload as { grantId?: string; uid?: string };
    const now = nowSeconds();
    this.#database.transaction(() => {
      this.#database.prepare<[number]>('DELETE FROM login WHERE expires_at <= ?').run(now);
      this.#database
        .prepare<[string, string, string, string | null, string | null, number | null]>(
          `INSERT INTO login (model, id, payload, grant_id, uid, expires_at) VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT (model, id) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id,
             uid = excluded.uid, expires_at = excluded.expires_at`,
        )
        .run(model, id, JSON.stringify(payload), grantId, uid, expiresIn === undefined ? null : now + expiresIn);
      if (model !== 'Client') return;
      this.#database
        .prepare<[number]>(
          `DELETE FROM login WHERE model = 'Client' AND seq NOT IN
             (SELECT seq FROM login WHERE model = 'Client' ORDER BY seq DESC LIMIT ?)`,
        )
        .run(clientsMax);
    })();
  }
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}
