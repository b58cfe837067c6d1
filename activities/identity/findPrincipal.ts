import type { Principal } from '../../core/access/principal.ts';
import { isId } from '../../core/ids/ids.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { findKnownCredential } from '../../store/pg/credentials.ts';
import { findSessionUser } from '../../store/pg/users.ts';
import type { Services } from '../../store/services.ts';
import { credentialPrincipal, sessionPrincipal } from './authenticate.ts';

export interface FoundPrincipal {
  principal: Principal;
  /** How the credential has ended; null while it lives. */
  ended: 'revoked' | 'expired' | null;
}

/**
 * Who acted earlier, with the rights that they have now: who asked for a job, who opened an upload slot. Null: the credential
 * or its user is not there any more.
 */
export async function findPrincipal(services: Services, userId: string, credentialId: string): Promise<FoundPrincipal | null> {
  return acrossAccounts(async () => {
    if (isId(credentialId, 'tok') || isId(credentialId, 'key')) {
      const known = await findKnownCredential(services.db, credentialId);
      return known && { principal: credentialPrincipal(known), ended: howEnded(known.revokedAt !== null, known.expiresAt) };
    }
    const user = await findSessionUser(services.db, credentialId, userId);
    if (!user) return null;
    // Rows of our sessions are deleted some time after they expired. Sessions of an OIDC issuer have none before they are ended.
    const isGone = !user.known && isId(credentialId, 'ses');
    return { principal: sessionPrincipal(user, credentialId, null), ended: isGone ? 'expired' : howEnded(user.revoked, user.expiresAt) };
  });
}

function howEnded(isRevoked: boolean, expiresAt: Date | null): FoundPrincipal['ended'] {
  if (isRevoked) return 'revoked';
  return expiresAt && expiresAt <= new Date() ? 'expired' : null;
}
