import { defineConfig } from 'vitest/config';

/** Pure functions: they share the modules that were loaded, and need neither files nor services. */
const core = ['test/{core,corpus,structuring}/**/*.test.ts'];
/** They read and write files, but need no PostgreSQL and no Temporal. */
const files = ['test/{blobs,formats,measured,parquet,xlsx}/**/*.test.ts'];

export default defineConfig({
  test: {
    // Processes, not threads: DuckDB and Temporal bring native code, and some tests kill what they start.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    // What is waited for takes longer where other tests run beside it.
    expect: { poll: { timeout: 30_000, interval: 50 } },
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
    // Within a file in the order written: many tests tell a story.
    sequence: { shuffle: false, concurrent: false },
    projects: [
      { extends: true, test: { name: 'core', include: core, isolate: false } },
      { extends: true, test: { name: 'files', include: files } },
      {
        extends: true,
        test: {
          name: 'services',
          include: ['test/**/*.test.ts'],
          exclude: [...core, ...files],
          globalSetup: ['test/setup/services.ts'],
        },
      },
    ],
  },
});
