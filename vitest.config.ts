import { defineConfig } from 'vitest/config';

/** Folders whose tests need no PostgreSQL and no Temporal: none is started for them. */
const pure = ['test/{core,structuring,xlsx}/**/*.test.ts'];
/** Figures over many or large files; as pure, but slow. */
const measured = ['test/measured/**/*.test.ts'];

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
      { extends: true, test: { name: 'core', include: pure } },
      { extends: true, test: { name: 'measured', include: measured } },
      {
        extends: true,
        test: {
          name: 'services',
          include: ['test/**/*.test.ts'],
          exclude: [...pure, ...measured],
          globalSetup: ['test/setup/services.ts'],
        },
      },
    ],
  },
});
