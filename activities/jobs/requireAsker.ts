import type { Principal } from '../../core/access/principal.ts';
import type { BaseRole } from '../../core/access/roles.ts';
import { DomainError } from '../../core/errors.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { findWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { requireWorkbook } from '../access.ts';
import { findPrincipal } from '../identity/findPrincipal.ts';

/**
 * The principal who asked for the job, with its current rights. A job stores who asked, not what they could do: if they have
 * lost the right since (role, membership, revoked credential), the work is refused before it takes effect.
 */
export async function requireAsker(services: Services, job: JobRecord, needed: BaseRole): Promise<Principal> {
  const principal = await findAsker(services, job);
  // Work on a deleted workbook ends by itself.
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

/** A session or token that has merely ended by itself still counts: it was valid when it asked. A revoked token or key does not. */
async function findAsker(services: Services, { userId, actor }: JobRecord): Promise<Principal> {
  const found = await findPrincipal(services, userId, actor?.credential ?? '');
  if (!found) throw noLongerAllowed('has no account any more');
  if (found.ended === 'revoked' && found.principal.kind !== 'session')
    throw noLongerAllowed('did so with a credential that was revoked since');
  return found.principal;
}
