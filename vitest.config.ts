import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup/services.ts'],
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
  },
});
