import { DomainError } from '../../core/errors.ts';
import type { TestStore } from '../tables/store.ts';
import { useStoreWithWorker } from '../workflows/storeWithWorker.ts';

/** Long enough for a small run on a busy machine. */
const limits = { SVC_PYTHON_TIME_MS: '10000', SVC_PYTHON_MEMORY_BYTES: String(256 * 1024 ** 2) };

/** A store with a worker that finds the programs of this machine. Null where Python cannot be run, which is said loudly. */
export async function usePythonStore(): Promise<TestStore | null> {
  const { PATH = '', HOME = '', XDG_CACHE_HOME = '' } = process.env;
  const store = await useStoreWithWorker({ PATH, HOME, XDG_CACHE_HOME, ...limits });
  try {
    await store.services.python();
    return store;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    console.error(`\n!!! TESTS OF PYTHON TRANSFORMS ARE SKIPPED: ${error.detail} ${error.suggestedFix}\n`);
    return null;
  }
}
