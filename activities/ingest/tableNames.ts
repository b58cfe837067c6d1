import { NameRegistry } from '../../core/structuring/names/names.ts';
import { listTakenNames, lockNames } from '../../store/pg/artifacts.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { brokenConstraint } from '../../store/pg/database.ts';

/** Gives out names that nothing in the workbook has, and gets until the transaction ends. */
export async function openTableNames(tx: Tx, workbookId: string): Promise<NameRegistry> {
  await lockNames(tx, workbookId);
  const registry = new NameRegistry();
  for (const name of await listTakenNames(tx.client, workbookId)) registry.take(name);
  return registry;
}

const mostTries = 5;

/** Retries if somebody took a name between our check and the insert. */
export async function retryOnTakenName<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tries >= mostTries || brokenConstraint(error) !== 'tables_name') throw error;
    }
  }
}
