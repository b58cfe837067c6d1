import { NameRegistry } from '../../core/structuring/names.ts';
import { listTakenNames } from '../../store/pg/artifacts.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { brokenConstraint } from '../../store/pg/database.ts';

/** Gives out names that nothing in the workbook has. */
export async function openTableNames(tx: Tx, workbookId: string): Promise<NameRegistry> {
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
