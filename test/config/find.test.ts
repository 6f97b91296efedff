import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { findConfigFile } from '../../src/config/load.ts';
import { loadConfig } from '../../src/config/load.ts';
import { AgentError } from '../../src/core/errors.ts';
import { directory } from '../support/config-world.ts';

describe('finding the file', () => {
  const place = (...files: string[]): string => {
    const cwd = directory();
    for (const file of files) {
      mkdirSync(path.dirname(path.join(cwd, file)), { recursive: true });
      writeFileSync(path.join(cwd, file), '');
    }
    return cwd;
  };

  test('--config, else $DRIVER_SYNC_CONFIG, else the usual places', () => {
    const cwd = place('a.yaml', 'b.yaml', 'driver-sync.yaml', 'config/driver-sync.yaml');
    const env = { DRIVER_SYNC_CONFIG: 'b.yaml' };
    expect(findConfigFile({ flag: 'a.yaml', env, cwd })).toBe(path.join(cwd, 'a.yaml'));
    expect(findConfigFile({ env, cwd })).toBe(path.join(cwd, 'b.yaml'));
    expect(findConfigFile({ env: { DRIVER_SYNC_CONFIG: '' }, cwd })).toBe(path.join(cwd, 'driver-sync.yaml'));
    const other = place('config/driver-sync.yaml');
    expect(findConfigFile({ env: {}, cwd: other })).toBe(path.join(other, 'config/driver-sync.yaml'));
  });

  test('a file that is named and does not exist is missing, even where another one exists', () => {
    const cwd = place('driver-sync.yaml');
    const missing = (): string => findConfigFile({ env: { DRIVER_SYNC_CONFIG: 'c.yaml' }, cwd });
    expect(missing).toThrow(`no config file: ${path.join(cwd, 'c.yaml')} does not exist (from $DRIVER_SYNC_CONFIG)`);
  });

  test.skipIf(existsSync('/etc/driver-sync/config.yaml'))('the failure says where it looked and what to do', () => {
    const cwd = place();
    const failure = failureOf(() => findConfigFile({ env: {}, cwd }));
    expect(failure).toBeInstanceOf(AgentError);
    expect(failure).toMatchObject({
      code: 'config.missing',
      exit: 78,
      hint: expect.stringContaining('driver-sync init'),
    });
    for (const looked of ['driver-sync.yaml', 'config/driver-sync.yaml']) {
      expect(failure).toMatchObject({ message: expect.stringContaining(path.join(cwd, looked)) });
    }
    expect(failure).toMatchObject({ message: expect.stringContaining('/etc/driver-sync/config.yaml') });
  });
});

function failureOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

test('a directory in the place of the file is a problem like others', () => {
  const file = directory();
  expect(loadConfig(file, { env: {}, secrets: 'required' }).problems).toEqual([
    {
      file,
      line: 1,
      column: 1,
      path: '',
      message: 'the config is a directory',
      hint: 'name the file, such as driver-sync.yaml in it',
    },
  ]);
});
