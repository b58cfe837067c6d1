import { dayOf } from '../../core/usage/days.ts';
import { listAccountIds } from '../../store/pg/accounts.ts';
import { findStored } from '../../store/pg/storage.ts';
import { putUsageSamples } from '../../store/pg/usage.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { type Walked, walkAccounts } from '../walkAccounts.ts';

/** Writes down what accounts store now. A later sample of the same day replaces it, so it can be repeated or interrupted anywhere. */
export async function sampleUsage(services: Services, after: string, activity: ActivityContext): Promise<Walked> {
  const list = (from: string, limit: number) => listAccountIds(services.db.pool, from, limit);
  return walkAccounts(after, activity, list, async (ids) => {
    const at = new Date();
    const samples = await Promise.all(
      ids.map(async (accountId) => {
        const { tables, sources, tableCount } = await findStored(services.db, accountId);
        return { accountId, day: dayOf(at), storageBytes: tables + sources, tables: tableCount, at };
      }),
    );
    await putUsageSamples(services.db.orm, samples);
  });
}
