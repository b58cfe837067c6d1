import type { Principal } from '../../core/access/principal.ts';
import type { StorageUse } from '../../core/storage/use.ts';
import { findMe, type MeRow } from '../../store/pg/me.ts';
import type { Services } from '../../store/services.ts';

export interface DescribedSelf extends MeRow {
  storage: StorageUse;
}

/** What the service tells a principal about itself, beyond its credential. */
export async function describeSelf(services: Services, { userId, accountId }: Principal): Promise<DescribedSelf> {
  const [me, storage] = await Promise.all([findMe(services.db, userId, accountId), services.storage.read(accountId)]);
  return { ...me, storage };
}
