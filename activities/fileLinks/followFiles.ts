import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { describeErrorForLog } from '../../store/log.ts';
import { inAccount } from '../../store/pg/accountScope.ts';
import { commit } from '../../store/pg/commit.ts';
import { claimDueLinks, type ListedLink } from '../../store/pg/fileLinks.ts';
import { makeId, type Services } from '../../store/services.ts';
import { requireScopes, requireWorkbook } from '../access.ts';
import type { ActivityContext } from '../activityContext.ts';
import { findPrincipal } from '../identity/findPrincipal.ts';
import { startJobs } from '../jobs/startJob.ts';
import { retryOnMove } from '../tables/editTable.ts';
import { feedLink } from './feedLink.ts';
import { fetchLinkedFile } from './fetchLinkedFile.ts';
import { requireDriveFile } from './setFollowing.ts';

const linksAtOnce = 20;

/** Looks at the drive files that are due, in the name of who follows them. Returns how many. */
export async function followFiles(services: Services, { signal }: ActivityContext): Promise<number> {
  let looked = 0;
  for (;;) {
    const due = await claimDueLinks(services.db.orm, new Date(), linksAtOnce);
    if (due.length === 0) return looked;
    for (const link of due) {
      signal?.throwIfAborted();
      looked += 1;
      try {
        await inAccount(link.accountId, () => lookAt(services, link, signal));
      } catch (error) {
        // It is looked at again in its time: a drive may be away, or its owner may let the service in again.
        const why = error instanceof DomainError ? { problem: error.code } : describeErrorForLog(error);
        services.log.warn({ linkId: link.id, ...why }, 'followed file not looked at');
      }
    }
  }
}

async function lookAt(services: Services, link: ListedLink, signal?: AbortSignal): Promise<void> {
  const { userId, credential } = link;
  const place = await requireDriveFile(services.db.orm, link);
  const principal = await requireFollower(services, link);
  const workbook = await requireWorkbook(services, principal, link.workbookId, 'editor');
  const { file, ...info } = await fetchLinkedFile(services, principal, workbook, { ...place, signal });
  const actor = { name: link.actor, userId, credential, requestId: makeId('req') };
  const fed = await retryOnMove(() =>
    commit(
      services,
      actor,
      (tx) => feedLink(tx, link, file, { ...info, kind: 'sync' }),
      async (result) => result,
    ),
  );
  if ('job' in fed) await startJobs(services, userId);
}

/** Who follows the file, with what they may do now. A session or token that ended by itself still counts, as it does for jobs. */
async function requireFollower(services: Services, { userId, credential }: ListedLink): Promise<Principal> {
  const found = await findPrincipal(services, userId, credential);
  if (!found || (found.ended === 'revoked' && found.principal.kind !== 'session'))
    throw new DomainError('outside-reach', 'Who follows the file has no access any more.', 'Let somebody else follow it.');
  requireScopes(found.principal, ['workbooks:write', 'cloud-files:read']);
  return found.principal;
}
