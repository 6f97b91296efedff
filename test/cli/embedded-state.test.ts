/** Why the emulator inside an agent did not start: what passes by itself is no fault of the config. */
import { expect, test } from 'vitest';
import { agentErrorOf } from '../../src/cli/embedded.ts';
import { StateError } from '../../src/emulator/state-error.ts';

test.each([
  ['SQLITE_FULL', 'state.full', 75],
  ['ENOSPC', 'state.full', 75],
  ['EDQUOT', 'state.full', 75],
  ['EACCES', 'state.unwritable', 78],
  ['SQLITE_NOTADB', 'state.unwritable', 78],
  ['held', 'state.locked', 75],
])('%s is %s and ends with %i', (code, expected, exit) => {
  const cause = new StateError(code, 'the state directory cannot be used', { hint: 'do something' });
  const error = agentErrorOf(cause, { state: '/state' }, undefined);
  expect(error.code).toBe(expected);
  expect(error).toMatchObject({ exit, hint: expect.any(String) });
});
