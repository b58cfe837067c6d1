import { join } from 'node:path';
import { type FirstOwner, provisionFirstOwner } from '../activities/identity/provisionFirstOwner.ts';
import { type Config, requireServices } from '../store/config.ts';
import { migrateDatabase } from '../store/pg/migrate.ts';
import { openServices } from '../store/services.ts';
import { writeSecretFile } from './embedded/secrets.ts';

/** The first owner, and the file that keeps their token. */
export interface FirstLogin extends FirstOwner {
  tokenPath: string;
}

/** What must be in the database before the API and the workers start: tables and, in the embedded one only, a first owner. */
export async function prepare(config: Config, options: { firstOwner: boolean } = { firstOwner: true }): Promise<FirstLogin | null> {
  const services = await openServices(requireServices(config), 'setup');
  try {
    await migrateDatabase(services.db);
    const owner = options.firstOwner ? await provisionFirstOwner(services) : null;
    return owner && keepFirstLogin(config.dataDir, owner);
  } finally {
    await services.close();
  }
}

/** For those who did not see the first start, such as an operator who reads a log. */
function keepFirstLogin(dataDir: string, owner: FirstOwner): FirstLogin {
  const tokenPath = join(dataDir, 'first-token');
  writeSecretFile(tokenPath, owner.token);
  writeSecretFile(join(dataDir, 'first-password'), owner.password);
  return { ...owner, tokenPath };
}
