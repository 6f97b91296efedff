import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { fromBuilt } from './test/support/from-built.ts';
import { orderSeed } from './test/support/seeds.ts';

// Plain `npx vitest` runs on the machine's own Node, and SQLite's binding crashes an older one without a word.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 22)) {
  console.error(`the tests need Node 22.22 or newer and this is ${process.versions.node}; "npm test" brings its own`);
  process.exit(64);
}

// As bin/driver-sync.js does, before a worker starts.
process.env.TZ = 'UTC';

// The machine's own habits are no part of any test.
process.umask(0o022);
for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY']) {
  delete process.env[name];
  delete process.env[name.toLowerCase()];
}

const unit = ['test/core/**/*.test.ts', 'test/config/**/*.test.ts'];
const endToEnd = 'test/**/*.e2e.test.ts';
/** For `npm run campaigns`: what takes minutes all together. */
const long = process.env['CAMPAIGN'] === undefined ? ['test/proof/**', 'test/**/*.long.e2e.test.ts'] : [];

const globalSetup = ['test/support/global-setup.ts'];

/**
 * The buffers of hundreds of agents in one process have V8 collect all objects again and again, which was a sixth of the CPU time. Not for
 * tests that start processes: the peak of one begins with that of whoever starts it.
 */
const roomy = ['--external-memory-accounted-in-global-limit', '--initial-heap-size=800'];

/** Starting a process for each file costs half a second, so only files that start processes themselves have one each. */
const projects = [
  // Starts processes, servers and browsers, and waits for them.
  {
    name: 'e2e',
    include: [endToEnd],
    exclude: long,
    globalSetup: [...globalSetup, 'test/support/built.ts'],
  },
  // The rest of the rooms, with a server in this process at most.
  {
    name: 'rooms',
    include: ['test/**/*.test.ts'],
    exclude: [endToEnd, ...unit, ...long],
    isolate: false,
    execArgv: roomy,
    globalSetup,
  },
  {
    name: 'unit',
    include: unit,
    exclude: [endToEnd],
    isolate: false,
    execArgv: roomy,
    setupFiles: ['test/support/within-the-process.ts'],
  },
];

/** What takes a worker longest begins, so that all of them end at about the same time. */
const longest = [
  'sources/contract.long.e2e',
  'sources/duckdb.long.e2e',
  'cli/signals.long.e2e',
  'cli/embedded.e2e',
  'emulator/console-browser.long.e2e',
  'edges/machines.long.e2e',
  'app/crash.long.e2e',
  'app/appends',
  'sources/scan',
  'sources/csv',
];

/** Mixes the files, the same each time. */
class MixedWithinProjects extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ project, moduleId }: TestSpecification): string => {
      const mixed = createHash('sha256').update(`${orderSeed} ${path.relative(import.meta.dirname, moduleId)}`);
      const isLong = longest.some((name) => moduleId === path.join(import.meta.dirname, 'test', `${name}.test.ts`));
      return [projects.findIndex(({ name }) => name === project.name), isLong ? 0 : 1, mixed.digest('hex')].join(' ');
    };
    return files
      .map((file) => ({ file, place: placeOf(file) }))
      .toSorted((a, b) => (a.place < b.place ? -1 : 1))
      .map(({ file }) => file);
  }
}

export default defineConfig({
  test: {
    setupFiles: ['test/support/setup.ts'],
    projects: projects.map((test) => ({ extends: true, plugins: test.name === 'e2e' ? [fromBuilt] : [], test })),
    // Processes, not threads: tests send signals, change the working directory of children and load native code.
    pool: 'forks',
    // Tests wait for servers, disks and each other's processes: a third worker has both cores busy meanwhile.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // An agent keeps the young generation of its process small. With hundreds of them in one process, tests took a sixth longer.
    execArgv: ['--min-semi-space-size=16'],
    // These catch what hangs, and nothing else: a machine that is busy with something else may take ten times as long.
    testTimeout: process.env.CAMPAIGN === undefined ? 180_000 : 1_800_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // No test may lean on another.
    sequence: { shuffle: { files: false, tests: true }, seed: orderSeed, sequencer: MixedWithinProjects },
    reporters: ['default'],
  },
});
