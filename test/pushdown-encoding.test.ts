/** Pushdown to a PostgreSQL database whose encoding lacks most characters. */
import { expect, test } from 'vitest';
import { plainDecimal } from '../src/core/decimal.ts';
import type { Mapping } from '../src/core/settings.ts';
import { type Template, parseTemplate } from '../src/core/template.ts';
import { readOutcome } from './pushdown-world.ts';
import { cannotPostgres, postgresName, postgresServer } from './servers.ts';

function template(text: string): Template {
  const parsed = parseTemplate(text);
  if (!('template' in parsed)) throw new Error(parsed.problem);
  return parsed.template;
}

const format = { formats: ['iso'], locales: ['en'], timezone: undefined, fiscalYear: undefined };
const mapping: Mapping = {
  where: [],
  missing: [''],
  fillDown: [],
  unpivot: undefined,
  maps: {},
  drivers: [
    {
      id: undefined,
      path: [template('{account}')],
      time: { from: template('{day}'), format },
      value: { from: template('{amount}'), format: plainDecimal },
      spread: undefined,
      rule: 'sum',
    },
  ],
};

test.skipIf(cannotPostgres)(`a database in LATIN1 is collapsed as it is read plainly (${postgresName})`, async () => {
  await using server = await postgresServer();
  await server.run("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
  await server.run(
    `CREATE TABLE t (account text, day date, amount numeric(9, 2));
    INSERT INTO t VALUES ('é', '2026-01-01', 1), ('é', '2026-01-02', 2), (chr(160), '2026-01-02', 4), ('b', '2026-01-02', 8)`,
    'latin',
  );
  const place = { type: 'postgres', keys: { url: server.url({ database: 'latin' }) }, dir: '/', write: async () => {} };
  const reading = { query: 'SELECT account, day, amount FROM t ORDER BY day', mapping, timezone: 'UTC' };
  const plain = await readOutcome(place, reading, 'plain');
  const pushed = await readOutcome(place, reading, 'pushdown');
  expect(plain).toMatchObject({ rejects: 1, drivers: [{ id: 'b' }, { id: 'é' }] });
  expect(pushed).toEqual({ ...plain, rows: 3, collapsed: 2 });
});
