import type { Principal } from '../../core/access/principal.ts';
import { cutPage, decodeIdCursor, type Page, type PageQuery, usualLimit } from '../../core/paging.ts';
import type { AccountRecord } from '../../store/pg/accounts.ts';
import type { Services } from '../../store/services.ts';
import { listReachableAccounts } from '../access.ts';

/** The default account first, then the others by age. A cursor stays valid after its account is deleted. */
export async function pageAccounts(services: Services, principal: Principal, query: PageQuery): Promise<Page<AccountRecord>> {
  const after = decodeIdCursor(query.cursor, 'acc');
  const all = await listReachableAccounts(services, principal);
  const isAfter = (account: AccountRecord) => account.kind !== 'default' && (account.id > (after ?? '') || all[0]?.id === after);
  return cutPage(after === null ? all : all.filter(isAfter), query.limit ?? usualLimit, (account) => [account.id]);
}
