import { defineConfig } from 'vitest/config';
import { orderSeed } from './test/support/seeds.ts';

// Plain `npx vitest` runs on the machine's own Node, and SQLite's binding crashes an older one without a word.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 22)) {
  console.error(`the tests need Node 22.22 or newer and this is ${process.versions.node}; "npm test" brings its own`);
  process.exit(64);
}

// As bin/driver-sync.js does, before a worker starts.
process.env.TZ = 'UTC';

const unit = ['test/core/**/*.test.ts', 'test/config/**/*.test.ts'];
const endToEnd = 'test/**/*.e2e.test.ts';

export default defineConfig({
  test: {
    setupFiles: ['test/support/setup.ts'],
    // A file falls into one of the two by its folder and its name.
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: unit,
          exclude: [endToEnd],
          setupFiles: ['test/support/within-the-process.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'world',
          include: ['test/**/*.test.ts'],
          exclude: unit.map((pattern) => pattern.replace('*.test', '!(*.e2e).test')),
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
    ],
    // Processes, not threads: tests send signals, change the working directory of children and load native code.
    pool: 'forks',
    maxWorkers: 2,
    // These catch what hangs, and nothing else: a machine that is busy with something else may take ten times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // No test may lean on another. The order is mixed, and the same each time.
    sequence: { shuffle: true, seed: orderSeed },
    reporters: ['default'],
  },
});
