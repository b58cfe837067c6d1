import { defineConfig } from 'vitest/config';
import LongestFirst from './test/setup/longestFirst.ts';

/** Pure functions: they share the modules that were loaded, and need neither files nor services. */
const core = ['test/{core,corpus,structuring}/**/*.test.ts'];
/** They read and write files, but need no PostgreSQL and no Temporal. */
const files = ['test/docs.test.ts', 'test/{builds,deploy,formats,lineage,measured,parquet,python,xlsx}/**/*.test.ts'];
/** The same, but the servers that stand in for S3 do not share a process with others. */
const blobs = ['test/blobs/**/*.test.ts'];
/** Everything else: API, worker and what they need, over a database of each file's own. What one file has loaded serves the next. */
const services = ['test/setup/services.ts'];

export default defineConfig({
  test: {
    // Processes, not threads: DuckDB and Temporal bring native code, and some tests kill what they start.
    pool: 'forks',
    // One more than the cores that the suite is meant for: somebody always waits for PostgreSQL, Temporal or a process to start.
    maxWorkers: 3,
    // How long is waited says when to give up, not how quick things are: a machine may be many times as busy as another. What is
    // waited for within a test gives up first, since it knows what is missing.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 120_000, interval: 50 } },
    teardownTimeout: 60_000,
    // Within a file in the order written: many tests tell a story.
    sequence: { shuffle: false, concurrent: false, sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: 'core', include: core, isolate: false } },
      { extends: true, test: { name: 'files', include: files, isolate: false } },
      { extends: true, test: { name: 'blobs', include: blobs } },
      {
        extends: true,
        test: {
          name: 'services',
          include: ['test/**/*.test.ts'],
          exclude: [...core, ...files, ...blobs],
          isolate: false,
          globalSetup: services,
        },
      },
    ],
  },
});
