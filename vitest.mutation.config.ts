/** The tests that `npm run mutation` judges: those without processes, servers and browsers, one after the other. */
import { defineConfig } from 'vitest/config';

process.env.TZ = 'UTC';

export default defineConfig({
  test: {
    include: (process.env['MUTATION_TESTS'] ?? 'test/core/**/*.test.ts').split(' '),
    exclude: ['test/**/*.e2e.test.ts', 'node_modules/**'],
    setupFiles: ['test/support/setup.ts'],
    isolate: false,
    testTimeout: 60_000,
  },
});
