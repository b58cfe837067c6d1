import type { Principal } from '../../core/access/principal.ts';
import { formatReach } from '../../core/access/reach.ts';
import { type Page, type PageQuery, pageById } from '../../core/paging.ts';
import { type CredentialFilter, type ListedCredential, listCredentials } from '../../store/pg/credentials.ts';
import type { Services } from '../../store/services.ts';

/** A session sees all tokens of its user; a token or key those of its account within its reach. */
export async function pageTokens(services: Services, principal: Principal, query: PageQuery): Promise<Page<ListedCredential>> {
  const account = principal.kind === 'session' ? {} : { accountId: principal.accountId, ...sameReach(principal) };
  return pageCredentials(services, { kind: 'access_token', userId: principal.userId, ...account }, query);
}

export async function pageKeys(
  services: Services,
  principal: Principal,
  accountId: string,
  query: PageQuery,
): Promise<Page<ListedCredential>> {
  return pageCredentials(services, { kind: 'account_key', accountId, ...sameReach(principal) }, query);
}

function sameReach({ reach }: Principal): Pick<CredentialFilter, 'resource'> {
  return reach.kind === 'account' ? {} : { resource: formatReach(reach) };
}

function pageCredentials(services: Services, filter: CredentialFilter, query: PageQuery): Promise<Page<ListedCredential>> {
  return pageById(
    query,
    filter.kind === 'access_token' ? 'tok' : 'key',
    (before, limit) => listCredentials(services.db.orm, filter, { before, limit }),
    (record) => record.id,
  );
}
