import { DomainError } from '../../core/errors.ts';
import { driveAuthorized } from '../../core/journal/identityNotes.ts';
import { type Drive, DriveFailure, type DriveProvider } from '../../store/drives/drive.ts';
import { inAccount } from '../../store/pg/accountScope.ts';
import { commit } from '../../store/pg/commit.ts';
import { findDriveGrant, putDriveGrant } from '../../store/pg/driveGrants.ts';
import type { Services } from '../../store/services.ts';
import { findPrincipal } from '../identity/findPrincipal.ts';
import { type DriveState, readState, stateExpired } from './driveState.ts';
import { explainFailure, requireDrive, sealTokens } from './useDrive.ts';

/** How it went: whose drive can be read by whom, or that it was refused. */
export type FinishedAuthorization =
  | { outcome: 'authorized'; provider: DriveProvider; driveEmail: string | null; userEmail: string; workbookId: string | null }
  | { outcome: 'refused'; provider: DriveProvider };

interface CameBack {
  provider: DriveProvider;
  state: string;
  code?: string;
  error?: string;
  requestId: string;
}

/** The provider has sent the user back. The state says who it is, and can be used once. */
export async function finishAuthorization(services: Services, given: CameBack): Promise<FinishedAuthorization> {
  const { provider } = given;
  const drive = requireDrive(services, provider);
  const state = readState(services, provider, given.state);
  if (given.error !== undefined) return { outcome: 'refused', provider };
  if (given.code === undefined || given.code === '') throw refuseCode('is required');
  const asker = await findPrincipal(services, state.userId, state.credentialId);
  if (!asker || asker.ended === 'revoked') throw stateExpired(provider, 'Who began the authorization has no access any more.');
  return inAccount(state.accountId, () =>
    storeGrant(services, drive, state, { ...given, code: given.code as string, userEmail: asker.principal.email }),
  );
}

async function storeGrant(
  services: Services,
  drive: Drive,
  state: DriveState,
  { provider, code, requestId, userEmail }: CameBack & { code: string; userEmail: string },
): Promise<FinishedAuthorization> {
  const { userId, accountId, verifier, workbookId } = state;
  const begunAt = new Date(state.begunAt);
  const used = () => stateExpired(provider, 'This authorization has been finished before.');
  const before = await findDriveGrant(services.db.orm, { userId, accountId, provider });
  if (before && before.authorizedAt >= begunAt) throw used();
  const { tokens, email } = await askProvider(drive, code, verifier);
  if (!drive.maySee(tokens.scopes)) return { outcome: 'refused', provider };
  const actor = { name: userEmail, userId, credential: state.credentialId, requestId };
  await commit(services, actor, async (tx) => {
    const grant = { userId, accountId, provider, email, scopes: tokens.scopes, tokens: sealTokens(services, tokens) };
    if (!(await putDriveGrant(tx, { ...grant, authorizedAt: tx.at, updatedAt: tx.at }, begunAt))) throw used();
    tx.note(accountId, driveAuthorized(userId, provider));
  });
  return { outcome: 'authorized', provider, driveEmail: email, userEmail, workbookId };
}

async function askProvider(drive: Drive, code: string, verifier: string) {
  try {
    const tokens = await drive.exchange({ code, verifier });
    return { tokens, email: drive.maySee(tokens.scopes) ? await drive.readEmail(tokens.accessToken) : null };
  } catch (error) {
    if (!(error instanceof DriveFailure)) throw error;
    if (error.reason === 'throttled' || error.reason === 'unavailable') throw explainFailure(error, drive.provider);
    throw refuseCode('was not accepted by the provider');
  }
}

function refuseCode(detail: string): DomainError {
  return new DomainError('validation-failed', `/query/code: ${detail}.`, 'Begin the authorization again.', {
    errors: [{ pointer: '/query/code', detail }],
  });
}
