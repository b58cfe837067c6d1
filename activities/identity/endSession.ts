import type { Principal } from '../../core/access/principal.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { revokeSession } from '../../store/pg/users.ts';

/** Revokes the principal's session, wherever its token is used. */
export async function endSession(tx: Tx, { credentialId, userId, expiresAt }: Principal): Promise<void> {
  await revokeSession(tx, { jti: credentialId, userId, expiresAt: expiresAt ?? tx.at });
}
