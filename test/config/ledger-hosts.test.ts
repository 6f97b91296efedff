/** `ledger.url` with several hosts. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ledgerShape } from '../../src/config/ledger-keys.ts';

const url = z.object({ url: ledgerShape.url });

test('several hosts are as many addresses, with one label and no password in it', () => {
  const parsed = url.parse({ url: 'postgres://agent:a%2Cb@db-1,db-2:5433,[::1]/books?sslmode=require' });
  const { others = [], ...first } = parsed.url;
  const alike = { user: 'agent', password: 'a,b', database: 'books', sslMode: 'require' };
  expect(first).toMatchObject({ host: 'db-1', port: 5432, ...alike });
  expect(first.label).toBe('postgres://agent@db-1:5432,db-2:5433,[::1]:5432/books');
  expect(others).toMatchObject([
    { host: 'db-2', port: 5433, ...alike, label: 'postgres://agent@db-2:5433/books' },
    { host: '::1', port: 5432, ...alike },
  ]);
});

test('one host has no others', () => {
  expect(url.parse({ url: 'postgres://agent@db-1/books' }).url.others).toBeUndefined();
});

test.each([
  ['postgres://agent@db-1,,db-2/books', 'the url has a comma without a host'],
  ['postgres://agent@db-1,db-2:x/books', 'not a url that can be read'],
  ['postgres://agent:a/b@db-1,db-2/books', 'not a url that can be read'],
])('%s is refused', (text, problem) => {
  expect(url.safeParse({ url: text }).error?.issues).toMatchObject([{ message: problem }]);
});
