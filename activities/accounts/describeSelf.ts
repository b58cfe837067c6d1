import type { Principal } from '../../core/access/principal.ts';
import { findMe, type MeRow } from '../../store/pg/me.ts';
import type { Services } from '../../store/services.ts';

/** What the service tells a principal about itself, beyond its credential. */
export async function describeSelf(services: Services, principal: Principal): Promise<MeRow> {
  return findMe(services.db, principal.userId, principal.accountId);
}
