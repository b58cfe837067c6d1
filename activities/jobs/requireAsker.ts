import type { Principal } from '../../core/access/principal.ts';
import type { BaseRole } from '../../core/access/roles.ts';
import { DomainError } from '../../core/errors.ts';
import { isId } from '../../core/ids/ids.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { findKnownCredential } from '../../store/pg/credentials.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { findSessionUser } from '../../store/pg/users.ts';
import { findWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { requireWorkbook } from '../access.ts';
import { credentialPrincipal, sessionPrincipal } from '../identity/authenticate.ts';

/**
 * Who asked for the job, with what they may do now. A job keeps who asked and not what they might: whoever has lost the
 * right since, by role, membership or a revoked credential, is refused before the work takes effect.
 */
export async function requireAsker(services: Services, job: JobRecord, needed: BaseRole): Promise<Principal> {
  const principal = await acrossAccounts(() => findAsker(services, job));
  // The work on a workbook that is gone ends by itself, whoever asked for it.
  if (job.workbookId === null || !(await findWorkbook(services.db.orm, job.workbookId))) return principal;
  try {
    await requireWorkbook(services, principal, job.workbookId, needed);
    return principal;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'not-found') throw noLongerAllowed('has no access to the workbook any more');
    throw error;
  }
}

function noLongerAllowed(why: string): DomainError {
  return new DomainError('insufficient-role', `Who asked for this work ${why}.`, 'Let somebody who may change the workbook ask for it.');
}

/**
 * A session that has ended, or a token that has expired meanwhile, was good when it asked, and its user is still who they
 * were. A token or key that somebody has revoked is to have no effect any more.
 */
async function findAsker(services: Services, { userId, actor }: JobRecord): Promise<Principal> {
  const credentialId = actor?.credential ?? '';
  if (isId(credentialId, 'tok') || isId(credentialId, 'key')) {
    const known = await findKnownCredential(services.db, credentialId);
    if (!known || known.revokedAt) throw noLongerAllowed('did so with a credential that was revoked since');
    return credentialPrincipal(known);
  }
  const user = await findSessionUser(services.db, credentialId, userId);
  if (!user) throw noLongerAllowed('has no account any more');
  return sessionPrincipal(user, credentialId, null);
}
