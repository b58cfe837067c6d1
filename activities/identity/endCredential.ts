import type { Principal } from '../../core/access/principal.ts';
import { formatReach } from '../../core/access/reach.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { credentialRevoked } from '../../core/journal/identityNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type CredentialRecord, findCredential, revokeCredential } from '../../store/pg/credentials.ts';
import type { Services } from '../../store/services.ts';
import { requireScopes } from '../access.ts';

/** A token that the principal may revoke. It may always revoke itself. */
export async function requireOwnToken(services: Services, principal: Principal, id: string): Promise<CredentialRecord> {
  if (id !== principal.credentialId) requireScopes(principal, ['keys:revoke']);
  const account = principal.kind === 'session' ? {} : { accountId: principal.accountId };
  const token = await findCredential(services.db.orm, { kind: 'access_token', userId: principal.userId, id, ...account });
  if (!token) throw notFound('token');
  requireManages(principal, token);
  return token;
}

/** A key of the account that the principal may revoke. */
export async function requireAccountKey(
  services: Services,
  principal: Principal,
  accountId: string,
  id: string,
): Promise<CredentialRecord> {
  const key = await findCredential(services.db.orm, { kind: 'account_key', accountId, id });
  if (!key) throw notFound('key');
  requireManages(principal, key);
  return key;
}

/** A limited credential manages itself and those with the same limit; others manage the whole account. */
function requireManages({ reach, credentialId }: Principal, other: CredentialRecord): void {
  if (reach.kind === 'account' || other.id === credentialId || other.resource === formatReach(reach)) return;
  throw new DomainError(
    'outside-reach',
    'A pinned credential manages only those that are pinned the same way, and itself.',
    "Use an account-wide credential or the owner's session.",
  );
}

/** Revokes it with what it minted. One revoked before stays as it was, without a journal entry. */
export async function endCredential(tx: Tx, credential: CredentialRecord): Promise<void> {
  for (const revoked of await revokeCredential(tx, credential))
    tx.note(credential.accountId, credentialRevoked(revoked, revoked.id === credential.id ? null : credential.id));
}
