import { provisionUser } from '../../activities/identity/provisionUser.ts';
import { listOwnedAccounts } from '../../store/pg/accounts.ts';
import { type Actor, commit } from '../../store/pg/commit.ts';
import { makeId, type Services } from '../../store/services.ts';

const actor: Actor = { name: 'test', userId: null, credential: 'none', requestId: 'req_test' };

/** The default account of a person of its own. */
export function openAccount(services: Services): Promise<string> {
  return commit(
    services,
    actor,
    async (tx) => {
      const email = `${makeId('usr')}@example.com`;
      const user = await provisionUser(tx, { email, name: null, passwordHash: null }, 'test');
      return listOwnedAccounts(tx.orm, user.id);
    },
    async ([account]) => account?.id as string,
  );
}
