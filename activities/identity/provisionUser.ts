import { userCreated } from '../../core/journal/identityNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertDefaultAccount, insertUser, type UserRecord } from '../../store/pg/users.ts';
import { makeId } from '../../store/services.ts';

/** Creates a user with a default account and its personal workspace. */
export async function provisionUser(
  tx: Tx,
  person: { email: string; emailVerified?: boolean; name: string | null; passwordHash: string | null },
  how: string,
): Promise<UserRecord> {
  const user = await insertUser(tx, { id: makeId('usr'), ...person, createdAt: tx.at });
  const home = { user, accountId: makeId('acc'), workspaceId: makeId('ws') };
  await tx.admitAccount(home.accountId);
  await tx.openHead(home.accountId, home.accountId);
  await insertDefaultAccount(tx, home);
  tx.note(home.accountId, userCreated(user.id, home, how));
  return user;
}
