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

test.each([
  ['25P03', 'terminating connection due to idle-in-transaction timeout', 'ledger.unreachable'],
  ['25P04', 'terminating connection due to transaction timeout', 'ledger.unreachable'],
  ['54000', 'stack depth limit exceeded', 'ledger.unreachable'],
  ['P0001', 'no writes on Sundays', 'ledger.refused'],
])('%s of the server ends a turn, and not the agent', (code, message, expected) => {
  const said = Object.assign(new Error(message), { severity: 'FATAL', code });
  expect(translatedShared(said, { label: 'postgres://db/ds' })).toMatchObject({
    code: expected,
    message: expect.stringContaining(message),
  });
});
