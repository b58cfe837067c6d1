import { afterAll } from 'vitest';
import { startWorker } from '../../activities/worker.ts';
import { openTestStore, type TestStore } from '../tables/store.ts';

/** A store for the tests of one file, with a worker that does what edits start. Called at the top of a file: inside a hook, its own hook would not run. */
export async function useStoreWithWorker(env: Record<string, string> = {}): Promise<TestStore> {
  const store = await openTestStore(env);
  const worker = await startWorker(store.api.config);
  afterAll(async () => {
    await worker.stop();
    await store.stop();
  });
  return store;
}
