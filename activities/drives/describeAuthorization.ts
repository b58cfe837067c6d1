import { randomBytes } from 'node:crypto';
import type { Principal } from '../../core/access/principal.ts';
import type { DriveProvider } from '../../store/drives/drive.ts';
import { sha256 } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';
import { requireWorkbook } from '../access.ts';
import { writeState } from './driveState.ts';
import { findAccess, requireDrive } from './useDrive.ts';

export interface DriveAuthorization {
  provider: DriveProvider;
  /** Null: the service may read the drive already. */
  authorizeUrl: string | null;
  email: string | null;
}

/** Whether the service may read the principal's drive, and where that is allowed. */
export async function describeAuthorization(
  services: Services,
  principal: Principal,
  { provider, workbookId }: { provider: DriveProvider; workbookId: string | null },
): Promise<DriveAuthorization> {
  const drive = requireDrive(services, provider);
  if (workbookId !== null) await requireWorkbook(services, principal, workbookId, 'viewer');
  const grant = await findAccess(services, principal, provider);
  if (grant) return { provider, authorizeUrl: null, email: grant.email };
  const { userId, accountId, credentialId } = principal;
  const verifier = randomBytes(32).toString('base64url');
  const state = writeState(services, { userId, accountId, credentialId, provider, verifier, workbookId, begunAt: Date.now() });
  return { provider, authorizeUrl: drive.buildAuthorizeUrl({ state, challenge: sha256(verifier).toString('base64url') }), email: null };
}
