import { accountCreated } from '../../core/journal/identityNotes.ts';
import { requireName } from '../../core/names.ts';
import { type AccountRecord, insertAccount } from '../../store/pg/accounts.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { makeId } from '../../store/services.ts';

/** Creates a developer account without a workspace. */
export async function createAccount(tx: Tx, ownerId: string, name: string): Promise<AccountRecord> {
  requireName(name, '/name');
  const id = makeId('acc');
  await tx.admitAccount(id);
  await tx.openHead(id, id);
  const account = await insertAccount(tx, { id, ownerId, name, kind: 'developer', createdAt: tx.at });
  tx.note(id, accountCreated(id));
  return account;
}
