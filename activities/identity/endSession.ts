import type { Principal } from '../../core/access/principal.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { revokeSession } from '../../store/pg/users.ts';

/** The session of the principal is no longer good, wherever its token is. */
export async function endSession(tx: Tx, { credentialId, userId, expiresAt }: Principal): Promise<void> {
  await revokeSession(tx, { jti: credentialId, userId, expiresAt: expiresAt ?? tx.at });
}
