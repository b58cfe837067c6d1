import { provisionFirstOwner } from '../activities/identity/provisionFirstOwner.ts';
import { type Config, requireServices } from '../store/config.ts';
import { prepareChildBundle } from '../store/duckdb/sandbox/program.ts';
import { migrateDatabase } from '../store/pg/migrate.ts';
import { openServices } from '../store/services.ts';
import { prepareWorkflowBundle } from '../store/temporal/bundle.ts';

export interface Prepared {
  firstToken: string | null;
  firstEmail: string | null;
  firstPassword: string | null;
}

/** What must be there before the API and the workers start: tables, a first owner (embedded default only), the code of
 * workflows and query processes. */
export async function prepare(config: Config, options: { firstOwner: boolean } = { firstOwner: true }): Promise<Prepared> {
  const services = await openServices(requireServices(config), 'setup');
  try {
    const [, , owner] = await Promise.all([
      prepareWorkflowBundle(),
      prepareChildBundle(),
      migrateDatabase(services.db).then(() => (options.firstOwner ? provisionFirstOwner(services) : null)),
    ]);
    return { firstToken: owner?.token ?? null, firstEmail: owner?.email ?? null, firstPassword: owner?.password ?? null };
  } finally {
    await services.close();
  }
}
