import { defineConfig } from 'vitest/config';

// Plain `npx vitest` runs on the machine's own Node, and SQLite's binding crashes an older one without a word.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 22)) {
  console.error(`the tests need Node 22.22 or newer and this is ${process.versions.node}; "npm test" brings its own`);
  process.exit(64);
}

// As bin/driver-sync.js does, before a worker starts.
process.env.TZ = 'UTC';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Processes, not threads: tests send signals, change the working directory of children and load native code.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // No test may lean on another. A failing order can be had again with `--sequence.seed`, which the run prints.
    sequence: { shuffle: true },
    reporters: ['default'],
  },
});
