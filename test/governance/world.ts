import { makeWorkbook } from '../setup/credentials.ts';
import { useStoreWithWorker } from '../workflows/storeWithWorker.ts';

/** API and worker for the tests of one file, with workbooks of their own. Called at the top of a file. */
export async function useGovernance() {
  const store = await useStoreWithWorker();
  const { api, owner } = store;
  return { store, api, owner, makeWorkbook: () => makeWorkbook(owner.client, 'Governed') };
}
