import { chmodSync, closeSync, existsSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { findConfigFile } from '../../src/config/load.ts';
import { loadConfig } from '../../src/config/load.ts';
import { AgentError } from '../../src/core/errors.ts';
import { anybody, asAnybody } from '../support/anybody.ts';
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

  test('a place that leads nowhere, as to a share that is not mounted, is not passed over', () => {
    const cwd = place('config/driver-sync.yaml');
    symlinkSync('/mnt/away/driver-sync.yaml', path.join(cwd, 'driver-sync.yaml'));
    const file = path.join(cwd, 'driver-sync.yaml');
    expect(findConfigFile({ env: {}, cwd })).toBe(file);
    expect(problemOf(file)).toBe(`the config cannot be read (${file} leads nowhere, to /mnt/away/driver-sync.yaml)`);
  });

  test('nor is one in a directory that leads nowhere', () => {
    const cwd = place();
    symlinkSync('/mnt/away/config', path.join(cwd, 'config'));
    const file = path.join(cwd, 'config/driver-sync.yaml');
    expect(findConfigFile({ env: {}, cwd })).toBe(file);
    expect(problemOf(file)).toBe(
      `the config cannot be read (${path.join(cwd, 'config')} leads nowhere, to /mnt/away/config)`,
    );
  });

  test('a link to a directory without a config is passed over, and so is a file in the place of a directory', () => {
    const cwd = place('other/driver-sync.yaml', 'else/a.csv');
    symlinkSync('else', path.join(cwd, 'config'));
    for (const flag of ['config/driver-sync.yaml', 'else/a.csv/driver-sync.yaml']) {
      expect(() => findConfigFile({ flag, env: {}, cwd })).toThrow('does not exist');
    }
  });

  test('one in a directory that this user may not enter is the one that is meant', async () => {
    const cwd = place('closed/driver-sync.yaml', 'config/driver-sync.yaml');
    symlinkSync('closed/driver-sync.yaml', path.join(cwd, 'driver-sync.yaml'));
    chmodSync(cwd, 0o755);
    const closed = path.join(cwd, 'closed');
    chmodSync(closed, 0);
    const named = { flag: path.join(closed, 'driver-sync.yaml'), env: {}, cwd };
    const user = process.getuid?.() === 0 ? anybody : process.getuid?.();
    const said = `the config cannot be read (user id ${user} may not enter ${closed})`;
    for (const options of [named, { env: {}, cwd }, { env: { DRIVER_SYNC_CONFIG: named.flag }, cwd }]) {
      expect(await asAnybody(() => problemOf(findConfigFile(options)))).toBe(said);
    }
    chmodSync(closed, 0o755);
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

function problemOf(file: string): string | undefined {
  return loadConfig(file, { env: {}, secrets: 'required' }).problems[0]?.message;
}

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

test.runIf(process.platform === 'linux')(
  'a config from a pipe has no folder for the state directory, and has to name one',
  () => {
    const file = path.join(directory(), 'a.yaml');
    const found = (top: string, secrets: 'required' | 'unused' = 'required'): readonly string[] => {
      writeFileSync(file, `${top}destination: emulator\nsources: {}\n`);
      const fd = openSync(file, 'r');
      try {
        return loadConfig(`/dev/fd/${fd}`, { env: {}, secrets }).problems.map(
          ({ path: at, message }) => `${at}: ${message}`,
        );
      } finally {
        closeSync(fd);
      }
    };
    const problem = expect.stringMatching(
      /^state: the config comes from \/dev\/fd\/\d+, which is in no folder that could hold the state directory$/,
    );
    expect(found('')).toEqual([problem]);
    expect(found('state: kept\n')).toEqual([problem]);
    expect(found('state: /var/lib/driver-sync\n')).toEqual([]);
    expect(found('', 'unused')).toEqual([]);
  },
);
