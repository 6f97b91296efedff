import { expect, test } from 'vitest';
import { translatedShared } from '../../src/edges/shared/failures.ts';

test('a connection to the ledger that was lost is said in a sentence', () => {
  const lost = new Error('Connection terminated unexpectedly');
  expect(translatedShared(lost, { label: 'postgres://db/ds' })).toMatchObject({
    code: 'ledger.unreachable',
    message:
      'the ledger at postgres://db/ds cannot be reached: the connection was lost (Connection terminated unexpectedly)',
  });
});
